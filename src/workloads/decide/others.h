#pragma once
/// Pods of others in a namespace of a cluster: their sidecars change in place when their turn
/// comes, and nothing else about them ever does.
///
/// To let each SidecarSet change the pods by itself would be the obvious way. Then two sets would
/// want the same pod as two different things. So a SidecarSet gives turns to these pods as it does
/// to others (`sidecar_set.h`), and whoever owns the pods acts on that. Their owner is no workload:
/// it makes no pod and removes none, and wants each of them as it is.

#include "workloads/fleet.h"
#include "workloads/wanted.h"

namespace fettle::workloads {

Wanted want_others(const Fleet& fleet, const Name& owner, Time now);

}  // namespace fettle::workloads
