#pragma once
/// How many pods of a CloneSet come, go and change. In OpenKruise this is
/// `calculateDiffsWithExpectation`; the numbers are the same, to the pod.

#include <cstdint>
#include <optional>
#include <span>

#include "workloads/amount.h"
#include "workloads/pod_row.h"

namespace fettle::workloads {

/// The wanted numbers.
struct Numbers {
  int64_t replicas = 1;
  std::optional<Amount> partition;
  std::optional<Amount> max_surge;
  Amount max_unavailable = percent(20);
  std::optional<Amount> scale_max_unavailable;  ///< none: no limit
  bool paused = false;
  bool exclude_preparing_delete = false;  ///< pods in PreparingDelete are not counted
  bool rolls_back = false;     ///< `CloneSetPartitionRollback`: a higher partition undoes an update
  bool same_revision = false;  ///< the current revision is the update revision
};

/// How many pods may be unavailable. If there is a surge, a share is rounded down.
int64_t most_unavailable(const Numbers& numbers);

struct Differences {
  int64_t scale_up = 0;
  int64_t scale_up_old = 0;        ///< of these with the current revision; may exceed `scale_up`
  int64_t scale_up_limit = 0;      ///< how many may be created now
  int64_t scale_down = 0;          ///< without those whose deletion was asked for
  int64_t scale_down_old = 0;      ///< of these with an older revision; may be more
  int64_t delete_ready_limit = 0;  ///< how many ready pods may be deleted now
  int64_t surge = 0;               ///< how many more than asked for there may be for a while
  int64_t surge_old = 0;
  int64_t update = 0;  ///< how many change to the update revision; below zero: to the current
  int64_t update_max_unavailable = 0;  ///< may be below zero
  bool operator==(const Differences&) const = default;
};

Differences differences_of(const Numbers& numbers, std::span<const PodRow> pods);

/// The first of `candidates`, in their order, that may change now: at most as many as are due, and
/// no more than may be unavailable. A pod that is unavailable already costs nothing in the sum of
/// all pods, but counts among those of the target revision. `to_update`: the target is the update
/// revision.
Order limited(const Differences& differences, std::span<const PodRow> pods, Order candidates);
/// The largest number of candidates that it takes.
size_t most_changes(const Differences& differences, std::span<const PodRow> pods);

}  // namespace fettle::workloads
