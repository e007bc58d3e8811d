#include "controller/cluster_reader.h"

#include "cluster/claims.h"
#include "cluster/orphans.h"
#include "cluster/others.h"
#include "cluster/pull_jobs.h"
#include "cluster/revisions.h"
#include "cluster/status.h"
#include "cluster/types.h"
#include "controller/cluster_pulls.h"

namespace fettle {
namespace {

using cluster::ObjectMeta;
using workloads::Fleet;
using workloads::Object;
namespace types = cluster::types;

/// Fills a view with all that there is.
class ClusterReader {
 public:
  ClusterReader(const Workplace& place, const ClusterAccess& access, FleetView& view)
      : place_(place), access_(access), view_(view) {}

  void read() {
    access_.owners.clear();
    orphans_ = cluster::orphans_in(access_.objects);
    for (const Value& object : access_.objects.all(types::nodes.kind))
      view_.fleet.put_node(cluster::read_node(object));
    for (const Value& object : access_.objects.all(types::spaces.kind))
      view_.fleet.put(space_object(cluster::meta_of(object), object));
    for (const kubernetes::ResourceType& type : types::workloads)
      for (const Value& object : access_.objects.all(type.kind))
        if (is_workload(object, type))
          read_workload(object, type);
    read_revisions();
    read_claims();
    for (const RecordPointer& record : records_of_jobs(access_.objects, view_.fleet))
      know(record->applied->key, record);
    read_pods();
  }

 private:
  void read_workload(const Value& object, const kubernetes::ResourceType& type) {
    const Result<Object> workload = cluster::read_workload(object, type);
    // Others are taken in later (`ClusterNews::take_workload`).
    if (!workload || !orphans_for(workloads::workload_of(*workload), orphans_).empty())
      return;
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
      if (!is_part(fleet, meta)) {
        if (auto other = cluster::read_pod_of_others(
                object, {fleet.environment(), fleet.driver, access_.owners}))
          pods.push_back(*std::move(other));
        continue;
      }
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
  cluster::Orphans orphans_;
};

}  // namespace

void read_cluster(const Workplace& place, const ClusterAccess& access, FleetView& view) {
  ClusterReader(place, access, view).read();
}

kubernetes::ObjectName name_of_object(const ObjectMeta& meta) {
  return {meta.space.str(), meta.name.str()};
}

Object space_object(const ObjectMeta& meta, const Value& object) {
  Object space;
  space.kind = types::spaces.kind;
  space.name = meta.name;
  space.uid = meta.uid;
  space.document =
      Value::dict({{"metadata", Value::dict({{"labels", object.at("metadata").at("labels")}})}});
  return space;
}

bool is_part(const Fleet& fleet, const ObjectMeta& meta) {
  if (!meta.controller)
    return false;
  const Object* const owner = fleet.object(meta.owner());
  return owner != nullptr && owner->uid == meta.controller->uid;
}

bool is_part(const Fleet& fleet, const ObjectMeta& meta, const VolumeClaim& claim) {
  return !meta.is_leaving && fleet.object(claim.owner.get()) != nullptr &&
         (claim.retain.get() || is_part(fleet, meta));
}

bool is_workload(const Value& object, const kubernetes::ResourceType& type) {
  const ObjectMeta meta = cluster::meta_of(object);
  const bool is_job = type == types::pull_jobs;
  return !meta.is_leaving && (!is_job || cluster::workload_of_job(meta).empty());
}

}  // namespace fettle
