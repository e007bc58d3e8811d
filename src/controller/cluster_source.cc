#include "controller/cluster_source.h"

#include <algorithm>

#include "base/text.h"
#include "cluster/claims.h"
#include "cluster/names.h"
#include "cluster/revisions.h"
#include "cluster/status.h"
#include "cluster/types.h"
#include "controller/fleet_cache.h"
#include "controller/notifier.h"
#include "kinds/pod.h"
#include "workloads/names.h"

namespace fettle {
namespace {

using cluster::ObjectMeta;
using cluster::owner_called;
using kubernetes::ObjectKey;
using kubernetes::ObjectName;
using workloads::Fleet;
using workloads::Object;
namespace types = cluster::types;

constexpr int most_vain_acts = 4;
/// If nothing else is to be done: a minute is long, and short beside a lost call.
constexpr Duration longest_quiet = 1min;

ObjectName name_of_object(const ObjectMeta& meta) { return {meta.space.str(), meta.name.str()}; }

Key key_of_pod(const Name& environment, const ObjectName& name) {
  return {environment, "pod", node_name_of("", name.space, name.name)};
}

Key key_of_claim(const Name& environment, const ObjectName& name) {
  return {environment, "claim", node_name_of("", name.space, name.name)};
}

/// `space`: of the workload; a SidecarSet has none.
Key key_of_revision(const Name& environment, std::string_view space, std::string_view name) {
  return {environment, "revision", cat(space, "/", name)};
}

/// Of a pod, a claim or a revision.
ObjectName name_of_thing(const Key& key) {
  const NodeAddress address = node_address(key.name);
  if (key.kind == "revision")
    return cluster::object_of_revision(address.space, address.name);
  return {std::string(address.space), std::string(address.name)};
}

/// The SidecarSets that have put something into a pod, by its record.
std::vector<Name> sidecar_sets_of(const RecordPointer& record) {
  std::vector<Name> sets;
  if (record == nullptr || !record->applied)
    return sets;
  const List sidecars = read_one<&Pod::sidecars>(record->applied->attributes);
  for (const Value& sidecar : sidecars.items())
    sets.push_back(
        owner_called({types::sidecar_sets.kind, {{}, std::string(sidecar.text_at("name"))}}));
  return sets;
}

Name name_of_marks(const ObjectName& name) { return cat("Pod/", to_string(name)); }

/// A namespace as the fleet sees it: its labels.
Object space_object(const ObjectMeta& meta, const Value& object) {
  Object space;
  space.kind = types::spaces.kind;
  space.name = meta.name;
  space.uid = meta.uid;
  space.document =
      Value::dict({{"metadata", Value::dict({{"labels", object.at("metadata").at("labels")}})}});
  return space;
}

/// Whether its owner is part of the fleet.
bool is_part(const Fleet& fleet, const ObjectMeta& meta) {
  if (!meta.controller)
    return false;
  const Object* const owner = fleet.object(meta.owner());
  return owner != nullptr && owner->uid == meta.controller->uid;
}

/// A claim that goes with its owner has a reference to it; one that outlives it has none.
bool is_part(const Fleet& fleet, const ObjectMeta& meta, const VolumeClaim& claim) {
  return !meta.is_leaving && fleet.object(claim.owner.get()) != nullptr &&
         (claim.retain.get() || is_part(fleet, meta));
}

bool are_alike(const Box<Attempt>& a, const Box<Attempt>& b) {
  return a.has_value() == b.has_value() &&
         (!a || (a->verb == b->verb && a->failed == b->failed && a->error == b->error));
}

/// Whether a record says the same as one that was rebuilt from the object.
bool says_the_same(const Record& known, const Record& rebuilt) {
  return known.applied.has_value() == rebuilt.applied.has_value() &&
         are_alike(known.attempt, rebuilt.attempt) &&
         (known.remote_id.empty() || known.remote_id == rebuilt.remote_id) &&
         (!known.applied || known.applied->attributes == rebuilt.applied->attributes);
}

/// No object says that an act has failed.
RecordPointer with_failure(const RecordPointer& rebuilt, const RecordPointer& failure) {
  if (failure == nullptr || !rebuilt->applied || rebuilt->attempt ||
      rebuilt->applied->attributes == failure->attempt->resource->attributes)
    return rebuilt;
  auto record = std::make_shared<Record>(*rebuilt);
  record->attempt = failure->attempt;
  return record;
}

/// Fills a view with all that there is.
class ClusterReader {
 public:
  ClusterReader(const Workplace& place, const ClusterAccess& access, FleetView& view)
      : place_(place), access_(access), view_(view) {}

  void read() {
    access_.owners.clear();
    for (const Value& object : access_.objects.all(types::nodes.kind))
      view_.fleet.put_node(cluster::read_node(object));
    for (const Value& object : access_.objects.all(types::spaces.kind))
      view_.fleet.put(space_object(cluster::meta_of(object), object));
    for (const kubernetes::ResourceType& type : types::workloads)
      for (const Value& object : access_.objects.all(type.kind))
        if (!cluster::meta_of(object).is_leaving)
          read_workload(object, type);
    read_revisions();
    read_claims();
    read_pods();
  }

 private:
  void read_workload(const Value& object, const kubernetes::ResourceType& type) {
    const Result<Object> workload = cluster::read_workload(object, type);
    if (!workload)
      return place_.tell(to_string(workload.error()));
    view_.owners.insert(workload->owner());
    access_.owners.put(*workload);
    view_.fleet.put(*workload);
  }

  void read_revisions() {
    std::map<Name, std::vector<ControllerRevision>> by_owner;
    for (const Value& object : access_.objects.all(types::revisions.kind)) {
      const ObjectMeta meta = cluster::meta_of(object);
      if (meta.is_leaving || !is_part(view_.fleet, meta))
        continue;
      if (auto revision = cluster::read_revision(object, meta.controller->uid))
        by_owner[meta.owner()].push_back(*std::move(revision));
      else
        place_.tell(to_string(revision.error()));
    }
    for (auto& [owner, revisions] : by_owner) {
      const Object* const workload = view_.fleet.object(owner);
      const Value stored =
          access_.objects.find(workload->kind.str(), {workload->space.str(), workload->name.str()});
      cluster::take_current(revisions, stored.at("status"));
      for (ControllerRevision& revision : revisions) {
        const RecordPointer record = cluster::record_of(revision, view_.fleet.environment());
        know(record->applied->key, record);
        access_.owners.put(std::move(revision));
      }
      const Object kept = cluster::with_known_policies(*view_.fleet.object(owner),
                                                       access_.owners.find(owner)->revisions);
      access_.owners.put(kept);
      view_.fleet.put(kept);
    }
  }

  void read_claims() {
    for (const Value& object : access_.objects.all(types::claims.kind)) {
      const ObjectMeta meta = cluster::meta_of(object);
      const auto claim = cluster::read_claim(object);
      if (!claim || !is_part(view_.fleet, meta, *claim))
        continue;
      const RecordPointer record = cluster::record_of(*claim, meta, view_.fleet.environment());
      know(record->applied->key, record);
    }
  }

  void read_pods() {
    Fleet& fleet = view_.fleet;
    std::vector<cluster::ClusterPod> pods;
    for (const Value& object : access_.objects.all(types::pods.kind)) {
      const ObjectMeta meta = cluster::meta_of(object);
      if (!is_part(fleet, meta))
        continue;
      const auto owner = access_.owners.find(meta.owner());
      auto pod = cluster::read_pod(object, {fleet.environment(), fleet.driver, fleet.gates,
                                            &owner->revisions, owner->object.uid});
      if (!pod)
        place_.tell(to_string(pod.error()));
      else
        pods.push_back(*std::move(pod));
    }
    // A fleet looks for the pod of a mark among all that it knows.
    for (const cluster::ClusterPod& pod : pods)
      if (pod.marks)
        fleet.put(*pod.marks);
    for (const cluster::ClusterPod& pod : pods) {
      know(pod.key, pod.record);
      fleet.see(pod.key, pod.state);
      fleet.see_node(pod.key, pod.node);
      view_.seen[pod.key].state = pod.state;
    }
  }

  void know(const Key& key, const RecordPointer& record) {
    view_.known[key] = record;
    view_.fleet.know(key, record);
  }

  const Workplace& place_;
  const ClusterAccess& access_;
  FleetView& view_;
};

}  // namespace

Result<std::unique_ptr<FleetView>> ClusterSource::learn() {
  TRY(access_.objects.await_sync(place_.interrupt->acts_token()));
  (void)access_.objects.take_changed();
  edit_.begin_anew();
  auto view = std::make_unique<FleetView>(environment());
  view->fleet.driver = cluster::driver_name;
  view->fleet.is_cluster = true;
  view->fleet.gates = gates_;
  // Nothing brings images to the nodes of a cluster yet.
  view->fleet.gates.pre_download = view->fleet.gates.pre_download_daemon_set = false;
  ClusterReader(place_, access_, *view).read();
  return view;
}

std::unique_ptr<FleetNews> ClusterSource::news(FleetCache& cache, Edit&, Notifier& notifier) {
  return std::make_unique<ClusterNews>(place_, access_, edit_, cache, notifier);
}

ClusterNews::ClusterNews(const Workplace& place, ClusterAccess access, ClusterEdit& edit,
                         FleetCache& cache, Notifier& notifier)
    : place_(place),
      access_(access),
      edit_(edit),
      cache_(cache),
      notifier_(notifier),
      statuses_(access.client, access.objects) {}

ClusterNews::~ClusterNews() { access_.objects.listen({}); }

void ClusterNews::listen() {
  notifier_.expect_calls();
  access_.objects.listen([this] { notifier_.notify(Notifier::Cause::store); });
  notifier_.notify(Notifier::Cause::store);  // about what came before
}

Status ClusterNews::learn() {
  TRY(cache_.learn());
  open_ = {};
  for (const Name& owner : cache_.view().owners)
    statuses_.note(owner);
  return {};
}

/// Nodes and workloads come first and pods last, since pods are read with their workload and its
/// revisions.
Result<FleetNews::News> ClusterNews::hear() {
  (void)notifier_.take(Notifier::Cause::store);
  gather();
  const bool is_any = !open_.spaces.empty() || !open_.nodes.empty() || !open_.workloads.empty() ||
                      !open_.revisions.empty() || !open_.claims.empty() || !open_.pods.empty();
  bool has_wishes = false;
  for (const ObjectName& name : std::exchange(open_.spaces, {}))
    take_space(name);
  for (const ObjectName& name : std::exchange(open_.nodes, {}))
    take_node(name);
  for (const ObjectKey& key : std::exchange(open_.workloads, {}))
    has_wishes |= take_workload(key);
  for (const ObjectName& name : std::exchange(open_.revisions, {}))
    take_revision(name);
  for (const ObjectName& name : std::exchange(open_.claims, {}))
    take_claim(name);
  for (const ObjectName& name : std::exchange(open_.pods, {}))
    take_pod(name);
  statuses_.refresh(cache_.fleet(), place_.clock());
  return has_wishes ? News::wishes : is_any ? News::some : News::none;
}

void ClusterNews::gather() {
  for (const ObjectKey& key : access_.objects.take_changed())
    if (key.kind == types::pods.kind)
      open_.pods.insert(key.name);
    else if (key.kind == types::revisions.kind)
      open_.revisions.insert(key.name);
    else if (key.kind == types::nodes.kind)
      open_.nodes.insert(key.name);
    else if (key.kind == types::spaces.kind)
      open_.spaces.insert(key.name);
    else if (key.kind == types::claims.kind)
      open_.claims.insert(key.name);
    else
      open_.workloads.insert(key);
  for (const Key& key : edit_.take_ended())
    if (key.kind == "pod")
      open_.pods.insert(name_of_thing(key));
    else if (key.kind == "revision")
      open_.revisions.insert(name_of_thing(key));
    else if (key.kind == "claim")
      open_.claims.insert(name_of_thing(key));
}

Instant ClusterNews::due() const {
  return statuses_.due().value_or(instant_from_clock() + longest_quiet);
}

bool ClusterNews::take_workload(const ObjectKey& key) {
  const Name owner = owner_called(key);
  const Value object = access_.objects.find(key.kind, key.name);
  const Object* const known = cache_.fleet().object(owner);
  const ObjectMeta meta = cluster::meta_of(object);
  const bool was_known = known != nullptr;
  const bool is_there = !object.is_null() && !meta.is_leaving;
  const bool is_new = !was_known || !is_there || known->uid != meta.uid;
  if (was_known && is_new)
    leave(owner);
  if (!is_there)
    return was_known;
  statuses_.note(owner);
  Result<Object> workload = cluster::read_workload(object, types::workload_of_kind(key.kind));
  if (!workload) {
    complain(owner, to_string(workload.error()));
    return false;
  }
  complaints_.erase(owner);
  if (const auto before = access_.owners.find(owner))
    workload = cluster::with_known_policies(*std::move(workload), before->revisions);
  if (!is_new && known->document == workload->document && known->generation == workload->generation)
    return false;
  access_.owners.put(*workload);
  cache_.fleet().put(*std::move(workload));
  if (is_new)
    open_all_of(owner);
  return true;
}

/// It is deleted, or about to be. What it has is the matter of the garbage collector, which removes
/// it or, if users want that, leaves it to nobody.
void ClusterNews::leave(const Name& owner) {
  const FleetRecords::Keys keys = cache_.records().of(owner);
  for (const Key& key : keys)
    forget(key);
  access_.owners.drop(owner);
  cache_.fleet().drop(owner);
  complaints_.erase(owner);
}

/// Its things may have been told of before it.
void ClusterNews::open_all_of(const Name& owner) {
  for (const auto& [kind, names] : {std::pair(types::revisions.kind, &open_.revisions),
                                    std::pair(types::pods.kind, &open_.pods)})
    for (const Value& object : access_.objects.all(kind))
      if (const ObjectMeta meta = cluster::meta_of(object); meta.owner() == owner)
        names->insert(name_of_object(meta));
  for (const Value& object : access_.objects.all(types::claims.kind))
    if (const auto claim = cluster::read_claim(object); claim && claim->owner.get() == owner)
      open_.claims.insert(name_of_object(cluster::meta_of(object)));
}

/// A revision may be told of after its workload.
void ClusterNews::keep_policies(const Name& owner) {
  const Object* const workload = cache_.fleet().object(owner);
  const auto known = access_.owners.find(owner);
  if (workload == nullptr || known == nullptr)
    return;
  Object kept = cluster::with_known_policies(*workload, known->revisions);
  if (kept.document == workload->document)
    return;
  access_.owners.put(kept);
  cache_.fleet().put(std::move(kept));
}

void ClusterNews::take_claim(const ObjectName& name) {
  const Key key = key_of_claim(edit_.environment(), name);
  if (edit_.is_under_way(key))
    return;  // it is read when that has ended
  const Value object = access_.objects.find(types::claims.kind, name);
  const ObjectMeta meta = cluster::meta_of(object);
  const auto claim = cluster::read_claim(object);
  const RecordPointer known = cache_.records().find(key);
  if (!claim || !is_part(cache_.fleet(), meta, *claim)) {
    if (known != nullptr && edit_.failure(key) == nullptr)
      forget(key);
    return;
  }
  const RecordPointer record = cluster::record_of(*claim, meta, edit_.environment());
  if (known == nullptr || !says_the_same(*known, *record))
    cache_.put(key, record);
}

void ClusterNews::complain(const Name& owner, std::string why) {
  std::string& last = complaints_[owner];
  if (last == why)
    return;
  place_.tell(why);
  last = std::move(why);
}

void ClusterNews::forget(const Key& key) {
  cache_.put(key, nullptr);
  vain_acts_.erase(key);
  if (key.kind == "pod")
    cache_.fleet().drop(name_of_marks(name_of_thing(key)));
}

/// A kubelet writes often, and most of it is nothing to a DaemonSet.
void ClusterNews::take_node(const ObjectName& name) {
  const Value object = access_.objects.find(types::nodes.kind, name);
  const workloads::Node* const known = cache_.fleet().node(name.name);
  if (object.is_null()) {
    if (known != nullptr)
      cache_.fleet().drop_node(name.name);
    return;
  }
  workloads::Node node = cluster::read_node(object);
  if (known == nullptr || known->labels != node.labels || known->taints != node.taints)
    cache_.fleet().put_node(std::move(node));
}

void ClusterNews::take_space(const ObjectName& name) {
  const Value object = access_.objects.find(types::spaces.kind, name);
  const Object space = space_object(cluster::meta_of(object), object);
  const Name owner = owner_called({types::spaces.kind, name});
  const Object* const known = cache_.fleet().object(owner);
  if (object.is_null())
    cache_.fleet().drop(owner);
  else if (known == nullptr || known->document != space.document)
    cache_.fleet().put(space);
}

/// Of an object. If it is gone, what is known says whose it was.
Key ClusterNews::revision_key(const ObjectName& name, const ObjectMeta& meta) const {
  const Key own = key_of_revision(edit_.environment(), name.space, name.name);
  const Key of_set = key_of_revision(edit_.environment(), {}, name.name);
  if (meta.uid.empty())
    return name.space == cluster::manager_space.view() && cache_.records().find(own) == nullptr
               ? of_set
               : own;
  return meta.owner().view().starts_with(cat(types::sidecar_sets.kind, "/")) ? of_set : own;
}

void ClusterNews::take_revision(const ObjectName& name) {
  const Value object = access_.objects.find(types::revisions.kind, name);
  const ObjectMeta meta = cluster::meta_of(object);
  const Key key = revision_key(name, meta);
  const RecordPointer known = cache_.records().find(key);
  if (object.is_null() || meta.is_leaving || !is_part(cache_.fleet(), meta)) {
    if (known != nullptr)
      for (const auto& [owner, wish] : known->wanted_by)
        access_.owners.drop_revision(owner, name.name);
    if (!edit_.is_under_way(key))
      forget(key);
    return;
  }
  auto revision = cluster::read_revision(object, meta.controller->uid);
  if (!revision)
    return complain(meta.owner(), to_string(revision.error()));
  if (known == nullptr && !edit_.is_under_way(key) && !edit_.forgotten_revisions().contains(key))
    cache_.put(key, cluster::record_of(*revision, edit_.environment()));
  access_.owners.put(*std::move(revision));
  keep_policies(meta.owner());
  // Pods may have been told of before it.
  const FleetRecords::Keys keys = cache_.records().of(meta.owner());
  for (const Key& other : keys) {
    const Value pod = other.kind == "pod"
                          ? access_.objects.find(types::pods.kind, name_of_thing(other))
                          : Value();
    if (pod.at("metadata").at("labels").text_at(workloads::label::revision) == name.name)
      open_.pods.insert(name_of_thing(other));
  }
}

void ClusterNews::take_pod(const ObjectName& name) {
  const Key key = key_of_pod(edit_.environment(), name);
  if (edit_.is_under_way(key))
    return;  // it is read when that has ended
  const Value object = access_.objects.find(types::pods.kind, name);
  const ObjectMeta meta = cluster::meta_of(object);
  const RecordPointer known = cache_.records().find(key);
  const RecordPointer failure = edit_.failure(key);
  if (known != nullptr)
    for (const auto& [owner, wish] : known->wanted_by)
      statuses_.note(owner);
  const std::vector<Name> sets_before = sidecar_sets_of(known);
  for (const Name& set : sets_before)
    statuses_.note(set);
  if (object.is_null() || !is_part(cache_.fleet(), meta)) {
    // That it could not be made is all that is known of it.
    if (failure == nullptr || failure->applied)
      forget(key);
    return;
  }
  const auto owner = access_.owners.find(meta.owner());
  const auto pod =
      cluster::read_pod(object, {edit_.environment(), cache_.fleet().driver, cache_.fleet().gates,
                                 &owner->revisions, owner->object.uid});
  if (!pod)
    return complain(meta.owner(), to_string(pod.error()));
  statuses_.note(meta.owner());
  const std::vector<Name> sets = sidecar_sets_of(pod->record);
  for (const Name& set : sets)
    statuses_.note(set);
  take_marks(*pod);
  // Whoever takes a SidecarSet out of that annotation makes it a pod without those sidecars, of
  // which nothing else is wanted: no update in place brings back what the annotation said.
  const auto is_lost = [&](const Name& set) { return std::ranges::find(sets, set) == sets.end(); };
  if (std::ranges::any_of(sets_before, is_lost)) {
    cache_.put(key, nullptr);
    vain_acts_.erase(key);
  }
  const RecordPointer record = with_failure(pod->record, failure);
  if (known != nullptr && says_the_same(*known, *record)) {
    // The same as before in vain is no success.
    const auto vain = vain_acts_.find(key);
    if (vain != vain_acts_.end() &&
        (!record->applied || vain->second.read != record->applied->attributes))
      vain_acts_.erase(vain);
  } else if (known == nullptr || !was_in_vain(key, *known, *record)) {
    cache_.put(key, record);
  }
  cache_.see(key, {.state = pod->state});
  cache_.fleet().see_node(key, pod->node);
}

/// Whether acts succeed and the pod is read as before, again and again: a server or a webhook does
/// not keep what is written, or it cannot be read. Without an end of that there would be no other
/// work.
bool ClusterNews::was_in_vain(const Key& key, const Record& known, const Record& rebuilt) {
  if (!known.applied || known.attempt || !rebuilt.applied || rebuilt.attempt)
    return false;
  VainActs& acts = vain_acts_[key];
  const Attributes& read = rebuilt.applied->attributes;
  acts = {read, acts.count > 0 && acts.read == read ? acts.count + 1 : 1};
  if (acts.count == most_vain_acts)
    place_.tell(cat("pod `", to_string(name_of_thing(key)),
                    "` does not keep what is written; it stays as it is"));
  return acts.count >= most_vain_acts;
}

/// What users have written on a pod.
void ClusterNews::take_marks(const cluster::ClusterPod& pod) {
  const Name name = name_of_marks(name_of_thing(pod.key));
  const Object* const before = cache_.fleet().object(name);
  if (!pod.marks && before != nullptr)
    cache_.fleet().drop(name);
  else if (pod.marks && (before == nullptr || before->document != pod.marks->document))
    cache_.fleet().put(*pod.marks);
}

Status ClusterNews::clear_leftovers() {
  edit_.end_run();
  notifier_.notify(Notifier::Cause::store);  // what has ended is to be read
  const std::set<Key> forgotten = edit_.forgotten_revisions();
  for (const Key& key : forgotten) {
    const ObjectName name = name_of_thing(key);
    const ObjectMeta meta = cluster::meta_of(access_.objects.find(types::revisions.kind, name));
    // That of a workload that is gone is left as well.
    const auto removed =
        meta.uid.empty() || meta.is_leaving || !is_part(cache_.fleet(), meta)
            ? kubernetes::ApiResult<Value>(Value())
            : access_.client.remove(types::revisions, name,
                                    {.urgency = kubernetes::Urgency::status, .uid = meta.uid.str()},
                                    place_.interrupt->acts_token());
    // Otherwise it is tried again after the next run.
    if (removed || removed.error().reason == kubernetes::ApiReason::not_found)
      edit_.note_removal(key);
  }
  return {};
}

}  // namespace fettle
