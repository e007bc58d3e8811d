#include "workloads/fleet.h"

#include <algorithm>

#include "base/text.h"
#include "kinds/image.h"
#include "kinds/pod.h"
#include "kinds/pull_job.h"
#include "kinds/revision.h"
#include "workloads/names.h"
#include "workloads/place.h"
#include "workloads/seen.h"
#include "workloads/wanted.h"

namespace fettle::workloads {
namespace {

/// Revisions, jobs of pulls and claims say whose they are in the same way.
Name owner_of_memory(const Attributes& attributes) { return read_one<&PullJob::owner>(attributes); }

const OwnerHoldings nothing;

/// The attributes with which the last act ended well. Zero while another act goes on or has failed.
Digest applied_by(const Record& record) {
  return record.applied && !record.attempt ? record.applied->attributes.digest() : Digest();
}

/// The attributes that are wanted according to the record: those of the attempt, if one was begun.
const Box<Resource>& last_wish(const Record& record) {
  return record.attempt ? record.attempt->resource : record.applied;
}

const Box<Resource>& last_wish(const RecordPointer& record) {
  static const Box<Resource> none;
  return record == nullptr ? none : last_wish(*record);
}

/// Whether what is wanted of a pod is more than what the last act that began was to make of it, and
/// may make it ready or not ready.
bool is_act_due(const FleetPod& pod) {
  return pod.acted && &*pod.acted != &*pod.resource &&
         may_change_readiness(pod.acted->attributes, pod.resource->attributes);
}

bool by_key(const FleetPod* a, const FleetPod* b) {
  return a->resource->key.name < b->resource->key.name;
}

bool has_attributes(const Box<Resource>& known, const Box<Resource>& wanted) {
  return known && known->attributes == wanted->attributes;
}

Value overlaid(const Value& below, const Value& above) {
  if (!above.is_dict())
    return below;
  std::vector<Entry> entries(below.entries().begin(), below.entries().end());
  entries.insert(entries.end(), above.entries().begin(), above.entries().end());
  const Value all = Value::dict(std::move(entries));
  std::vector<Entry> kept;
  for (const Entry& entry : all.entries())
    if (!entry.value.is_null())
      kept.push_back(entry);
  return Value::dict(std::move(kept));
}

}  // namespace

Time Endings::end_one(const Name& which, Time now) {
  constexpr Duration shortest = 1s, longest = 15min, quiet = 10min;
  std::erase_if(rows, [&](const auto& row) { return row.second.until + quiet < now; });
  const auto [found, is_first] = rows.try_emplace(which, Row{now, Duration(0)});
  Row& row = found->second;
  if (is_first || row.until > now)
    return row.until;
  row.pause = std::clamp<Duration>(2 * row.pause, shortest, longest);
  return row.until = now + row.pause;
}

void Fleet::touch(const Name& owner) {
  if (!owner.empty())
    changed_.insert(owner);
}

/// Users' jobs wait for an image that somebody else may bring.
void Fleet::touch_jobs(const Name& image) {
  if (const auto jobs = jobs_by_image_.find(image); jobs != jobs_by_image_.end())
    changed_.insert(jobs->second.begin(), jobs->second.end());
}

/// Of a job as it was until now.
void Fleet::forget_images(const Name& owner) {
  const Workload* const before = workload(owner);
  if (before == nullptr || !is_job(before->sort))
    return;
  for (const Name& image : before->job_images())
    if (const auto jobs = jobs_by_image_.find(image);
        jobs != jobs_by_image_.end() && jobs->second.erase(owner) > 0 && jobs->second.empty())
      jobs_by_image_.erase(jobs);
}

/// Its owner, and whoever has put something into it.
void Fleet::touch_pod(const FleetPod& pod) {
  touch(pod.owner);
  touch_sets_of(pod);
}

/// A SidecarSet counts the pods that have something of it, and no others.
void Fleet::touch_sets_of(const FleetPod& pod) {
  for (const Name& set : sidecars_.owners_of(pod))
    touch(set);
}

void Fleet::take_sidecar_sets(FleetPod& pod, std::vector<Name> names) {
  if (pod.sidecar_sets == names)
    return;
  touch_sets_of(pod);
  sidecars_.take(pod, std::move(names));
  touch_sets_of(pod);
}

std::vector<Name> Fleet::take_changed() {
  std::vector<Name> changed(changed_.begin(), changed_.end());
  changed_.clear();
  return changed;
}

void Fleet::put(Object object) {
  const Name owner = object.owner();
  if (const auto sort = workload_sort(object.kind)) {
    forget_images(owner);
    workloads_[owner] = std::make_shared<const Workload>(workload_of(object));
    if (*sort == WorkloadSort::sidecar_set)
      sidecars_.put(owner, workloads_[owner]->name);
    if (is_job(*sort))
      for (const Name& image : workloads_[owner]->job_images())
        jobs_by_image_[image].insert(owner);
    touch(owner);
  } else if (object.kind == "Pod") {
    objects_[owner] = object;
    for (auto& [key, pod] : pods_)
      if (pod->name == object.name && pod->space == object.space) {
        derive(*pod);
        touch(pod->owner);
      }
  } else if (is_mark(owner)) {
    for (const auto& [other, owned] : owned_)
      if (!owned.claims.empty())
        touch(other);
  } else {
    // Pods take ConfigMaps and Secrets that they name, and selectors use the labels of a namespace.
    for (const auto& [other, workload] : workloads_)
      if (workload->space == object.space || object.kind == "Namespace")
        touch(other);
  }
  objects_[owner] = std::move(object);
}

void Fleet::drop(const Name& owner) {
  const auto found = objects_.find(owner);
  if (found == objects_.end())
    return;
  const Object object = std::move(found->second);
  objects_.erase(found);
  forget_images(owner);
  workloads_.erase(owner);
  sidecars_.drop(owner);
  touch(owner);
  for (const auto& [other, workload] : workloads_)
    if (workload->space == object.space)
      touch(other);
  if (object.kind == "Pod")
    for (auto& [key, pod] : pods_)
      if (pod->name == object.name && pod->space == object.space)
        derive(*pod);
}

/// A new number belongs to nobody until a node or a pod has it.
uint32_t Fleet::number_of(const Name& node) {
  if (const auto found = numbers_.find(node); found != numbers_.end())
    return found->second;
  uint32_t number = static_cast<uint32_t>(by_number_.size());
  if (free_numbers_.empty()) {
    by_number_.emplace_back();
  } else {
    number = free_numbers_.back();
    free_numbers_.pop_back();
  }
  by_number_[number].name = node;
  numbers_.emplace(node, number);
  return number;
}

/// If nobody has it any more, another node may get it.
void Fleet::release_number(uint32_t number) {
  NumberedNode& numbered = by_number_[number];
  if (numbered.node != nullptr || numbered.pods > 0)
    return;
  numbers_.erase(numbered.name);
  numbered = NumberedNode();
  free_numbers_.push_back(number);
}

void Fleet::put_node(Node node) {
  node.number = number_of(node.name);
  Node& kept = nodes_[node.name];
  kept = std::move(node);
  by_number_[kept.number].node = &kept;
  for (const auto& [owner, workload] : workloads_)
    changed_.insert(owner);
}

void Fleet::drop_node(const Name& name) {
  if (const auto found = nodes_.find(name); found != nodes_.end()) {
    const uint32_t number = found->second.number;
    by_number_[number].node = nullptr;
    release_number(number);
    nodes_.erase(found);
  }
  for (const auto& [owner, workload] : workloads_)
    changed_.insert(owner);
}

const Node* Fleet::node(const Name& name) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? nullptr : node_at(found->second);
}

void Fleet::see_image(const Name& node, const Name& reference, const Name& digest, bool is_there) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end())
    return;
  if (is_there)
    found->second.images[reference] = digest;
  else
    found->second.images.erase(reference);
  for (const auto& [owner, owned] : owned_)
    if (std::ranges::any_of(owned.jobs, [&](const auto& job) {
          return read_one<&PullJob::image>(job.second.resource->attributes) == reference;
        }))
      touch(owner);
  touch_jobs(reference);
}

bool Fleet::has_image(const Node& node, const Name& reference) {
  return node.images.contains(reference);
}

Fleet::NodeUse Fleet::used(uint32_t node_number) const {
  return node_number < by_number_.size() ? by_number_[node_number].used : NodeUse();
}

const Workload* Fleet::workload(const Name& owner) const {
  const auto found = workloads_.find(owner);
  return found == workloads_.end() ? nullptr : found->second.get();
}

const Object* Fleet::object(const Name& owner) const {
  const auto found = objects_.find(owner);
  return found == objects_.end() ? nullptr : &found->second;
}

const Object* Fleet::marks(const FleetPod& pod) const {
  const Object* found = object(cat("Pod/", pod.space, "/", pod.name));
  if (found == nullptr)
    return nullptr;
  const int64_t made = memory_of_pod(pod.resource->attributes).made;
  return found->document.integer_at("since", made + 1) > made ? found : nullptr;
}

const OwnerHoldings& Fleet::owned(const Name& owner) const {
  const auto found = owned_.find(owner);
  return found == owned_.end() ? nothing : found->second;
}

const FleetPod* Fleet::pod(const Name& key_name) const {
  const auto found = pods_.find(key_name);
  return found == pods_.end() ? nullptr : found->second.get();
}

const Pull* Fleet::pull(const Name& key_name) const {
  const auto found = pulls_.find(key_name);
  return found == pulls_.end() ? nullptr : &found->second;
}

Name owner_of_others(std::string_view space) { return cat("Others/", space, "/pods"); }

bool is_of_others(const Name& owner) { return owner.view().starts_with("Others/"); }

Name key_name_of_others(std::string_view space, std::string_view pod) {
  return node_name_of("others", space, pod);
}

Name claim_mark(std::string_view space, std::string_view claim) {
  return cat("PersistentVolumeClaim/", space, "/", claim);
}

bool is_mark(const Name& owner) {
  return owner.view().starts_with("Pod/") || owner.view().starts_with("PersistentVolumeClaim/");
}

Readiness readiness_of(const Fleet& fleet, const FleetPod& pod) {
  const Node* const node = fleet.node_at(pod.node_number);
  const bool is_away = node != nullptr && !node->is_ready;
  if (!pod.exists || is_away || pod.is_held)
    return Readiness::not_ready;
  const bool is_open = pod.is_due || pod.is_acting || (pod.is_busy && !pod.is_ready());
  return is_open ? Readiness::unseen : pod.readiness;
}

FleetPod& Fleet::pod_for(const Key& key) {
  auto& found = pods_[key.name];
  if (found == nullptr) {
    found = std::make_unique<FleetPod>();
    const NodeAddress address = node_address(key.name);
    found->resource.emplace().key = key;
    found->space = address.space;
    found->name = address.name;
    step_on(*found, address.node);
  }
  return *found;
}

void Fleet::index(FleetPod& pod) {
  std::vector<FleetPod*>& pods = owned_[pod.owner].pods;
  pods.insert(std::ranges::upper_bound(pods, &pod, by_key), &pod);
}

void Fleet::unindex(FleetPod& pod) {
  std::vector<FleetPod*>& pods = owned_[pod.owner].pods;
  const auto [first, last] = std::ranges::equal_range(pods, &pod, by_key);
  pods.erase(first, last);
}

void Fleet::forget_pod(const Name& key_name) {
  const auto found = pods_.find(key_name);
  if (found == pods_.end())
    return;
  touch_pod(*found->second);
  take_sidecar_sets(*found->second, {});
  unindex(*found->second);
  make_room(*found->second);
  step_off(*found->second);
  pods_.erase(found);
}

/// What a pod takes of its node.
void Fleet::measure(FleetPod& pod) {
  const Value spec = pod_spec(pod.resource->attributes);
  const Requests requests =
      requests_of(read_one<&Pod::pod_template>(pod.resource->attributes).at("spec"));
  pod.cpu = requests.cpu;
  pod.memory = requests.memory;
  pod.ports = host_ports_of(spec);
  NumberedNode& on = by_number_[pod.node_number];
  on.used.cpu += pod.cpu;
  on.used.memory += pod.memory;
  if (!pod.ports.empty())
    on.with_ports.push_back(&pod);
}

/// It takes nothing of its node any more, and whoever waits for room is asked again.
void Fleet::make_room(FleetPod& pod) {
  NumberedNode& on = by_number_[pod.node_number];
  on.used.cpu -= pod.cpu;
  on.used.memory -= pod.memory;
  std::erase(on.with_ports, &pod);
  changed_.insert(waiting_.begin(), waiting_.end());
}

void Fleet::step_on(FleetPod& pod, const Name& node) {
  pod.node = node;
  pod.node_number = number_of(node);
  ++by_number_[pod.node_number].pods;
}

void Fleet::step_off(const FleetPod& pod) {
  --by_number_[pod.node_number].pods;
  release_number(pod.node_number);
}

void Fleet::stand_on(FleetPod& pod, const Name& node) {
  if (pod.node == node)
    return;
  make_room(pod);
  step_off(pod);
  step_on(pod, node);
  measure(pod);
}

const FleetPod* Fleet::port_holder(uint32_t node_number, const std::vector<HostPort>& ports) const {
  if (ports.empty() || node_number >= by_number_.size())
    return nullptr;
  const auto& pods = by_number_[node_number].with_ports;
  const auto found = std::ranges::find_if(
      pods, [&](const FleetPod* pod) { return clash(ports, pod->ports) != nullptr; });
  return found == pods.end() ? nullptr : *found;
}

/// What follows from the attributes and from what users changed.
void Fleet::derive(FleetPod& pod) {
  const Attributes& attributes = pod.resource->attributes;
  const PodMemory memory = memory_of_pod(attributes);
  const Object* marked = marks(pod);
  pod.labels = pod_labels(attributes);
  Value annotations = pod_annotations(attributes);
  if (marked != nullptr) {
    pod.labels = overlaid(pod.labels, marked->document.at("metadata").at("labels"));
    annotations = overlaid(annotations, marked->document.at("metadata").at("annotations"));
  }
  pod.revision = read_one<&Pod::revision>(attributes).get();
  pod.lifecycle = lifecycle_of(pod.labels.text_at(label::lifecycle_state));
  pod.is_specified = pod.labels.text_at(label::specified_delete) == "true";
  pod.is_deleted = marked != nullptr && marked->document.bool_at("deleted");
  pod.is_updating = !memory.update.is_null();
  pod.is_marked = marked != nullptr || memory.is_marked;
  pod.template_digest = read_one<&Pod::pod_template>(attributes).value().digest();
  const Dict configs = read_one<&Pod::configs>(attributes);
  pod.configs_digest = (configs.empty() ? Value() : configs.value()).digest();
  take_sidecar_sets(pod, names_of_sets(read_one<&Pod::sidecars>(attributes).value()));
  pod.is_held = false;
  const Dict conditions = read_one<&Pod::conditions>(attributes);
  for (const Entry& entry : conditions.entries())
    pod.is_held |= entry.value == Value("False");
  pod.deletion_cost = deletion_cost_of(annotations.text_at(annotation::deletion_cost));
}

void Fleet::wish(FleetPod& pod, const Box<Resource>& resource) {
  if (&*pod.resource == &*resource)
    return;
  const Name owner = read_one<&Pod::owner>(resource->attributes).get();
  const bool is_indexed = !pod.owner.empty();
  if (!is_indexed || pod.owner != owner) {
    if (is_indexed)
      unindex(pod);
    take_sidecar_sets(pod, {});  // until `derive`, since its owner has changed
    pod.owner = owner;
    index(pod);
  }
  if (pod.resource->attributes == resource->attributes)
    return;
  const Attributes &was = pod.resource->attributes, &is = resource->attributes;
  const bool is_same_size = read_one<&Pod::pod_template>(was) == read_one<&Pod::pod_template>(is) &&
                            read_one<&Pod::sidecars>(was) == read_one<&Pod::sidecars>(is);
  pod.resource = resource;
  pod.is_due = is_act_due(pod);
  derive(pod);
  if (!is_same_size) {
    make_room(pod);
    measure(pod);
  }
  // That of a DaemonSet says so, before it was seen there.
  if (is_cluster && pod.node.empty())
    stand_on(pod, read_one<&Pod::node>(pod.resource->attributes).get());
}

void Fleet::know(const Key& key, const RecordPointer& record) {
  if (key.kind == "pod")
    know_pod(key, record);
  else if (key.kind == "image")
    know_pull(key, record);
  else
    know_memory(key, record);
}

/// What was seen of a pod before an act on it ended may be what the act found: one that was ready
/// stays so if the act stopped nothing, one that was not may have been repaired.
void Fleet::follow_act(FleetPod& pod, const Record& record) {
  const Box<Resource>& last = last_wish(record);
  const Attempt* const attempt = record.attempt ? &*record.attempt : nullptr;
  const bool was_acting = pod.is_acting;
  pod.is_busy = attempt != nullptr && !attempt->failed;
  pod.is_acting =
      pod.is_busy &&
      (attempt->verb == Verb::create || attempt->verb == Verb::replace || !record.applied ||
       may_change_readiness(record.applied->attributes, last->attributes));
  const bool is_another = pod.acted && &*pod.acted != &*last &&
                          may_change_readiness(pod.acted->attributes, last->attributes);
  if (was_acting || pod.is_acting || is_another || !pod.is_ready())
    pod.readiness = Readiness::unseen;
  pod.acted = last;
  pod.is_due = is_act_due(pod);
}

void Fleet::know_pod(const Key& key, const RecordPointer& record) {
  const Box<Resource>& last = last_wish(record);
  if (!last) {
    const FleetPod* known = pod(key.name);
    // One that was just asked for has no record yet.
    if (known != nullptr && (known->exists || known->is_leaving))
      forget_pod(key.name);
    return;
  }
  const bool is_new = pod(key.name) == nullptr;
  FleetPod& pod = pod_for(key);
  // In a cluster, one that was taken over may have the name of one that was to be made.
  const bool is_another = is_cluster && !pod.exists && record->applied &&
                          read_one<&Pod::uid>(last->attributes).get() !=
                              read_one<&Pod::uid>(pod.resource->attributes).get();
  if (is_new || is_another)
    wish(pod, last);
  pod.exists = record->applied.has_value();
  follow_act(pod, *record);
  pod.applied = applied_by(*record);
  pod.is_done = pod.applied == pod.resource->attributes.digest();
  pod.is_leaving |= record->attempt && record->attempt->verb == Verb::remove;
  pod.error = record->attempt && record->attempt->failed ? Name(record->attempt->error) : Name();
  pod.made.clear();
  const Dict made = read_one<&PodOutputs::containers>(record->outputs);
  pod.made.assign(made.entries().begin(), made.entries().end());
  touch_pod(pod);
}

void Fleet::let_be(const Key& key) {
  const auto found = pods_.find(key.name);
  if (found == pods_.end() || !found->second->acted)
    return;
  wish_as_acted(*found->second);
  touch_pod(*found->second);
}

/// What the last act that began was to make of it is wanted again.
void Fleet::wish_as_acted(FleetPod& pod) {
  wish(pod, Box<Resource>(pod.acted));
  pod.is_done = pod.applied == pod.resource->attributes.digest();
}

/// What was wanted of it and has not begun is decided again, be it an update or its end: that of a
/// pod that was not ready cost nothing, and may cost more than the budget has when it is ready
/// meanwhile. Whoever wants its end for another reason says so again.
void Fleet::begin_anew(FleetPod& pod) {
  pod.is_leaving = false;
  if (pod.is_due)
    wish_as_acted(pod);
}

bool Fleet::see(const Key& key, const std::optional<State>& state) {
  const auto found = pods_.find(key.name);
  if (found == pods_.end())
    return false;
  FleetPod& pod = *found->second;
  const bool was_ready = pod.is_ready();
  if (!read_status(state ? *state : State(), pod))
    return false;
  if (!was_ready && pod.is_ready() && !pod.is_busy)
    begin_anew(pod);
  touch_pod(pod);
  return true;
}

bool Fleet::see_node(const Key& key, const Name& node) {
  const auto found = pods_.find(key.name);
  if (found == pods_.end())
    return false;
  FleetPod& pod = *found->second;
  const Name wanted = read_one<&Pod::node>(pod.resource->attributes).get();
  const Name& now = node.empty() ? wanted : node;
  if (pod.node == now)
    return false;
  stand_on(pod, now);
  touch_pod(pod);
  return true;
}

void Fleet::know_pull(const Key& key, const RecordPointer& record) {
  const Box<Resource>& last = last_wish(record);
  const auto found = pulls_.find(key.name);
  if (!last) {
    if (found == pulls_.end())
      return;
    touch(found->second.owner);
    if (const auto owned = owned_.find(found->second.owner); owned != owned_.end())
      owned->second.pulls.erase(key.name);
    pulls_.erase(found);
    return;
  }
  Pull& pull = pulls_[key.name];
  if (pull.owner.empty()) {
    // The record has the owner that wants it.
    pull.resource = last;
    if (!record->wanted_by.empty())
      pull.owner = record->wanted_by.begin()->first;
    if (!pull.owner.empty())
      owned_[pull.owner].pulls.insert(key.name);
  }
  pull.applied = applied_by(*record);
  pull.has_failed = record->attempt && record->attempt->failed;
  pull.error = pull.has_failed ? Name(record->attempt->error) : Name();
  pull.finished = record->finished;
  judge(pull);
  const Value& so_far =
      record->attempt && record->attempt->course ? record->attempt->course->so_far : Value();
  const Value digest =
      pull.is_done ? read_one<&ImageOutputs::digest>(record->outputs) : so_far.at("digest");
  pull.digest = digest.is_text() ? digest.text() : Name();
  if (pull.is_done && !is_cluster)
    if (const auto node = nodes_.find(Name(on_node(key.name).node)); node != nodes_.end())
      node->second.images[read_one<&Image::reference>(pull.resource->attributes).get()] =
          pull.digest;
  touch(pull.owner);
  // Another job may wait for the same image.
  touch_jobs(read_one<&Image::reference>(pull.resource->attributes).get());
}

/// Whether a pull is over. In a cluster, an act tells a node what to pull, and the rest is seen.
void Fleet::judge(Pull& pull) const {
  const bool is_as_wanted = pull.applied == pull.resource->attributes.digest();
  pull.is_order = is_cluster;
  pull.is_done = is_as_wanted && (!pull.is_order || pull.seen.phase == PullSeen::Phase::succeeded);
  if (!pull.is_order || !is_as_wanted)
    return;
  pull.has_failed = pull.seen.phase == PullSeen::Phase::failed;
  pull.error = pull.has_failed ? pull.seen.error : Name();
  pull.finished = pull.seen.finished;
}

void Fleet::see_pull(const Key& key, const PullSeen& seen) {
  const auto found = pulls_.find(key.name);
  if (found == pulls_.end() || found->second.seen == seen)
    return;
  found->second.seen = seen;
  judge(found->second);
  touch(found->second.owner);
  touch_jobs(read_one<&Image::reference>(found->second.resource->attributes).get());
}

std::map<Name, Memory>* Fleet::memories(const Name& owner, const Name& kind) {
  OwnerHoldings& owned = owned_[owner];
  return kind == "revision"   ? &owned.revisions
         : kind == "pull_job" ? &owned.jobs
         : kind == "claim"    ? &owned.claims
         : kind == "notice"   ? &owned.notices
                              : nullptr;
}

void Fleet::know_memory(const Key& key, const RecordPointer& record) {
  const Box<Resource>& last = last_wish(record);
  const auto known = memory_owners_.find(key);
  if (!last) {
    if (known == memory_owners_.end())
      return;
    if (auto* memory = memories(known->second, key.kind))
      memory->erase(key.name);
    touch(known->second);
    memory_owners_.erase(known);
    return;
  }
  Name owner = known != memory_owners_.end() ? known->second
               : !record->wanted_by.empty()  ? record->wanted_by.begin()->first
                                             : owner_of_memory(last->attributes);
  auto* memory = memories(owner, key.kind);
  if (memory == nullptr)
    return;
  Memory& found = (*memory)[key.name];
  if (known == memory_owners_.end()) {
    found.resource = last;
    found.owner = owner;
    memory_owners_.emplace(key, owner);
    touch(owner);
  }
  found.applied = applied_by(*record);
  const bool is_done = found.applied == found.resource->attributes.digest();
  if (found.is_done != is_done)
    touch(owner);
  found.is_done = is_done;
}

void Fleet::touch_turns(const Value& turns) {
  for (const Value& key : items_of(turns))
    if (const FleetPod* pod = this->pod(to_text(key)))
      touch(pod->owner);
}

/// It is not wanted any more. What nobody began to make leaves nothing behind.
void Fleet::leave(FleetPod& pod) {
  pod.is_leaving = true;
  if (!pod.acted)
    forget_pod(pod.resource->key.name);
}

/// The pods that stay have the order of the fleet, before new ones. A new one may have the name of
/// one that goes.
void Fleet::accept_pods(const Wanted& wanted) {
  const std::vector<FleetPod*> before = owned_[wanted.owner].pods;
  const size_t first = wanted.resources.size() - wanted.pods.size();
  const auto take = [&](FleetPod& pod, const Box<Resource>& resource) {
    wish(pod, resource);
    // The wanted pod may be the one that is there already.
    pod.is_done = pod.applied == resource->attributes.digest();
    pod.is_leaving = false;
  };
  size_t next = 0;
  for (size_t i = 0; i < wanted.pods.size(); ++i) {
    if (wanted.pods[i] == nullptr)
      continue;
    while (before[next] != wanted.pods[i])
      leave(*before[next++]);
    take(*before[next++], wanted.resources[first + i]);
  }
  while (next < before.size())
    leave(*before[next++]);
  for (size_t i = 0; i < wanted.pods.size(); ++i)
    if (wanted.pods[i] == nullptr)
      take(pod_for(wanted.resources[first + i]->key), wanted.resources[first + i]);
}

void Fleet::wish_for_pull(const Box<Resource>& resource, const Name& owner) {
  Pull& pull = pulls_[resource->key.name];
  const bool is_same = has_attributes(pull.resource, resource);
  pull.has_failed = pull.has_failed && is_same;
  // What was told is about the order before.
  if (!is_same)
    pull.seen = {};
  pull.resource = resource;
  pull.owner = owner;
  judge(pull);
}

void Fleet::wish_for_memory(const Box<Resource>& resource, const Name& owner) {
  auto* const memory = memories(owner, resource->key.kind);
  if (memory == nullptr)
    return;
  Memory& found = (*memory)[resource->key.name];
  // The pods whose turn it is belong to others.
  if (!has_attributes(found.resource, resource) && sidecar_sets().contains(owner))
    touch_turns(read_one<&ControllerRevision::state>(resource->attributes).at("turns"));
  found.is_done = found.applied == resource->attributes.digest();
  found.resource = resource;
  found.owner = owner;
  memory_owners_[resource->key] = owner;
}

void Fleet::accept(const Wanted& wanted) {
  const Name& owner = wanted.owner;
  accept_pods(wanted);
  std::set<Name> pulls;
  std::set<std::pair<Name, Name>> kept;
  for (const Box<Resource>& resource :
       std::span(wanted.resources).first(wanted.resources.size() - wanted.pods.size())) {
    const Key& key = resource->key;
    if (key.kind == "image") {
      wish_for_pull(resource, owner);
      pulls.insert(key.name);
    } else {
      wish_for_memory(resource, owner);
      kept.emplace(key.kind, key.name);
    }
  }
  OwnerHoldings& owned = owned_[owner];
  for (const Name& name : owned.pulls) {
    if (pulls.contains(name))
      continue;
    // A node of a cluster has been told, and its order stays.
    if (const Pull* const known = pull(name);
        known != nullptr && is_cluster && known->applied != Digest())
      pulls.insert(name);
    else
      pulls_.erase(name);
  }
  owned.pulls = std::move(pulls);
  for (const char* kind : {"revision", "pull_job", "claim", "notice"})
    std::erase_if(*memories(owner, kind), [&](const auto& entry) {
      const bool goes = !kept.contains({kind, entry.first});
      if (goes)
        memory_owners_.erase(entry.second.resource->key);
      return goes;
    });
  changed_.erase(owner);
  if (wanted.waits_for_room)
    waiting_.insert(owner);
  else
    waiting_.erase(owner);
  forget_owner(owner);
}

/// Nothing is kept of an owner that is gone with all that it had. One that is there may have had
/// pods that ended.
void Fleet::forget_owner(const Name& owner) {
  const auto found = owned_.find(owner);
  if (found == owned_.end() || workloads_.contains(owner))
    return;
  const OwnerHoldings& owned = found->second;
  if (owned.pods.empty() && owned.pulls.empty() && owned.revisions.empty() && owned.jobs.empty() &&
      owned.claims.empty() && owned.notices.empty())
    owned_.erase(found);
}

}  // namespace fettle::workloads
