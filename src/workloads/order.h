#pragma once
/// The order in which pods change and go. The keys and their order are OpenKruise's. Two more at
/// the end make the order the same every time: whether the image is on the pod's node, and the
/// pod's name.

#include <functional>
#include <span>

#include "workloads/pod_row.h"
#include "workloads/selector.h"

namespace fettle::workloads {

/// `priorityStrategy`: by the sum of weights, or by numbers at the end of labels.
struct Priority {
  struct Weight {
    Selector selector;
    int64_t weight = 0;
  };
  std::vector<Weight> weights;
  std::vector<Name> order_keys;
  bool is_empty() const { return weights.empty() && order_keys.empty(); }
};

/// `scatterStrategy`: pods with this label are spread among the others.
struct ScatterTerm {
  Name key;
  Name value;
};

struct UpdateOrder {
  Priority priority;
  std::vector<ScatterTerm> scatter;
  bool image_early = false;  ///< the image's presence counts before the ready time
};

/// Sorts `candidates` in the order of update: no node, phase, not ready, ready for a shorter time,
/// more restarts, newer; then by priority, scattered, and prepared ones first.
void sort_for_update(const UpdateOrder& order, std::span<const PodRow> pods, Order& candidates);

/// The order of update of some pods, computed only as far as somebody asks for it: out of
/// thousands, only a few change at a time.
class UpdateQueue {
 public:
  UpdateQueue(const UpdateOrder& order, std::span<const PodRow> pods, Order candidates);
  /// For pods that are sorted already.
  static UpdateQueue of(Order sorted);
  UpdateQueue(UpdateQueue&&) noexcept;
  UpdateQueue& operator=(UpdateQueue&&) noexcept;
  ~UpdateQueue();

  size_t size() const { return candidates_.size(); }
  /// The candidates. They are in order only where that is known already.
  uint32_t at(size_t place) const { return candidates_[place]; }
  /// Whether the candidate at one place comes before that at another one.
  bool is_before(size_t place, size_t other) const;
  /// The first `count` of those that pass, in their order.
  Order first(size_t count, const std::function<bool(uint32_t)>& passes) const;

 private:
  struct Keys;
  UpdateQueue();

  Order candidates_;
  std::vector<Keys> keys_;  ///< of the candidates; empty: these are in order
};

/// The first part alone: by node, phase, readiness, times and restarts.
void sort_by_state(std::span<const PodRow> pods, bool image_early, Order& candidates);
/// Sorts stably.
void sort_by_priority(const Priority& priority, std::span<const PodRow> pods, Order& candidates);
/// `pods` are all pods of the workload, since their density counts, too.
void scatter(const std::vector<ScatterTerm>& terms, std::span<const PodRow> pods,
             Order& candidates);
/// Moves pods in PreparingUpdate to the front, stably.
void move_prepared_first(std::span<const PodRow> pods, Order& candidates);

/// The pods to delete, in the order of deletion: a number of them in all, and of these a number of
/// older revisions. The order is: no node, phase, not available, lower cost, crowded node, ready
/// for a shorter time, more restarts, newer.
Order chosen_for_deletion(std::span<const PodRow> pods, const Order& old, const Order& updated,
                          int64_t count, int64_t count_old);

/// The number in `controller.kubernetes.io/pod-deletion-cost`. 0: there is none.
int64_t deletion_cost_of(std::string_view text);

}  // namespace fettle::workloads
