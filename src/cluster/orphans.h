#pragma once
/// Pods and revisions that nobody manages and that a workload takes over: those of a set that was
/// deleted without them (`kubectl delete --cascade=orphan`), or that users have taken from one.
///
/// As with OpenKruise, StatefulSets and DaemonSets take over what their selector matches, and a
/// StatefulSet only pods with one of its names. A CloneSet does not: its pods can have any name, so
/// it makes others.

#include <vector>

#include "cluster/objects.h"
#include "kubernetes/object_cache.h"

namespace fettle::cluster {

/// The orphans of one workload, or those that may be somebody's.
struct Orphans {
  std::vector<Value> revisions, pods;
  bool empty() const { return revisions.empty() && pods.empty(); }
};

/// Whether nobody manages an object, and it stays.
bool is_orphan(const ObjectMeta& meta);
/// Whether a workload takes over an orphan, a pod or a revision (`is_pod`).
bool takes_over(const workloads::Workload& workload, const Value& object, bool is_pod);
/// Whether a revision belonged to a workload of the owner's name that is gone, as far as is known,
/// and this one would take it over: it may have become an orphan, and no watch has told yet.
bool may_be_left_for(const workloads::Object& owner, const Value& revision);
/// All that nobody manages.
Orphans orphans_in(const kubernetes::ObjectCache& objects);
/// Those of a list that a workload takes over.
Orphans orphans_for(const workloads::Workload& workload, const Orphans& all);

/// The change that makes an object an owner's (a strategic patch). It is refused for another object
/// of this name.
Value change_of_owner(const ObjectMeta& meta, const workloads::Object& owner);
/// An object as it is after that.
Value taken_over(const Value& object, const workloads::Object& owner);

}  // namespace fettle::cluster
