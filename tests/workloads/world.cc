#include "tests/workloads/world.h"

#include <gtest/gtest.h>

#include <memory>

#include "base/hash.h"
#include "base/rfc3339.h"
#include "core/open_payload.h"
#include "kinds/kinds.h"
#include "kinds/pod.h"
#include "workloads/rollout.h"

namespace fettle::workloads {
namespace {

const Kind* kind_of(const Name& name) {
  for (const Kind* kind : {&pod_kind(), &claim_kind(), &revision_kind(), &pull_job_kind(),
                           &notice_kind(), &image_kind()})
    if (kind->name() == name)
      return kind;
  return nullptr;
}

bool is_held(const Attributes& attributes) {
  if (const Value& conditions = dict_of(attributes).at("conditions"); conditions.is_dict())
    for (const Entry& entry : conditions.entries())
      if (entry.value == Value("False"))
        return true;
  return false;
}

}  // namespace

Value json(std::string_view text) {
  const Result<Value> value = read_json(text);
  EXPECT_TRUE(value) << text << (value ? "" : to_string(value.error()));
  return value.value_or(Value());
}

Object manifest(std::string_view kind, std::string_view name, std::string_view spec,
                std::string_view annotations, int64_t generation) {
  Object object;
  object.kind = kind;
  object.space = "default";
  object.name = name;
  object.generation = generation;
  object.document = json(cat(R"({"metadata":{"name":")", name, R"(","annotations":)", annotations,
                             R"(},"spec":)", spec, "}"));
  return object;
}

std::string template_text(std::string_view images, std::string_view metadata) {
  std::string containers;
  int number = 0;
  for (const std::string_view image : split(images, ' ')) {
    containers +=
        cat(number == 0 ? "" : ",", R"({"name":"c)", number, R"(","image":")", image, R"("})");
    ++number;
  }
  return cat(R"({"metadata":{"labels":{"app":"web"})", metadata, R"(},"spec":{"containers":[)",
             containers, "]}}");
}

std::string clone_set_spec(int replicas, std::string_view images, std::string_view rolling,
                           std::string_view more) {
  return cat(R"({"replicas":)", replicas,
             R"(,"selector":{"matchLabels":{"app":"web"}},"template":)", template_text(images),
             R"(,"updateStrategy":{"type":"RollingUpdate","rollingUpdate":)", rolling, "}", more,
             "}");
}

World::World() { now = Time(std::chrono::sys_days(std::chrono::year(2026) / 1 / 1)); }

void World::add_nodes(int count, std::string_view labels) {
  for (int i = 0; i < count; ++i) {
    Node node;
    node.name = cat("n", fleet.nodes().size() + 1);
    node.labels = json(labels);
    fleet.put_node(std::move(node));
  }
}

void World::record(const Resource& resource, Value outputs, const Name& owner) {
  auto made_record = std::make_shared<Record>();
  made_record->applied = resource;
  made_record->outputs = std::move(outputs);
  made_record->finished = now;
  made_record->wanted_by[owner] = {};
  recorded_[resource.key] = resource;
  records_[resource.key] = made_record;
  owners_[resource.key] = owner;
  fleet.know(resource.key, made_record);
}

bool World::is_away(const Key& key) const {
  const Name name = key.name.view().substr(0, key.name.view().find('|'));
  const Node* node = key.kind == "pod" || key.kind == "image" ? fleet.node(name) : nullptr;
  return node != nullptr && !node->is_ready;
}

bool World::has_failed(const Key& key) const {
  const auto record = records_.find(key);
  return record != records_.end() && record->second->attempt && record->second->attempt->failed;
}

void World::lose_node(const Name& name, bool is_away) {
  Node node = fleet.nodes().at(name);
  node.is_ready = !is_away;
  fleet.put_node(node);
  if (!is_away)
    see_all();
}

std::vector<std::string> World::forget_images(const Name& name) {
  std::set<std::string> used;
  for (const auto& [key, pod] : real)
    if (node_address(key).node == name)
      for (const auto& [container, each] : pod.containers)
        used.insert(each.image);
  std::vector<std::string> gone;
  for (const auto& [image, digest] : std::map(fleet.nodes().at(name).images))
    if (!used.contains(image.str())) {
      fleet.see_image(name, image, {}, false);
      gone.push_back(cat(name, "|", image));
    }
  return gone;
}

/// Whether the controller dies now: its act is recorded as started, and may have happened.
bool World::dies_in(const Resource& resource, const Name& owner) {
  if (crash_after == 0 || --crash_after > 0)
    return false;
  const auto before = records_.find(resource.key);
  auto begun = std::make_shared<Record>();
  if (before != records_.end())
    *begun = *before->second;
  begun->attempt = Attempt{
      resource, begun->applied ? Verb::update : Verb::create, now, false, "", 0, std::nullopt};
  begun->wanted_by[owner] = {};
  records_[resource.key] = begun;
  owners_[resource.key] = owner;
  if (act_has_happened && resource.key.kind == "pod")
    change_pod(resource);
  crash();
  recorded_.erase(resource.key);
  return true;
}

void World::crash() {
  ++crashes;
  std::vector<Node> nodes;
  for (const auto& [name, known] : fleet.nodes()) {
    nodes.push_back(known);
    // A look shows that an image exists, but not which pull brought it.
    for (auto& [image, digest] : nodes.back().images)
      digest = Name();
  }
  const Gates gates = fleet.gates;
  std::destroy_at(&fleet);
  std::construct_at(&fleet, "fleet");
  fleet.gates = gates;
  for (Node& node : nodes)
    fleet.put_node(std::move(node));
  for (const auto& [owner, object] : objects_)
    fleet.put(object);
  // Pulls end with the process that waits for them.
  for (const auto& [key, pull] : std::exchange(pulling, {}))
    recorded_.erase({fleet.environment(), "image", key});
  acting.clear();
  for (const auto& [key, record] : records_)
    fleet.know(key, record);
  see_all();
}

void World::act_pod(const Resource& resource) {
  change_pod(resource);
  record_pod(resource);
  grow_ready();
  see(resource.key.name);
}

void World::record_pod(const Resource& resource) {
  std::vector<Entry> ids;
  for (const auto& [name, container] : real.at(resource.key.name).containers)
    ids.push_back({name, container.id});
  record(resource, Value::dict({{"containers", Value::dict(std::move(ids))}}),
         dict_of(resource.attributes).text_at("owner"));
}

bool World::changes_containers(const Real& pod, const Resource& resource) const {
  const Value spec = pod_spec(resource.attributes);
  return std::ranges::any_of(spec.at("containers").items(), [&](const Value& each) {
    const auto found = pod.containers.find(std::string(each.text_at("name")));
    return found == pod.containers.end() || found->second.image != each.text_at("image");
  });
}

/// An act stops a pod, or part of it.
void World::stop(const Resource& resource, bool removes) {
  const Real& pod = real.at(resource.key.name);
  const auto decided = decided_.find(resource.key.name);
  if (decided != decided_.end() && decided->second != disturbances)
    return;
  const bool is_known_broken =
      given_up_.contains(resource.key.name) || (pod.is_looked_at && !pod.was_ready);
  if (!pod.is_ready || is_known_broken || !before_stop)
    return;
  const Value &was = dict_of(pod.attributes), &is = dict_of(resource.attributes);
  before_stop(resource.key.name, !removes && was.at("template") == is.at("template") &&
                                     was.at("sidecars") != is.at("sidecars"));
}

void World::break_pod(const Name& key) {
  ++disturbances;
  Real& pod = real.at(key);
  pod.is_ready = pod.is_up = false;
  pod.up_at = now + ready_after + 1s;
}

/// Records the act, and stops what it has to stop.
void World::begin_act(const Resource& resource, const Name& owner, bool removes) {
  const Name& key = resource.key.name;
  const auto before = records_.find(resource.key);
  auto begun = std::make_shared<Record>();
  if (before != records_.end())
    *begun = *before->second;
  const Verb verb = removes ? Verb::remove : begun->applied ? Verb::update : Verb::create;
  begun->attempt = Attempt{resource, verb, now, false, "", 0, std::nullopt};
  begun->wanted_by[owner] = {};
  records_[resource.key] = begun;
  owners_[resource.key] = owner;
  recorded_.try_emplace(resource.key, resource);
  if (const auto found = real.find(key); found != real.end()) {
    Real& pod = found->second;
    const bool stops = removes || changes_containers(pod, resource);
    if (stops || (!is_held(pod.attributes) && is_held(resource.attributes)))
      stop(resource, removes);
    pod.is_looked_at = false;
    // A closing gate is reported before anything is stopped.
    if (!removes && is_held(resource.attributes)) {
      pod.attributes = resource.attributes;
      pod.is_ready = false;
    }
    pod.is_ending |= removes;
    if (stops) {
      pod.is_ready = pod.is_up = false;
      pod.up_at = Time::max();
    }
  }
  const int64_t most = act_takes / 1s;
  const auto some = static_cast<int64_t>(hash64(cat(key, now.time_since_epoch().count()))) & 0xFFFF;
  acting[key] = {resource, removes,
                 now + (removes ? end_takes : Duration(1s * (some % (most + 1))))};
  fleet.know(resource.key, begun);
}

void World::end_acts() {
  for (auto it = acting.begin(); it != acting.end();) {
    const ActInFlight act = it->second;
    if (act.ends > now || is_away(act.resource.key)) {
      ++it;
      continue;
    }
    it = acting.erase(it);
    if (!act.removes) {
      change_pod(act.resource);
      Real& pod = real.at(act.resource.key.name);
      pod.is_looked_at = false;
      if (pod.up_at == Time::max())
        pod.up_at = now + ready_after;
      record_pod(act.resource);
      continue;
    }
    removed.push_back(std::string(node_address(act.resource.key.name).name));
    real.erase(act.resource.key.name);
    decided_.erase(act.resource.key.name);
    recorded_.erase(act.resource.key);
    records_.erase(act.resource.key);
    fleet.know(act.resource.key, nullptr);
  }
}

/// Starts acts on everything that is not as wanted and not being acted on.
void World::act_slowly(const Name& owner, const Wanted& wanted) {
  std::set<Name> keys;
  for (const Box<Resource>& resource : wanted.resources) {
    if (resource->key.kind != "pod")
      continue;
    keys.insert(resource->key.name);
    const auto known = records_.find(resource->key);
    const bool is_done = known != records_.end() && known->second->applied &&
                         !known->second->attempt &&
                         known->second->applied->attributes == resource->attributes;
    if (is_done) {
      decided_.erase(resource->key.name);
      continue;
    }
    decided_.try_emplace(resource->key.name, disturbances);
    if (acting.contains(resource->key.name) || is_away(resource->key))
      continue;
    if (known != records_.end() && known->second->applied) {
      EXPECT_TRUE(
          pod_kind().in_place_changes(known->second->applied->attributes, resource->attributes))
          << "an update that would make " << to_string(resource->key) << " anew\n"
          << write_json(dict_of(known->second->applied->attributes)) << "\n"
          << write_json(dict_of(resource->attributes));
    }
    begin_act(*resource, owner, false);
  }
  std::vector<Resource> leaving;
  for (const auto& [key, resource] : recorded_)
    if (key.kind == "pod" && owners_[key] == owner && !keys.contains(key.name)) {
      decided_.try_emplace(key.name, disturbances);
      if (is_away(key) || (acting.contains(key.name) && !records_[key]->applied))
        given_up_.insert(key.name);
      else if (!acting.contains(key.name))
        leaving.push_back(resource);
    }
  for (const Resource& resource : leaving)
    begin_act(resource, owner, true);
}

void World::change_pod(const Resource& resource) {
  const Value& attributes = dict_of(resource.attributes);
  const bool is_new = !real.contains(resource.key.name);
  Real& pod = real[resource.key.name];
  pod.attributes = attributes;
  if (is_new) {
    pod.created = now;
    made.push_back(std::string(attributes.text_at("name")));
  }
  bool has_changed = is_new;
  const Value spec = pod_spec(attributes);
  for (const Value& each : spec.at("containers").items()) {
    Container& container = pod.containers[std::string(each.text_at("name"))];
    const std::string image(each.text_at("image"));
    if (container.image != image) {
      if (!container.image.empty())
        ++container.restarts;
      const NodeAddress address = node_address(resource.key.name);
      container.image = image;
      const bool is_there = !images_nowhere.contains(image);
      container.image_id = !is_there ? "" : same_ids ? "sha256:same" : cat("sha256:", image);
      container.id = cat("c", ++made_containers_);
      has_changed = true;
      if (!is_new)
        updated.push_back(std::string(attributes.text_at("name")));
      // A pod pulls a missing image.
      if (is_there && fleet.node(address.node) != nullptr)
        bring_image(address.node, image);
    }
  }
  if (has_changed) {
    pod.is_ready = pod.is_up = false;
    pod.up_at = now + ready_after;
  }
}

/// A pod pulls by the tag; the digest is not reported.
void World::bring_image(const Name& node, const Name& image) {
  if (!Fleet::has_image(*fleet.node(node), image))
    digests_[cat(node, "|", image)] = digest_of(Value::dict({{"node", node}}));
  fleet.see_image(node, image, "", true);
}

void World::act_pull(const Resource& resource, const Name& owner) {
  if (pulling.contains(resource.key.name))
    return;
  // As a driver does: an interrupted pull is not started again where a pod has brought the image
  // meanwhile, and an existing digest is not pulled.
  const auto before = records_.find(resource.key);
  const bool was_begun =
      before != records_.end() && before->second->attempt && !before->second->attempt->failed;
  const Node* node = fleet.node(dict_of(resource.attributes).text_at("node"));
  const Name image = dict_of(resource.attributes).text_at("reference");
  const bool is_there = node != nullptr && Fleet::has_image(*node, image);
  if (is_there && (was_begun || digests_[resource.key.name] ==
                                    dict_of(resource.attributes).text_at("digest", "none"))) {
    record(resource,
           Value::dict({{"id", cat("sha256:", image)}, {"digest", digest_of(resource.attributes)}}),
           owner);
    return;
  }
  pulling[resource.key.name] = {resource.attributes, now + pull_takes, 1};
  pulled.push_back(resource.key.name.str());
  most_pulls = std::max(most_pulls, static_cast<int>(pulling.size()));
  auto begun = std::make_shared<Record>();
  begun->attempt = Attempt{resource, Verb::create, now, false, "", 0, std::nullopt};
  begun->wanted_by[owner] = {};
  recorded_[resource.key] = resource;
  records_[resource.key] = begun;
  owners_[resource.key] = owner;
  fleet.know(resource.key, begun);
}

std::string World::digest_of(const Attributes& pull) const {
  if (const Value& asked = dict_of(pull).at("digest"); asked.is_text())
    return asked.text().str();
  const auto other = other_digests.find(std::string(dict_of(pull).text_at("node")));
  return other == other_digests.end() ? "sha256:d" : other->second;
}

void World::end_pulls() {
  for (auto it = pulling.begin(); it != pulling.end();) {
    const Name key = it->first;
    PullInFlight& pull = it->second;
    if (pull.ends > now || is_away({fleet.environment(), "image", key})) {
      ++it;
      continue;
    }
    const Name image = dict_of(pull.attributes).text_at("reference");
    const Resource resource = recorded_[{fleet.environment(), "image", key}];
    if (!images_nowhere.contains(image.str()) && !refused_pulls.contains(image.str())) {
      record(resource,
             Value::dict({{"id", cat("sha256:", image)}, {"digest", digest_of(pull.attributes)}}),
             owners_[resource.key]);
      digests_[key] = digest_of(pull.attributes);
      it = pulling.erase(it);
    } else if (pull.attempts++ < dict_of(pull.attributes).integer_at("attempts", 1)) {
      pull.ends = now + pull_takes;
      ++it;
    } else {
      auto failed = std::make_shared<Record>();
      failed->attempt = Attempt{resource, Verb::create, now, true, "manifest unknown", 0, {}};
      failed->wanted_by[owners_[resource.key]] = {};
      records_[resource.key] = failed;
      fleet.know(resource.key, failed);
      it = pulling.erase(it);
    }
  }
}

/// False: the controller died.
bool World::act(const Name& owner, const Wanted& wanted) {
  std::set<Key> keys;
  EXPECT_EQ(wanted.owner, owner);
  for (const Box<Resource>& boxed : wanted.resources) {
    const Resource& resource = *boxed;
    EXPECT_TRUE(keys.insert(resource.key).second) << "twice: " << to_string(resource.key);
    const auto known = recorded_.find(resource.key);
    if (known != recorded_.end() && known->second.attributes == resource.attributes &&
        !(is_retrying_ && has_failed(resource.key)))
      continue;
    const Kind* kind = kind_of(resource.key.kind);
    const Result<Attributes> normal = kind == nullptr
                                          ? Result<Attributes>(world_error("no such kind"))
                                          : kind->normalise(dict_of(resource.attributes));
    if (!normal) {
      ADD_FAILURE() << to_string(resource.key) << ": " << normal.error().message;
      continue;
    }
    EXPECT_EQ(*normal, resource.attributes) << to_string(resource.key) << "\n"
                                            << write_json(dict_of(*normal)) << "\n"
                                            << write_json(dict_of(resource.attributes));
    if (is_away(resource.key))
      continue;
    if (dies_in(resource, owner))
      return false;
    if (resource.key.kind == "pod" && is_slow)
      continue;
    if (resource.key.kind == "pod") {
      if (known != recorded_.end()) {
        EXPECT_TRUE(pod_kind().in_place_changes(known->second.attributes, resource.attributes))
            << "an update that would make " << to_string(resource.key) << " anew";
      }
      act_pod(resource);
    } else if (resource.key.kind == "image") {
      act_pull(resource, owner);
    } else {
      if (resource.key.kind == "notice")
        said.push_back(resource.key.name.str());
      record(resource, Value::dict({}), owner);
    }
  }
  for (auto it = recorded_.begin(); it != recorded_.end();) {
    const Key key = it->first;
    if (owners_[key] != owner || keys.contains(key) || is_away(key) ||
        (is_slow && key.kind == "pod")) {
      ++it;
      continue;
    }
    if (key.kind == "pod") {
      removed.push_back(std::string(node_address(key.name).name));
      real.erase(key.name);
    }
    pulling.erase(key.name);
    it = recorded_.erase(it);
    records_.erase(key);
    fleet.know(key, nullptr);
  }
  if (after_each)
    after_each();
  return true;
}

void World::mark(std::string_view pod, std::string_view metadata) {
  put_mark(pod, {{"metadata", json(metadata)}});
}

void World::delete_pod(std::string_view pod) {
  put_mark(pod, {{"metadata", Value::dict({})}, {"deleted", true}});
}

void World::put_mark(std::string_view pod, std::vector<Entry> entries) {
  now += 1ns;
  Object object;
  object.kind = "Pod";
  object.space = "default";
  object.name = pod;
  entries.push_back({"since", now.time_since_epoch().count()});
  object.document = Value::dict(std::move(entries));
  put(std::move(object));
}

void World::settle() {
  for (int round = 0; round < 200; ++round) {
    if (is_slow)
      for (const auto& [owner, wanted] : last)
        act_slowly(owner, wanted);
    const std::vector<Name> changed = fleet.take_changed();
    if (changed.empty())
      return;
    for (const Name& owner : changed) {
      Wanted wanted = want(fleet, owner, now);
      fleet.accept(wanted);
      if (!act(owner, wanted))
        break;  // the next one asks all of them
      last[owner] = std::move(wanted);
    }
  }
  ADD_FAILURE() << "the fleet does not settle";
}

bool World::is_up(const Real& pod, const Container& container) const {
  return !container.image_id.empty() && !never_ready.contains(container.image) && pod.up_at <= now;
}

void World::grow_ready() {
  for (auto& [key, pod] : real) {
    bool are_up = true;
    for (const auto& [name, container] : pod.containers)
      are_up &= is_up(pod, container);
    const bool is_ready = are_up && !pod.is_ending && !is_held(pod.attributes);
    if (is_ready == pod.is_ready && are_up == pod.is_up)
      continue;
    if (is_ready && !pod.is_ready)
      pod.ready_since = now;
    pod.is_ready = is_ready;
    pod.is_up = are_up;
    if (!is_slow)
      see(key);
  }
}

void World::see(const Name& key) {
  const auto found = real.find(key);
  if (found == real.end() || is_away({fleet.environment(), "pod", key}))
    return;
  Real& pod = found->second;
  pod.is_looked_at = !acting.contains(key);
  pod.was_ready = pod.is_ready;
  std::vector<Value> statuses;
  for (const auto& [name, container] : pod.containers)
    statuses.push_back(Value::dict({{"name", name},
                                    {"image", container.image},
                                    {"imageID", container.image_id},
                                    {"containerID", container.id},
                                    {"restartCount", container.restarts},
                                    {"ready", is_up(pod, container)},
                                    {"state", Value::dict({{"running", Value::dict({})}})}}));
  fleet.see(
      {fleet.environment(), "pod", key},
      Value::dict({{"phase", "Running"},
                   {"startTime", write_moment(pod.created)},
                   {"conditions", Value::list({Value::dict(
                                      {{"type", "Ready"},
                                       {"status", pod.is_ready ? "True" : "False"},
                                       {"lastTransitionTime", write_moment(pod.ready_since)}})})},
                   {"containerStatuses", Value::list(std::move(statuses))}}));
}

void World::see_all() {
  for (const auto& [key, pod] : real)
    see(key);
}

void World::pass(int seconds) {
  settle();
  for (int i = 0; i < seconds; ++i) {
    now += 1s;
    end_pulls();
    end_acts();
    grow_ready();
    if (after_each)
      after_each();
    for (const auto& [owner, wanted] : last)
      if (wanted.ask && *wanted.ask <= now && fleet.object(owner) != nullptr)
        fleet.put(*fleet.object(owner));
    settle();
    if (retries)
      retry();
  }
}

void World::retry() {
  is_retrying_ = true;
  for (const auto& [owner, wanted] : std::map(last))
    act(owner, wanted);
  is_retrying_ = false;
}

int World::finish(int most_seconds) {
  settle();
  for (int i = 0; i < most_seconds; ++i) {
    if (is_slow) {
      look();
      settle();
    }
    bool waits = !pulling.empty() || !acting.empty();
    for (const auto& [key, pod] : real)
      waits |= !pod.is_ready || is_held(pod.attributes);
    for (const auto& [owner, wanted] : last)
      waits |= wanted.ask.has_value();
    if (!waits)
      return i;
    pass(1);
  }
  return most_seconds;
}

std::vector<std::string> World::pods(const std::function<bool(const FleetPod&)>& matches) const {
  std::vector<std::string> names;
  fleet.for_each_pod([&](const FleetPod& pod) {
    if (!pod.is_leaving && (!matches || matches(pod)))
      names.push_back(pod.name.str());
  });
  return names;
}

const FleetPod& World::pod(std::string_view name) const {
  const FleetPod* found = nullptr;
  fleet.for_each_pod([&](const FleetPod& pod) {
    if (pod.name == name)
      found = &pod;
  });
  EXPECT_NE(found, nullptr) << name;
  static const FleetPod none;
  return found == nullptr ? none : *found;
}

int World::count_image(std::string_view image) const {
  int count = 0;
  for (const auto& [key, pod] : real)
    count += std::ranges::any_of(
        pod.containers, [&](const auto& container) { return container.second.image == image; });
  return count;
}

int World::ready() const {
  int count = 0;
  for (const auto& [key, pod] : real)
    count += pod.is_ready;
  return count;
}

std::vector<std::string> World::of_kind(std::string_view kind) const {
  std::vector<std::string> names;
  for (const auto& [key, resource] : recorded_)
    if (key.kind == kind)
      names.push_back(key.name.str());
  return names;
}

const Attributes* World::wanted(std::string_view kind, std::string_view name) const {
  const auto found = recorded_.find({fleet.environment(), kind, name});
  return found == recorded_.end() ? nullptr : &found->second.attributes;
}

bool World::has_notice(std::string_view reason) const {
  for (const std::string& name : said)
    if (name.find(cat("|", reason, "|")) != name.npos)
      return true;
  return false;
}

}  // namespace fettle::workloads
