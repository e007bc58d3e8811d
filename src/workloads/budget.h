#pragma once
/// How many pods of a workload may be taken away now.
/// Every decision that takes a pod away asks here: an update, a recreation, a requested deletion, a
/// scale-in, a drain. It counts as OpenKruise does. Pods above the wanted number are free. A pod
/// that is not available is free, too, since it counts as missing already; so does a pod that a
/// hook holds. A pod that nobody has seen since the last act on it may be available or not. It
/// counts as missing, and goes only where it would not be needed even if it were there.

#include <cstdint>

#include "workloads/pod_row.h"

namespace fettle::workloads {

class Budget {
 public:
  /// `spare`: how many more may be missing. Below zero: more are missing than may be.
  explicit Budget(int64_t spare) : spare_(spare) {}
  /// For `available` pods, where `wanted` are asked for.
  Budget(int64_t available, int64_t wanted, int64_t most_unavailable)
      : Budget(available - wanted + most_unavailable) {}

  bool may_take(const PodRow& pod) const;
  /// Returns whether the pod may go. If so, it has been paid for.
  bool take(const PodRow& pod);
  int64_t spare() const { return spare_; }

 private:
  int64_t spare_;
};

}  // namespace fettle::workloads
