#include "workloads/numbers.h"

#include <algorithm>
#include <cstdlib>

#include "workloads/budget.h"

namespace fettle::workloads {
namespace {

/// Pods of one revision.
struct Group {
  int64_t all = 0;
  int64_t active = 0;
  int64_t to_delete = 0;
  int64_t unavailable = 0;
  int64_t preparing_delete = 0;

  void count(const PodRow& pod) {
    ++all;
    if (pod.lifecycle == Lifecycle::preparing_delete) {
      ++preparing_delete;
      return;
    }
    ++active;
    if (pod.is_specified)
      ++to_delete;
    else if (!pod.is_available)
      ++unavailable;
  }
};

struct Surge {
  int64_t all = 0;
  int64_t old = 0;
};

int64_t most_surge(const Numbers& numbers) {
  return numbers.max_surge && !numbers.paused ? numbers.max_surge->of(numbers.replicas, true) : 0;
}

/// The room that deletions need so that no more pods are unavailable than may be.
Surge surge_of_deletions(const Group& updated, const Group& old, int64_t unavailable,
                         int64_t max_unavailable) {
  Surge surge;
  const int64_t to_delete = updated.to_delete + old.to_delete;
  if (to_delete == 0)
    return surge;
  surge.all = std::min(std::max<int64_t>(unavailable + to_delete - max_unavailable, 0), to_delete);
  surge.old = std::max<int64_t>(surge.all - updated.to_delete, 0);
  return surge;
}

/// The room that changes in both directions need. The smaller side decides.
Surge surge_of_updates(int64_t old_difference, int64_t new_difference) {
  Surge surge;
  if ((old_difference <= 0 || new_difference >= 0) && (old_difference >= 0 || new_difference <= 0))
    return surge;
  surge.all = std::min(std::abs(old_difference), std::abs(new_difference));
  // To undo an update, room is made with pods of the older revision.
  surge.old = old_difference < 0 ? surge.all : 0;
  return surge;
}

}  // namespace

int64_t most_unavailable(const Numbers& numbers) {
  return numbers.max_unavailable.of(numbers.replicas, most_surge(numbers) == 0);
}

Differences differences_of(const Numbers& numbers, std::span<const PodRow> pods) {
  const int64_t replicas = numbers.replicas, count = static_cast<int64_t>(pods.size());
  const int64_t partition = partition_of(numbers.partition, replicas);
  const int64_t max_surge = most_surge(numbers);
  const int64_t max_unavailable = most_unavailable(numbers);
  Group updated, old;
  for (const PodRow& pod : pods)
    (pod.is_updated ? updated : old).count(pod);
  const int64_t unavailable =
      updated.preparing_delete + old.preparing_delete + updated.unavailable + old.unavailable;

  int64_t old_difference = old.active - partition;
  int64_t new_difference = updated.active - (replicas - partition);
  if (numbers.same_revision || !numbers.rolls_back) {
    old_difference = std::max<int64_t>(old_difference, 0);
    new_difference = std::min<int64_t>(new_difference, 0);
  }

  Differences found;
  if (max_surge > 0) {
    const Surge scale = surge_of_deletions(updated, old, unavailable, max_unavailable);
    const Surge update = surge_of_updates(old_difference, new_difference);
    const Surge& larger = scale.all >= update.all ? scale : update;
    found.surge = std::min(max_surge, larger.all);
    found.surge_old = std::min(found.surge, larger.old);
  }

  int64_t total = count, total_old = old.all;
  if (numbers.exclude_preparing_delete) {
    total -= old.preparing_delete + updated.preparing_delete;
    total_old -= old.preparing_delete;
  }
  const int64_t expected = replicas + found.surge, expected_old = partition + found.surge_old;
  if (expected > total) {
    found.scale_up = expected - total;
    found.scale_up_old = std::max<int64_t>(expected_old - total_old, 0);
    const int64_t allowed =
        numbers.scale_max_unavailable
            ? std::max<int64_t>(numbers.scale_max_unavailable->of(replicas, true) - unavailable, 0)
            : found.scale_up;
    found.scale_up_limit = std::min(found.scale_up, allowed);
  }
  const int64_t to_delete = old.to_delete + updated.to_delete;
  if (total - to_delete > expected) {
    found.scale_down = total - to_delete - expected;
    found.scale_down_old = std::max<int64_t>(total_old - old.to_delete - expected_old, 0);
  }
  if (to_delete > 0 || found.scale_down > 0)
    found.delete_ready_limit =
        std::max<int64_t>(max_unavailable + count - replicas - unavailable, 0);

  found.update =
      std::abs(old_difference) <= std::abs(new_difference) ? old_difference : -new_difference;
  if (found.update != 0)
    found.update_max_unavailable = max_unavailable + count - replicas;
  return found;
}

namespace {

/// Pods that are not available, and how many of them have the target's revision.
struct Unavailable {
  int64_t all = 0;
  int64_t in_target = 0;
};

Unavailable count_unavailable(const Differences& differences, std::span<const PodRow> pods) {
  const bool to_update = differences.update > 0;
  Unavailable count;
  for (const PodRow& pod : pods)
    if (!pod.is_available) {
      ++count.all;
      count.in_target += pod.is_updated == to_update ? 1 : 0;
    }
  return count;
}

}  // namespace

size_t most_changes(const Differences& differences, std::span<const PodRow> pods) {
  const int64_t in_target = count_unavailable(differences, pods).in_target;
  return static_cast<size_t>(std::clamp<int64_t>(differences.update_max_unavailable - in_target, 0,
                                                 std::abs(differences.update)));
}

Order limited(const Differences& differences, std::span<const PodRow> pods, Order candidates) {
  const auto due = static_cast<size_t>(std::abs(differences.update));
  if (candidates.size() > due)
    candidates.resize(due);
  const auto [unavailable, unavailable_in_target] = count_unavailable(differences, pods);
  Budget budget(differences.update_max_unavailable - unavailable);
  size_t picked = 0;
  for (const uint32_t candidate : candidates) {
    if (unavailable_in_target + static_cast<int64_t>(picked) >= differences.update_max_unavailable)
      break;
    if (!budget.take(pods[candidate]))
      break;
    ++picked;
  }
  candidates.resize(picked);
  return candidates;
}

}  // namespace fettle::workloads
