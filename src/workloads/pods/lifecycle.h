#pragma once
/// Hooks: labels and finalizers with which somebody else holds a pod before it is used, changed or
/// deleted.

#include <functional>

#include "workloads/pods/pod_edit.h"
#include "workloads/rollout.h"

namespace fettle::workloads {

/// Any of the hook's labels or finalizers is there.
bool is_hooked(const std::optional<Hook>& hook, const PodRow& row, const Rollout& rollout,
               size_t number);
/// All of them are.
bool is_all_hooked(const std::optional<Hook>& hook, const PodRow& row, const Rollout& rollout,
                   size_t number);

/// Another state; `marks_not_ready` also tells those who use the pod.
void set_lifecycle(PodEdit& edit, Lifecycle lifecycle, bool marks_not_ready, Time now);
/// The attributes with it.
Value with_lifecycle(const Value& attributes, Lifecycle lifecycle, bool marks_not_ready, Time now);

/// What follows from hooks alone: PreparingNormal, PreparingUpdate of a pod that is not to change
/// any more, and Updated end when theirs are as they have to be.
void refresh_lifecycles(Rollout& rollout);

/// The pods go, or are prepared for it where a hook holds them. One that users deleted is held by
/// finalizers only. Whether anything changed.
bool delete_pods(Rollout& rollout, const Order& pods);

/// Pods that users deleted go, whatever that costs: first of all, so that everybody else counts
/// them as gone.
void delete_deleted(Rollout& rollout);

/// Pods that were prepared for their deletion, and that nobody wants to delete any more, go back to
/// where they were, unless they were told not to be ready. `stays`: whether one is not to go; at
/// most so many. Whether anything changed.
bool keep_prepared(Rollout& rollout, const std::function<bool(uint32_t row)>& stays, int64_t most);

}  // namespace fettle::workloads
