#pragma once
/// The part of a pod that comes from a SidecarSet: containers, init containers and volumes,
/// together with what the pod's own containers lend them (`shareVolumePolicy`, `transferEnv`).
///
/// A container `log` with `upgradeType: HotUpgrade` is two in the pod, `log-1` and `log-2`: one
/// works, the other runs the empty image. An update takes two steps. First the idle one gets the
/// new image and works; once both are ready, the one that worked before *leaves*: it gets the empty
/// image. Each learns from `SIDECARSET_VERSION` and `SIDECARSET_VERSION_ALT` which is newer.

#include "workloads/rollout.h"

namespace fettle::workloads {

/// The next part of a pod from a SidecarSet: {"name", "revision", "containers", "initContainers",
/// "volumes", "imagePullSecrets", "before", "annotations", "working": {container: the one of the
/// two that works}, "leaving": {one of the two: its empty image}}. `before`: the present part;
/// null: there is none. A set may have only one of the two lists of containers, and a part that is
/// read from a pod may have any. In a cluster it also gets "last": {container: {"image_id",
/// "container_id"}}: what those were whose image changed last (`sidecars.h`).
Value sidecar_of(const Workload& set, const Revision& revision, const Value& pod_template,
                 const Value& before = {});
/// Whether the second step of a hot upgrade is still to come.
bool has_leaving(const Value& sidecar);
/// The part after that step.
Value without_leaving(const Value& sidecar);
/// All parts of a pod from SidecarSets, with the annotation that says which containers work.
Value joined_sidecars(std::vector<Value> sidecars);
/// The annotations with the versions that one of two hot containers knows: its own one, and that of
/// the other one.
Name version_key(const Name& container);
Name other_version_key(const Name& container);
/// The template that a pod's part was made from.
Value sidecar_template(const Value& sidecar);

}  // namespace fettle::workloads
