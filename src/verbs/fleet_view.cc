#include "verbs/fleet_view.h"

#include <algorithm>
#include <mutex>

#include "base/at_once.h"
#include "drivers/engine/driver.h"
#include "drivers/engine/images.h"
#include "verbs/engines.h"
#include "verbs/nodes.h"
#include "verbs/workload_objects.h"

namespace fettle {
namespace {

constexpr size_t most_at_once = 32;

void add_images(const Value& spec, std::set<Name>& images) {
  for (const char* part : {"containers", "initContainers"})
    if (const Value& containers = spec.at(part); containers.is_list())
      for (const Value& container : containers.items())
        if (const std::string_view image = container.text_at("image"); !image.empty())
          images.insert(image);
}

/// All images that workloads name, as they write them.
std::set<Name> images_named(const workloads::Fleet& fleet) {
  std::set<Name> images;
  for (const auto& [owner, workload] : fleet.workloads()) {
    add_images(workload->pod_template.at("spec"), images);
    if (!workload->pulls.image.empty())
      images.insert(workload->pulls.image);
  }
  return images;
}

}  // namespace

void tell_record(workloads::Fleet& fleet, const Key& key, const RecordPointer& record) {
  const bool is_gone = record != nullptr && record->by_hand == ByHand::removed;
  fleet.know(key, is_gone ? nullptr : record);
}

Result<std::vector<workloads::Node>> nodes_of_fleet(const Workplace& place) {
  std::vector<workloads::Node> nodes;
  for (const NodeView& view : TRY(look_at_nodes(place))) {
    workloads::Node node;
    node.name = view.node.name;
    std::vector<Entry> labels{{"kubernetes.io/hostname", view.node.name}};
    for (const auto& [key, text] : view.node.labels)
      labels.push_back({key, text});
    node.labels = Value::dict(std::move(labels));
    node.pulls = view.node.pulls;
    node.is_ready = view.answers;
    node.is_cordoned = view.node.is_cordoned;
    nodes.push_back(std::move(node));
  }
  if (nodes.empty()) {
    nodes.emplace_back();
    nodes.back().labels = Value::dict({{"kubernetes.io/hostname", "localhost"}});
  }
  return nodes;
}

Result<std::vector<NodeImageView>> images_on_nodes(const Workplace& place) {
  std::vector<std::string> names{""};
  if (place.nodes)
    if (std::vector<std::string> known = TRY(place.nodes()); !known.empty())
      names = std::move(known);
  std::mutex mutex;
  std::vector<NodeImageView> found;
  std::vector<Task> questions;
  for (const std::string& name : names) {
    auto* const driver = dynamic_cast<EngineDriver*>(place.driver(engine_of_node(name)));
    if (driver == nullptr)
      continue;
    questions.emplace_back([&, name, driver](const std::stop_token& stop) -> Status {
      constexpr bool may_start = false;  // an engine that does not run has nothing to tell
      const auto engine = driver->engine(stop, may_start);
      const auto images =
          engine ? list_images(**engine, stop) : Result<std::vector<ListedImage>>(engine.error());
      // Whether a node answers is told elsewhere; what is there is not known then.
      if (!images)
        return is_cancelled(images.error()) ? Status(images.error()) : Status();
      const std::lock_guard lock(mutex);
      for (const ListedImage& image : *images)
        for (const std::string& reference : image.references)
          found.push_back({name, reference, image.id, image.bytes});
      return {};
    });
  }
  TRY(do_at_once(questions, most_at_once, place.interrupt->acts_token()));
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
  for (const NodeImageView& image : TRY(images_on_nodes(place)))
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
  TRY(look_at_images(place, view->fleet));
  return view;
}

Status look_at_pods(const Workplace& place, FleetView& view) {
  Known pods;
  for (const auto& [key, record] : view.known)
    if (key.kind == "pod")
      pods.emplace(key, record);
  view.silent = TRY(silent_engines(place, drivers_of(pods)));
  Scene scene = place.scene();
  scene.driver = [&](const Name& name) -> Driver* {
    return view.silent.contains(name) ? nullptr : place.driver(name);
  };
  for (auto& [key, observation] : TRY(look_at_known(scene, pods))) {
    // What nobody could look at is as it was seen last.
    if (!observation.unavailable.empty())
      continue;
    view.fleet.see(key, observation.state);
    view.seen[key] = std::move(observation);
  }
  return {};
}

Result<std::unique_ptr<FleetView>> look_at_fleet(const Workplace& place, const Name& environment) {
  std::unique_ptr<FleetView> view = TRY(learn_fleet(place, environment));
  TRY(look_at_pods(place, *view));
  return view;
}

}  // namespace fettle
