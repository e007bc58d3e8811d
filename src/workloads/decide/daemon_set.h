#pragma once
/// One pod on each node for which it is meant.

#include "workloads/decide/want.h"
#include "workloads/rollout.h"

namespace fettle::workloads {

Wanted want_daemon_set(const Fleet& fleet, const Workload& workload, Time now);

/// How many nodes have come how far. A node has an updated, ready or available pod if any of its
/// pods is.
struct NodeCounts {
  int64_t desired = 0, current = 0, updated = 0, ready = 0, available = 0;
  int64_t misscheduled = 0;     ///< nodes with a pod that shall have none
  std::vector<Name> away = {};  ///< nodes that lack a pod and do not answer
};
NodeCounts node_counts(const Rollout& rollout);

}  // namespace fettle::workloads
