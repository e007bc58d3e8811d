#include "controller/fleet_view.h"

#include <algorithm>
#include <mutex>

#include "base/at_once.h"
#include "controller/node_specs.h"
#include "controller/pods_since.h"
#include "controller/workload_objects.h"
#include "core/container_engine.h"
#include "kinds/image_reference.h"
#include "workloads/place.h"
#include "workplace/engines.h"

namespace fettle {
namespace {

constexpr size_t most_reads_at_once = 32;

/// All images that workloads name, as they write them.
std::set<Name> images_named(const workloads::Fleet& fleet) {
  std::set<Name> images;
  for (const auto& [owner, workload] : fleet.workloads()) {
    images.merge(images_in(workload->pod_template.at("spec")));
    if (is_job(workload->sort))
      for (const Name& image : workload->job_images())
        images.insert(image);
  }
  return images;
}

/// The engine of a node. Null: there is no such node any more.
ContainerEngine* engine_on(const Workplace& place, std::string_view node) {
  Driver* const driver = place.driver(engine_of_node(node));
  return driver == nullptr ? nullptr : driver->container_engine();
}

}  // namespace

std::set<Name> images_in(const Value& spec) {
  std::set<Name> images;
  for (const char* part : {"containers", "initContainers"})
    if (const Value& containers = spec.at(part); containers.is_list())
      for (const Value& container : containers.items())
        if (const std::string_view image = container.text_at("image"); !image.empty())
          images.insert(image);
  return images;
}

void tell_record(workloads::Fleet& fleet, const Key& key, const RecordPointer& record) {
  const bool is_gone = record != nullptr && record->by_hand == ByHand::removed;
  fleet.know(key, is_gone ? nullptr : record);
}

namespace {

/// Copies into a node what its owner says about it.
void describe(workloads::Node& node, const NodeSpec& spec) {
  std::vector<Entry> labels{{"kubernetes.io/hostname", spec.name}};
  for (const auto& [key, text] : spec.labels)
    labels.push_back({key, text});
  node.name = spec.name;
  node.labels = Value::dict(std::move(labels));
  node.pulls = spec.pulls;
  node.is_cordoned = spec.is_cordoned;
  node.is_draining = spec.is_draining;
}

/// The only node if no nodes were added.
workloads::Node this_machine() {
  workloads::Node node;
  node.labels = Value::dict({{"kubernetes.io/hostname", "localhost"}});
  return node;
}

bool is_as_described(const workloads::Node& node, const workloads::Node& before) {
  return node.labels == before.labels && node.pulls == before.pulls &&
         node.is_cordoned == before.is_cordoned && node.is_draining == before.is_draining;
}

}  // namespace

void tell_nodes(workloads::Fleet& fleet, const std::vector<NodeSpec>& nodes) {
  std::vector<workloads::Node> wanted;
  for (const NodeSpec& spec : nodes)
    if (!spec.is_lost)
      describe(wanted.emplace_back(), spec);
  if (wanted.empty())
    wanted.push_back(this_machine());
  std::set<Name> there;
  for (workloads::Node& node : wanted) {
    there.insert(node.name);
    const workloads::Node* const before = fleet.node(node.name);
    if (before != nullptr && is_as_described(node, *before))
      continue;
    node.is_ready = before == nullptr ? node.name.empty() : before->is_ready;
    if (before != nullptr) {
      node.images = before->images;
      node.cpu = before->cpu;
      node.memory = before->memory;
    }
    fleet.put_node(std::move(node));
  }
  std::vector<Name> gone;
  for (const auto& [name, node] : fleet.nodes())
    if (!there.contains(name))
      gone.push_back(name);
  for (const Name& name : gone)
    fleet.drop_node(name);
}

NodesQuestion question_about_nodes(const Workplace& place, const workloads::Fleet& fleet) {
  std::set<Name> drivers;
  std::vector<Name> names;
  for (const auto& [name, node] : fleet.nodes()) {
    if (!name.empty())
      drivers.insert(engine_of_node(name));
    names.push_back(name);
  }
  return [names = std::move(names), engines = engines_named(place, drivers)](
             const std::stop_token& stop) -> Result<std::map<Name, bool>> {
    const auto silent = TRY(silent_of(engines, stop));
    std::map<Name, bool> answers;
    for (const Name& name : names)
      answers[name] = name.empty() || !silent.contains(engine_of_node(name));
    return answers;
  };
}

Result<std::vector<workloads::Node>> nodes_of_fleet(const Workplace& place) {
  workloads::Fleet fleet{Name()};
  tell_nodes(fleet, TRY(nodes_of(*place.store)));
  const auto answers = TRY(question_about_nodes(place, fleet)(place.interrupt->acts_token()));
  std::vector<workloads::Node> nodes;
  for (const auto& [name, node] : fleet.nodes()) {
    nodes.push_back(node);
    nodes.back().is_ready = answers.at(name);
  }
  return nodes;
}

Workplace without_away(const Workplace& place, const workloads::Fleet& fleet) {
  std::set<Name> away;
  for (const auto& [name, node] : fleet.nodes())
    if (!node.is_ready)
      away.insert(engine_of_node(name));
  Workplace there = place;
  if (!away.empty())
    there.driver = [inner = place.driver, away = std::move(away)](const Name& name) {
      return away.contains(name) ? &away_driver() : inner(name);
    };
  return there;
}

Status look_at_room(const Workplace& place, workloads::Fleet& fleet) {
  const bool is_asked_for = std::ranges::any_of(fleet.workloads(), [](const auto& each) {
    const auto requests = workloads::requests_of(each.second->pod_template.at("spec"));
    return requests.cpu > 0 || requests.memory > 0;
  });
  std::vector<workloads::Node> nodes;
  for (const auto& [name, node] : fleet.nodes())
    if (is_asked_for && node.is_ready && node.cpu < 0)
      nodes.push_back(node);
  std::vector<Task> questions;
  for (workloads::Node& node : nodes) {
    ContainerEngine* const engine = engine_on(place, node.name);
    if (engine == nullptr)
      continue;
    questions.emplace_back([&node, engine](const std::stop_token& stop) -> Status {
      const auto room = engine->room(stop);
      if (!room)
        return is_cancelled(room.error()) ? Status(room.error()) : Status();
      if (room->millicores > 0)
        node.cpu = room->millicores;
      if (room->bytes > 0)
        node.memory = room->bytes * 1000;
      return {};
    });
  }
  TRY(do_at_once(questions, most_reads_at_once, place.interrupt->acts_token()));
  for (workloads::Node& node : nodes)
    if (node.cpu >= 0)
      fleet.put_node(std::move(node));
  return {};
}

Result<std::vector<NodeImageView>> images_on_nodes(const Workplace& place,
                                                   const workloads::Fleet& fleet) {
  std::vector<std::string> names;
  for (const auto& [name, node] : fleet.nodes())
    if (node.is_ready)
      names.push_back(name.str());
  std::mutex mutex;
  std::vector<NodeImageView> found;
  std::vector<Task> questions;
  for (const std::string& name : names) {
    ContainerEngine* const engine = engine_on(place, name);
    if (engine == nullptr)
      continue;
    questions.emplace_back([&, name, engine](const std::stop_token& stop) -> Status {
      const auto images = engine->images(stop);
      // Other functions report whether a node answers. If it does not, its images are not known.
      if (!images)
        return is_cancelled(images.error()) ? Status(images.error()) : Status();
      const std::lock_guard lock(mutex);
      for (const ListedImage& image : *images)
        for (const std::string& reference : image.references)
          found.push_back({name, reference, image.id, image.bytes});
      return {};
    });
  }
  TRY(do_at_once(questions, most_reads_at_once, place.interrupt->acts_token()));
  std::ranges::sort(found, [](const NodeImageView& a, const NodeImageView& b) {
    return std::tie(a.node, a.reference) < std::tie(b.node, b.reference);
  });
  return found;
}

Status look_at_images(const Workplace& place, workloads::Fleet& fleet) {
  const std::set<Name> named = images_named(fleet);
  if (named.empty())
    return {};
  std::set<std::pair<std::string, std::string>> there;
  for (const NodeImageView& image : TRY(images_on_nodes(place, fleet)))
    there.emplace(image.node, image.reference);
  for (const auto& [node, known] : fleet.nodes()) {
    if (!known.is_ready)
      continue;
    for (const Name& reference : named) {
      const bool is_there = there.contains({node.str(), full_reference(reference)});
      if (is_there != workloads::Fleet::has_image(known, reference))
        fleet.see_image(node, reference, {}, is_there);
    }
  }
  return {};
}

Result<std::unique_ptr<FleetView>> learn_fleet(const Workplace& place, const Name& environment) {
  auto view = std::make_unique<FleetView>(environment);
  view->fleet.driver = own_engine;
  view->fleet.gates = TRY(stored_gates(place, environment));
  for (workloads::Node& node : TRY(nodes_of_fleet(place)))
    view->fleet.put_node(std::move(node));
  for (workloads::Object& object : TRY(stored_objects(place, environment))) {
    view->owners.insert(object.owner());
    view->fleet.put(std::move(object));
  }
  view->known = TRY(place.store->known(environment));
  for (const auto& [key, record] : view->known) {
    tell_record(view->fleet, key, record);
    for (const auto& [set, wish] : record->wanted_by)
      view->owners.insert(set);
  }
  TRY(look_at_images(without_away(place, view->fleet), view->fleet));
  return view;
}

PodsQuestion question_about_pods(const Workplace& given, const FleetView& view) {
  const Workplace place = without_away(given, view.fleet);
  Known pods;
  for (const auto& [key, record] : view.known)
    if (key.kind == "pod")
      pods.emplace(key, record);
  return [run_context = place.run_context(), engines = engines_named(place, drivers_of(pods)),
          pods = std::move(pods)](const std::stop_token& stop) -> Result<PodsSeen> {
    PodsSeen answer{pods, {}, TRY(silent_of(engines, stop))};
    RunContext here = run_context;
    here.stop = stop;
    here.driver = [&](const Name& name) -> Driver* {
      const auto found = engines.find(name);
      return answer.silent.contains(name) || found == engines.end() ? nullptr : found->second;
    };
    answer.seen = TRY(look_at_known(here, pods));
    return answer;
  };
}

Status tell_seen(const Workplace& place, FleetView& view, PodsSeen answer) {
  TRY(remember_since(place, view, answer));
  view.silent = std::move(answer.silent);
  for (auto& [key, observation] : answer.seen) {
    const auto now = view.known.find(key);
    const bool is_another = now == view.known.end() || now->second != answer.asked.at(key);
    // A pod that nobody could look at stays as it was last seen.
    if (is_another || !observation.unavailable.empty())
      continue;
    view.fleet.see(key, observation.state);
    view.seen[key] = std::move(observation);
  }
  return {};
}

Status look_at_pods(const Workplace& place, FleetView& view) {
  return tell_seen(place, view,
                   TRY(question_about_pods(place, view)(place.interrupt->acts_token())));
}

Result<std::unique_ptr<FleetView>> look_at_fleet(const Workplace& place, const Name& environment) {
  std::unique_ptr<FleetView> view = TRY(learn_fleet(place, environment));
  TRY(look_at_pods(place, *view));
  return view;
}

}  // namespace fettle
