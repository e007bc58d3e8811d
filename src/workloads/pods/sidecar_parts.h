#pragma once
/// What a pod gets of a SidecarSet: its containers, init containers and volumes, with what the
/// pod's own containers lend them (`shareVolumePolicy`, `transferEnv`).
///
/// A container `log` with `upgradeType: HotUpgrade` is two in the pod, `log-1` and `log-2`: one
/// works, the other runs the empty image. An update takes two steps. First the idle one gets the
/// new image and works; once both are ready, the one that worked before *leaves*: it gets the empty
/// image. Each learns from `SIDECARSET_VERSION` and `SIDECARSET_VERSION_ALT` which is newer.

#include "workloads/rollout.h"

namespace fettle::workloads {

/// What a pod is to have of a SidecarSet next: {"name", "revision", "containers", "initContainers",
/// "volumes", "before", "annotations", "working": {container: the one of the two that works},
/// "leaving": {one of the two: its empty image}}. `before`: what it has of the set; null: nothing.
Value sidecar_of(const Workload& set, const Revision& revision, const Value& pod_template,
                 const Value& before = {});
/// Whether the second step of a hot upgrade is still to come.
bool has_leaving(const Value& sidecar);
/// After that step.
Value without_leaving(const Value& sidecar);
/// All that a pod has of SidecarSets, with the annotation that says which containers work.
Value joined_sidecars(std::vector<Value> sidecars);
/// The template that a pod's part was made of.
Value sidecar_template(const Value& sidecar);

}  // namespace fettle::workloads
