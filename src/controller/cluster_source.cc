#include "controller/cluster_source.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "cluster/claims.h"
#include "cluster/names.h"
#include "cluster/orphans.h"
#include "cluster/others.h"
#include "cluster/revisions.h"
#include "cluster/status.h"
#include "cluster/types.h"
#include "controller/cluster_reader.h"
#include "controller/fleet_cache.h"
#include "controller/notifier.h"
#include "controller/rebuilt_record.h"
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
/// What stays as it was written for so long was not written in vain.
constexpr Duration vain_time = 1min;
/// If nothing else is to be done: a minute is long, and short beside a lost call.
constexpr Duration longest_quiet = 1min;

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

/// Whether the template of a pod is stored no more, which is no change of the pod.
bool has_lost_template(const Record* known, const cluster::Owner& owner, const Value& pod) {
  const std::string_view label =
      pod.at("metadata").at("labels").text_at(workloads::label::revision);
  if (known == nullptr || !known->applied ||
      cluster::revision_of_label(owner.revisions, label) != nullptr)
    return false;
  const Name before = read_one<&Pod::revision>(known->applied->attributes).get();
  return before == label || workloads::hash_of_revision(before) == label;
}

}  // namespace

Result<std::unique_ptr<FleetView>> ClusterSource::learn() {
  TRY(access_.objects.await_sync(place_.interrupt->acts_token()));
  (void)access_.objects.take_changed();
  edit_.begin_anew();
  auto view = std::make_unique<FleetView>(environment());
  view->fleet.driver = cluster::driver_name;
  view->fleet.is_cluster = true;
  view->fleet.gates = gates_;
  view->fleet.acts_at_once = acts_at_once_for(access_.client.settings());
  // Without NodeImages, nothing brings images to the nodes.
  if (!access_.objects.follows(types::node_images.kind))
    view->fleet.gates.pre_download = view->fleet.gates.pre_download_daemon_set = false;
  read_cluster(place_, access_, *view);
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
      statuses_(
          access.client, access.objects, [&notifier] { notifier.notify(Notifier::Cause::store); },
          access.copies),
      pulls_(access, edit, cache, statuses_),
      injection_(access, [&notifier] { notifier.notify(Notifier::Cause::store); }),
      adoptions_(access.client, access.objects,
                 [&notifier] { notifier.notify(Notifier::Cause::store); }) {}

ClusterNews::~ClusterNews() { access_.objects.listen({}); }

void ClusterNews::listen() {
  notifier_.expect_calls();
  access_.objects.listen([this] { notifier_.notify(Notifier::Cause::store); });
  notifier_.notify(Notifier::Cause::store);  // about what came before
}

Status ClusterNews::learn() {
  TRY(cache_.learn());
  open_ = {};
  manifests_.clear();
  pulls_.learn();
  injection_.note_all(cache_.fleet());
  for (const Name& owner : cache_.view().owners)
    statuses_.note(owner);
  for (const kubernetes::ResourceType& type : types::workloads)
    for (const Value& object : access_.objects.all(type.kind)) {
      const ObjectKey key{type.kind, name_of_object(cluster::meta_of(object))};
      if (cache_.fleet().object(owner_called(key)) == nullptr && is_workload(object, type))
        open_.workloads.insert(key);
    }
  return {};
}

bool ClusterNews::Open::is_any() const {
  return !workloads.empty() ||
         std::ranges::any_of(
             std::array{&spaces, &nodes, &revisions, &claims, &jobs, &node_images, &pods},
             [](const auto* names) { return !names->empty(); });
}

Result<FleetNews::News> ClusterNews::hear() {
  (void)notifier_.take(Notifier::Cause::store);
  gather();
  gather_ended();
  const bool is_any = open_.is_any();
  const bool has_wishes = take_opened();
  for (const std::string& refusal : statuses_.take_refusals())
    place_.tell(refusal);
  for (const std::string& refusal : adoptions_.take_refusals())
    place_.tell(refusal);
  for (const Name& owner : injection_.refresh(cache_.fleet(), place_.clock()))
    statuses_.note(owner);
  statuses_.refresh(cache_.fleet(), place_.clock(), {injection_.conditions(), not_read_});
  pulls_.refresh(place_.clock());
  return has_wishes ? News::wishes : is_any ? News::some : News::none;
}

/// Nodes and workloads come first and pods last, since pods are read with their workload and its
/// revisions, and orders with their jobs. Returns whether users want something else.
bool ClusterNews::take_opened() {
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
  for (const ObjectName& name : std::exchange(open_.jobs, {}))
    has_wishes |= take_job(name);
  for (const ObjectName& name : std::exchange(open_.node_images, {}))
    pulls_.take_node_image(name);
  for (const ObjectName& name : std::exchange(open_.pods, {}))
    take_pod(name);
  return has_wishes;
}

void ClusterNews::gather() {
  for (const ObjectKey& key : access_.objects.take_changed()) {
    forgive_if_gone(key);
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
    else if (key.kind == types::pull_jobs.kind)
      open_.jobs.insert(key.name);
    else if (key.kind == types::node_images.kind)
      open_.node_images.insert(key.name);
    else if (key.kind == types::policies.kind || key.kind == types::policy_bindings.kind)
      injection_.note_policy(key.name.name);
    else
      open_.workloads.insert(key);
  }
}

void ClusterNews::gather_ended() {
  for (const Name& owner : adoptions_.take_ended(instant_from_clock()))
    if (const Object* const known = cache_.fleet().object(owner))
      (void)takes_over_orphans(*known, false);
    else
      open_.workloads.insert(cluster::object_of_owner(owner));
  for (const Key& key : edit_.take_ended())
    if (key.kind == "pod") {
      note_owners_of(cache_.records().find(key));
      open_.pods.insert(name_of_thing(key));
    } else if (key.kind == "revision")
      open_.revisions.insert(name_of_thing(key));
    else if (key.kind == "claim")
      open_.claims.insert(name_of_thing(key));
    else if (key.kind == "pull_job")
      open_.jobs.insert(name_of_thing(key));
    else if (key.kind == "image")
      open_.node_images.insert(pulls_.note_end(key));
}

/// Something may have waited for that name.
void ClusterNews::forgive_if_gone(const ObjectKey& key) {
  const Key thing = key.kind == types::pods.kind     ? key_of_pod(edit_.environment(), key.name)
                    : key.kind == types::claims.kind ? key_of_claim(edit_.environment(), key.name)
                    : key.kind == types::revisions.kind ? revision_key(key.name, {})
                    : key.kind == types::pull_jobs.kind ? key_of_job(edit_.environment(), key.name)
                                                        : Key();
  if (!thing.kind.empty() && access_.objects.find(key.kind, key.name).is_null())
    edit_.failed_acts().forgive(thing, instant_from_clock());
}

Instant ClusterNews::due() const {
  if (cache_.wishes().has_expired() && access_.objects.follows(types::node_images.kind))
    return instant_from_clock();  // they are deleted when news are heard
  const Instant quiet = instant_from_clock() + longest_quiet;
  return std::min({statuses_.due().value_or(quiet), pulls_.due().value_or(quiet),
                   injection_.due().value_or(quiet), adoptions_.due().value_or(quiet),
                   edit_.removal_due().value_or(quiet)});
}

bool ClusterNews::take_workload(const ObjectKey& key) {
  const Name owner = owner_called(key);
  const Value object = access_.objects.find(key.kind, key.name);
  const Object* const known = cache_.fleet().object(owner);
  const ObjectMeta meta = cluster::meta_of(object);
  const bool was_known = known != nullptr;
  const bool is_there = !object.is_null() && is_workload(object, types::workload_of_kind(key.kind));
  const bool is_new = !was_known || !is_there || known->uid != meta.uid;
  if (was_known && is_new)
    leave(owner);
  if (!is_there) {
    note_injection(owner);
    open_pods_of_others(owner);
    looked_for_left_.erase(owner);
    adoptions_.forget(owner);
    manifests_.erase(owner);
    complaints_.erase(owner);
    not_read_.erase(owner);
    return was_known;
  }
  statuses_.note(owner);
  const Digest manifest = cluster::digest_of_manifest(object, types::workload_of_kind(key.kind));
  if (std::exchange(manifests_[owner], manifest) == manifest)
    return false;
  Result<Object> workload = cluster::read_workload(object, types::workload_of_kind(key.kind));
  if (!workload) {
    const std::string why = to_string(workload.error());
    not_read_[owner] = cat("the manifest is not followed: ", why);
    complain(owner, why);
    return false;
  }
  complaints_.erase(owner);
  not_read_.erase(owner);
  if (const auto before = access_.owners.find(owner))
    workload = cluster::with_known_policies(*std::move(workload), before->revisions);
  if (!is_new && known->document == workload->document && known->generation == workload->generation)
    return false;
  if (is_new && takes_over_orphans(*workload, true)) {
    manifests_.erase(owner);
    return was_known;
  }
  access_.owners.put(*workload);
  cache_.fleet().put(*std::move(workload));
  edit_.failed_acts().forgive_all_of(owner, instant_from_clock());
  statuses_.forget_refusal(owner);
  note_injection(owner);
  open_pods_of_others(owner);
  if (is_new)
    open_all_of(owner);
  return true;
}

/// A SidecarSet or its revisions have changed.
void ClusterNews::note_injection(const Name& owner) {
  if (const ObjectKey key = cluster::object_of_owner(owner); key.kind == types::sidecar_sets.kind)
    injection_.note(key.name.name);
}

/// What others have of a SidecarSet is read with the set and its revisions.
void ClusterNews::open_pods_of_others(const Name& owner) {
  const ObjectKey key = cluster::object_of_owner(owner);
  if (key.kind != types::sidecar_sets.kind)
    return;
  for (const Value& object : access_.objects.all(types::pods.kind))
    if (const ObjectMeta meta = cluster::meta_of(object);
        cluster::has_sidecars_of(object, key.name.name) && cluster::is_pod_of_others(meta))
      open_.pods.insert(name_of_object(meta));
}

/// Begins to take over what nobody manages. False: there is nothing.
bool ClusterNews::takes_over_orphans(const Object& set, bool is_new) {
  cluster::Orphans orphans =
      orphans_for(workloads::workload_of(set), cluster::orphans_in(access_.objects));
  // Without the revision that a set of its name has left, it would make another one, and update the
  // pods that are left to that.
  if (is_new && std::exchange(looked_for_left_[set.owner()], set.uid) != set.uid)
    for (const Value& revision : access_.objects.all(types::revisions.kind))
      if (cluster::may_be_left_for(set, revision))
        orphans.revisions.push_back(revision);
  if (orphans.empty()) {
    adoptions_.forget(set.owner());
    return false;
  }
  adoptions_.begin(set, std::move(orphans));
  return true;
}

/// Users have taken it out of its workload. If they do not want that it comes back, they change its
/// labels as well.
void ClusterNews::take_over(const Value& orphan, bool is_pod) {
  const ObjectMeta meta = cluster::meta_of(orphan);
  const auto& workloads = cache_.fleet().workloads();
  for (const auto& type : {types::stateful_sets, types::daemon_sets}) {
    const std::string prefix = cat(type.kind, "/", meta.space, "/");
    for (auto each = workloads.lower_bound(Name(prefix));
         each != workloads.end() && each->first.view().starts_with(prefix); ++each) {
      if (!cluster::takes_over(*each->second, orphan, is_pod))
        continue;
      cluster::Orphans orphans;
      (is_pod ? orphans.pods : orphans.revisions).push_back(orphan);
      return adoptions_.begin(*cache_.fleet().object(each->first), std::move(orphans));
    }
  }
}

/// It is deleted, or about to be. What it has is the matter of the garbage collector, which removes
/// it or, if users want that, leaves it to nobody.
void ClusterNews::leave(const Name& owner) {
  const FleetRecords::Keys keys = cache_.records().of(owner);
  for (const Key& key : keys) {
    forget(key);
    edit_.forget(key);
  }
  access_.owners.drop(owner);
  cache_.fleet().drop(owner);
  cache_.wishes().forget_expired(owner);
  complaints_.erase(owner);
  manifests_.erase(owner);
  statuses_.forget_refusal(owner);
  adoptions_.forget(owner);
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
  const size_t jobs_before = open_.jobs.size();
  for (const Value& object : access_.objects.all(types::pull_jobs.kind))
    if (const ObjectMeta meta = cluster::meta_of(object); cluster::workload_of_job(meta) == owner)
      open_.jobs.insert(name_of_object(meta));
  if (open_.jobs.size() > jobs_before)
    for (const Value& object : access_.objects.all(types::node_images.kind))
      if (std::ranges::any_of(cluster::jobs_in(object),
                              [&](const ObjectName& job) { return open_.jobs.contains(job); }))
        open_.node_images.insert(name_of_object(cluster::meta_of(object)));
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
    if (known == nullptr || edit_.failure(key) != nullptr)
      return;
    // Whoever has taken it, or deletes it, may do so again at once.
    if (!object.is_null() && known->applied && !known->attempt)
      edit_.failed_acts().fail(key, *known, true, instant_from_clock());
    forget(key);
    return;
  }
  const RecordPointer record = cluster::record_of(*claim, meta, edit_.environment());
  if (known != nullptr && says_the_same(*known, *record))
    return;
  if (known != nullptr && edit_.failure(key) == nullptr && was_changed(*known, *record))
    cache_.renew(*known);
  cache_.meet(key, record);
}

void ClusterNews::complain(const Name& owner, std::string why) {
  std::string& last = complaints_[owner];
  if (last == why)
    return;
  place_.tell(why);
  last = std::move(why);
}

/// Something is not there any more, or is nobody's.
void ClusterNews::forget(const Key& key) {
  cache_.lose(key);
  vain_acts_.erase(key);
  if (key.kind == "pod" && key == key_of_pod(edit_.environment(), name_of_thing(key)))
    cache_.fleet().drop(name_of_marks(name_of_thing(key)));
}

/// A kubelet writes often, and most of it is nothing to a DaemonSet.
void ClusterNews::take_node(const ObjectName& name) {
  pulls_.note_node(name.name);
  const Value object = access_.objects.find(types::nodes.kind, name);
  const workloads::Node* const known = cache_.fleet().node(name.name);
  if (object.is_null()) {
    if (known != nullptr)
      cache_.fleet().drop_node(name.name);
    return;
  }
  workloads::Node node = cluster::read_node(object);
  if (known != nullptr)
    node.images = known->images;
  else
    open_.node_images.insert(name);
  if (known == nullptr || known->labels != node.labels || known->taints != node.taints ||
      known->pulls_ahead != node.pulls_ahead)
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
  else
    return;
  for (const Name& set : cache_.fleet().sidecar_sets())
    statuses_.note(set);
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
      for (const auto& [owner, wish] : known->wanted_by) {
        access_.owners.drop_revision(owner, name.name);
        note_injection(owner);
      }
    if (!edit_.is_under_way(key))
      forget(key);
    if (!object.is_null() && cluster::is_orphan(meta))
      take_over(object, false);
    return;
  }
  auto revision = cluster::read_revision(object, meta.controller->uid);
  if (!revision)
    return complain(meta.owner(), to_string(revision.error()));
  if (known == nullptr && !edit_.is_under_way(key) && !edit_.forgotten().contains(key))
    cache_.meet(key, cluster::record_of(*revision, edit_.environment()));
  const auto owner = access_.owners.find(meta.owner());
  const bool is_met_first =
      owner != nullptr && cluster::revision_of_label(owner->revisions, name.name) == nullptr;
  if (is_met_first)  // pods wait for it
    edit_.failed_acts().forgive_all_of(meta.owner(), instant_from_clock());
  access_.owners.put(*std::move(revision));
  if (is_met_first)
    open_pods_of_others(meta.owner());
  keep_policies(meta.owner());
  note_injection(meta.owner());
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
  take_pod_of_others(name);
  const Key key = key_of_pod(edit_.environment(), name);
  if (edit_.is_under_way(key))
    return;  // it is read when that has ended
  const Value object = access_.objects.find(types::pods.kind, name);
  const ObjectMeta meta = cluster::meta_of(object);
  const RecordPointer known = cache_.records().find(key);
  const RecordPointer failure = edit_.failure(key);
  if (object.is_null() || !is_part(cache_.fleet(), meta)) {
    note_owners_of(known);
    if (!object.is_null() && cluster::is_orphan(meta))
      take_over(object, true);
    // That it could not be made is all that is known of it.
    if (failure != nullptr && !failure->applied)
      return;
    forget(key);
    if (failure != nullptr)
      edit_.forget(key);
    return;
  }
  const auto owner = access_.owners.find(meta.owner());
  const auto pod =
      cluster::read_pod(object, {edit_.environment(), cache_.fleet().driver, cache_.fleet().gates,
                                 &owner->revisions, owner->object.uid});
  if (!pod)
    return complain(meta.owner(), to_string(pod.error()));
  take_marks(*pod);
  const bool is_known = has_lost_template(known.get(), *owner, object);
  if (!put_pod(*pod, is_known ? known : with_failure(pod->record, failure)))
    return;
  note_owners_of(known);
  note_sets_of(pod->record);
  statuses_.note(meta.owner());
}

/// The status of a workload counts its pods, and that of a SidecarSet those that it is in.
void ClusterNews::note_owners_of(const RecordPointer& pod) {
  if (pod != nullptr)
    for (const auto& [owner, wish] : pod->wanted_by)
      statuses_.note(owner);
  note_sets_of(pod);
}

void ClusterNews::take_pod_of_others(const ObjectName& name) {
  const Key key{edit_.environment(), "pod", workloads::key_name_of_others(name.space, name.name)};
  if (edit_.is_under_way(key))
    return;
  const auto pod =
      cluster::read_pod_of_others(access_.objects.find(types::pods.kind, name),
                                  {edit_.environment(), cache_.fleet().driver, access_.owners});
  const RecordPointer known = cache_.records().find(key);
  const bool is_another = pod && known != nullptr && known->remote_id != pod->record->remote_id;
  if (known != nullptr && (!pod || is_another)) {
    note_sets_of(known);
    forget(key);
    edit_.forget(key);
  }
  if (!pod)
    return;
  // What has failed says nothing of a pod that others have changed since.
  if (const RecordPointer failure = edit_.failure(key);
      failure != nullptr && was_changed(*failure, *pod->record))
    edit_.forget(key);
  if (!put_pod(*pod, with_failure(pod->record, edit_.failure(key))))
    return;
  note_sets_of(known);
  note_sets_of(pod->record);
}

/// Notes what is known of a pod by now. Returns whether that may matter to anybody.
bool ClusterNews::put_pod(const cluster::ClusterPod& pod, const RecordPointer& record) {
  const Key& key = pod.key;
  const RecordPointer known = cache_.records().find(key);
  bool is_news = known == nullptr || known->remote_id != record->remote_id;
  if (known != nullptr && says_the_same(*known, *record)) {
    end_vain_acts(key, *record);
  } else if (known == nullptr || !was_in_vain(key, *known, *record)) {
    const bool is_changed =
        known != nullptr && edit_.failure(key) == nullptr && was_changed(*known, *record);
    cache_.put(key, record);
    is_news = true;
    if (known == nullptr)
      edit_.forget(key);  // it is another one, or was taken over
    if (is_changed) {
      cache_.fleet().let_be(key);
      cache_.renew(*known);
      edit_.failed_acts().forgive(key, instant_from_clock());
    }
  }
  is_news |= cache_.see(key, {.state = pod.state});
  is_news |= cache_.fleet().see_node(key, pod.node);
  return is_news;
}

/// The status of a SidecarSet counts its pods.
void ClusterNews::note_sets_of(const RecordPointer& pod) {
  for (const Name& set : sidecar_sets_of(pod))
    statuses_.note(set);
}

/// Whether acts succeed and the pod is read as before, again and again: a server or a webhook does
/// not keep what is written, or it cannot be read. Without an end of that there would be no other
/// work.
bool ClusterNews::was_in_vain(const Key& key, const Record& known, const Record& rebuilt) {
  if (!known.applied || known.attempt || !rebuilt.applied || rebuilt.attempt)
    return false;
  VainActs& acts = vain_acts_[key];
  const Attributes& read = rebuilt.applied->attributes;
  acts = {read, acts.count > 0 && acts.read == read ? acts.count + 1 : 1, instant_from_clock()};
  if (acts.count == most_vain_acts)
    place_.tell(cat("pod `", to_string(name_of_thing(key)),
                    "` does not keep what is written; it stays as it is"));
  return acts.count >= most_vain_acts;
}

/// It is as it was written. The same as before in vain is no success, and nor is what somebody
/// else changes again at once.
void ClusterNews::end_vain_acts(const Key& key, const Record& read) {
  const auto vain = vain_acts_.find(key);
  if (vain != vain_acts_.end() &&
      (!read.applied || vain->second.read != read.applied->attributes) &&
      instant_from_clock() - vain->second.last > vain_time)
    vain_acts_.erase(vain);
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

/// One of a user is a workload as well. Returns whether users want something else.
bool ClusterNews::take_job(const ObjectName& name) {
  const ObjectKey key{types::pull_jobs.kind, name};
  const ObjectMeta meta = cluster::meta_of(access_.objects.find(key.kind, name));
  const bool was_of_user = cache_.fleet().object(user_of_job(name)) != nullptr;
  const bool is_of_user = !meta.uid.empty() && cluster::workload_of_job(meta).empty();
  const bool has_wishes = (was_of_user || is_of_user) && take_workload(key);
  if (was_of_user && !is_of_user && !meta.uid.empty())  // its orders are another's now
    for (const Value& object : access_.objects.all(types::node_images.kind))
      open_.node_images.insert(name_of_object(cluster::meta_of(object)));
  pulls_.take_job(name);
  return has_wishes;
}

/// That of a workload that is gone is left as well. False: the server has refused it.
bool ClusterNews::remove_forgotten(const Key& key) {
  const bool is_job = key.kind == "pull_job";
  const kubernetes::ResourceType& type = is_job ? types::pull_jobs : types::revisions;
  const ObjectName name = name_of_thing(key);
  const ObjectMeta meta = cluster::meta_of(access_.objects.find(type.kind, name));
  const bool is_ours = is_job ? is_of_rollout(cache_.fleet(), meta) : is_part(cache_.fleet(), meta);
  if (meta.uid.empty() || meta.is_leaving || !is_ours)
    return true;
  const auto removed = access_.client.remove(
      type, name, {.urgency = kubernetes::Urgency::status, .uid = meta.uid.str()},
      place_.interrupt->acts_token());
  return removed || removed.error().reason == kubernetes::ApiReason::not_found;
}

Status ClusterNews::clear_leftovers() {
  edit_.end_run();
  notifier_.notify(Notifier::Cause::store);  // what has ended is to be read
  remove_all_forgotten(instant_from_clock());
  return {};
}

Status ClusterNews::clear_leftovers_again() {
  const Instant now = instant_from_clock();
  if (edit_.removal_due().value_or(Instant::max()) <= now)
    remove_all_forgotten(now);
  return {};
}

void ClusterNews::remove_all_forgotten(Instant now) {
  const std::set<Key> forgotten = edit_.forgotten();
  for (const Key& key : forgotten) {
    if (!edit_.may_remove(key, now))
      continue;
    if (remove_forgotten(key))
      edit_.note_removal(key);
    else
      edit_.note_refusal(key, instant_from_clock());
  }
}

}  // namespace fettle
