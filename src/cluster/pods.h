#pragma once
/// What a Pod object says: the record of the pod as an act of ours would have left it, and what was
/// seen of it.
///
/// In a cluster nobody writes records, for the objects are all that outlives a controller, and
/// another controller, a user or a webhook may have written them. So a record is rebuilt from an
/// object each time that it changes. The rule: whatever a decision wanted, once it is written
/// (`pod_writes.h`), is read here as exactly that, so that nothing is left to do.
///
/// * The template is the one of the revision in the label, not what stands in the PodSpec: servers
///   fill in defaults, webhooks add containers and rewrite images, and none of that is a wish.
/// * What it has from SidecarSets stands in an annotation of ours (`sidecars.h`).
/// * An update of which only the first write was made, and one that drains, look alike: the state
///   names another revision than the label. It is read as one that drains, which goes on when its
///   grace is over.
/// * A pod whose readiness gates have no condition is not made completely: a server takes no status
///   with a new object.
/// * Labels, annotations and finalizers that others wrote are marks of users, as the fleet knows
///   them, and stand in the attributes as well: they need no act.
/// * A pod has no node in its key. Who chooses the node is the scheduler, and it is observed.

#include <span>

#include "cluster/revisions.h"
#include "workloads/fleet.h"

namespace fettle::cluster {

struct PodContext {
  Name environment;
  Name driver;
  workloads::Gates gates;
  const std::vector<ControllerRevision>* revisions = nullptr;  ///< of its owner
  Name owner_uid{};  ///< as the owner is stored; empty: it is not known
};

struct ClusterPod {
  Key key;
  RecordPointer record;
  State state;
  Name node;  ///< empty: it is not scheduled yet
  std::optional<workloads::Object> marks;
};

/// Error (`Blame::world`): no workload manages it, or another one than the owner of the context.
Result<ClusterPod> read_pod(const Value& object, const PodContext& context);

/// The readiness gates of a PodSpec that this controller sets.
std::vector<Name> own_gates(const Value& spec);

/// Annotations that this controller keeps on pods beside those of a decision.
bool is_bookkeeping(std::string_view annotation);

}  // namespace fettle::cluster
