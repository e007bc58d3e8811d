#pragma once
/// How many pods of a workload may be taken away now. Every decision that takes a pod away asks:
/// an update, a recreation, a deletion that was asked for, a scale-in, a drain. It counts as
/// OpenKruise does: what is above the wanted number is free, and so is a pod that is not available,
/// since it counts already, as one does that a hook holds. A pod that nobody has seen since the
/// last act on it may be available or not: it counts as missing, and goes only where it is not
/// needed even if it is there.

#include <cstdint>

#include "workloads/pod_row.h"

namespace fettle::workloads {

class Budget {
 public:
  /// So many more may be missing; below zero: more are missing than may be.
  explicit Budget(int64_t spare) : spare_(spare) {}
  /// Of `available` pods, where `wanted` are asked for.
  Budget(int64_t available, int64_t wanted, int64_t most_unavailable)
      : Budget(available - wanted + most_unavailable) {}

  bool may_take(const PodRow& pod) const;
  /// Whether the pod may go; it has been paid for then.
  bool take(const PodRow& pod);
  int64_t spare() const { return spare_; }

 private:
  int64_t spare_;
};

}  // namespace fettle::workloads
