#pragma once
/// SidecarSets: decides which pods get the newest revision of their sidecars now, and in which
/// order, and pulls the images ahead. The pods belong to others. So a SidecarSet only decides whose
/// turn it is, and remembers that as `turns`; the owners of the pods act on it (`sidecars.h`).

#include "workloads/rollout.h"

namespace fettle::workloads {

Wanted want_sidecar_set(const Fleet& fleet, const Workload& workload, Time now);

/// matchedPods, updatedPods, readyPods, updatedReadyPods, latestRevision, …
Value sidecar_status(const Fleet& fleet, const Workload& workload, Time now);

}  // namespace fettle::workloads
