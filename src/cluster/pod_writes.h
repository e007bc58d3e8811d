#pragma once
/// The writes that make a pod of a cluster as it is wanted: the object of a new one, and patches
/// that lead from what is known of one to what is wanted.
///
/// An update in place is three writes:
///
/// 1. `pods/status`: the gate `InPlaceUpdateReady` closes, and with it the pod gets its stage and the
///    state of the update. Those who use it go, and nothing has stopped. What comes after the first
///    batch is not named yet, or OpenKruise would begin there.
/// 2. the pod: images and the label of the new revision; before that `pods/resize`, if it is
///    resized. With a grace period the decider wants this later.
/// 3. `pods/status`: the gate opens, and the pod has its next stage.
///
/// A sidecar that changes alone is the second write alone: images and the annotation that remembers
/// them. No gate closes, as with OpenKruise; the decider waits until the new container is seen.
///
/// The label of the revision is what commits an update. Until it is written the pod counts as one
/// of the revision before, so that a controller that dies between two writes, or one of OpenKruise
/// that takes over, begins again.
///
/// Invariants:
/// * After all writes, `read_pod` reads what was wanted. After some of them, it reads something from
///   which the decider goes on.
/// * Nothing is written that is as it should be, but for a gate that has to close when an update
///   begins: what is known of it may be out of date.
/// * Every write names the UID, so that it never meets another pod of the same name; the first one
///   names the version that was known as well. Each answer has the version for the next.

#include "cluster/pods.h"
#include "cluster/sidecars.h"

namespace fettle::cluster {

/// A strategic merge patch.
struct PodWrite {
  std::string_view subresource;  ///< empty, `status` or `resize`
  Value patch;
};

/// What does not stand in the attributes of a pod.
struct PodMaker {
  const workloads::Object* owner = nullptr;  ///< stored in the cluster
  bool marks_not_ready = false;              ///< a hook of its may close `KruisePodReady`
  HashesBySidecarSet hashes{};
};

/// The object of a new pod. Its gates are opened by `gates_write` once it is there.
Value pod_object(const Attributes& wanted, const PodMaker& maker);

/// Writes the conditions of all gates of a pod that lacks some.
PodWrite gates_write(const Attributes& wanted, const Value& object, Time now);

/// Leads from what is known of a pod, as it was read from `object`, to what is wanted; empty:
/// nothing is to be written. The pod is one that changes in place (`Kind::in_place_changes`).
std::vector<PodWrite> pod_writes(const Attributes& known, const Attributes& wanted,
                                 const Value& object,
                                 const std::vector<ControllerRevision>& revisions, Time now,
                                 const HashesBySidecarSet& hashes = {});

}  // namespace fettle::cluster
