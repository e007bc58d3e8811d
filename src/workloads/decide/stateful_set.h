#pragma once
/// Pods that each have a number, a name and storage for life.

#include "workloads/decide/want.h"
#include "workloads/order.h"

namespace fettle::workloads {

Wanted want_stateful_set(const Fleet& fleet, const Workload& workload, Time now);

/// How many pods of a StatefulSet may be unavailable: one if they are updated in order; in parallel
/// the number that is asked for, rounded down, and at least one.
int64_t most_unavailable_of_ordinals(const Workload& workload);

/// The numbers of its pods, ascending: as many as there are replicas, without the reserved ones.
std::vector<int64_t> ordinals_of(const Workload& workload);

/// A pod of a StatefulSet: how many of the wanted numbers are lower than its own, and its row.
struct OrdinalSlot {
  int64_t place;
  uint32_t row;
};

/// The order in which pods have their turn, including those that have had it. `slots`: the pods
/// that are there, by number. Without a priority, the highest number comes first, and the partition
/// says how many of the lowest stay as they are. With `unorderedUpdate` it says how many of all
/// stay. `coming`: missing pods that will come with the update revision, and count as changed.
Order sort_ordinals(const Workload& workload, std::span<const PodRow> rows,
                    std::span<const OrdinalSlot> slots, int64_t coming = 0);

}  // namespace fettle::workloads
