#pragma once
/// Pods that each have a number, a name and storage for life.

#include "workloads/order.h"
#include "workloads/want.h"

namespace fettle::workloads {

Wanted want_stateful_set(const Fleet& fleet, const Workload& workload, Time now);

/// The numbers of its pods, ascending: as many as there are replicas, without the reserved ones.
std::vector<int64_t> ordinals_of(const Workload& workload);

/// A pod of a StatefulSet: its number, and its row.
struct OrdinalSlot {
  int64_t ordinal;
  uint32_t row;
};

/// In which order pods have their turn, those that have had it included. `slots`: the pods that are
/// there, by number. Without a priority the highest number comes first, and the partition is the
/// lowest number that changes; with `unorderedUpdate` it is how many keep what they have.
Order sort_ordinals(const Workload& workload, std::span<const PodRow> rows,
                    std::span<const OrdinalSlot> slots);

}  // namespace fettle::workloads
