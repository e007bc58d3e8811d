#pragma once
/// SidecarSets: which pods get the newest revision of their sidecars now, in which order, and their
/// images ahead. The pods belong to others: what a SidecarSet decides is whose turn it is, which it
/// remembers as `turns`, and the owners of the pods act on it (`sidecars.h`).

#include "workloads/rollout.h"

namespace fettle::workloads {

Wanted want_sidecar_set(const Fleet& fleet, const Workload& workload, Time now);

/// matchedPods, updatedPods, readyPods, updatedReadyPods, latestRevision, …
Value sidecar_status(const Fleet& fleet, const Workload& workload, Time now);

}  // namespace fettle::workloads
