#pragma once
/// Hooks: labels and finalizers with which somebody else holds a pod before it is used, changed or
/// deleted.

#include <functional>

#include "workloads/pods/pod_edit.h"
#include "workloads/rollout.h"

namespace fettle::workloads {

/// Whether any of the hook's labels or finalizers is there.
bool is_hooked(const std::optional<Hook>& hook, const PodRow& row, const Rollout& rollout,
               size_t number);
/// Whether all of them are there.
bool is_all_hooked(const std::optional<Hook>& hook, const PodRow& row, const Rollout& rollout,
                   size_t number);

/// Sets the state. `marks_not_ready` also tells those who use the pod.
void set_lifecycle(PodEdit& edit, Lifecycle lifecycle, bool marks_not_ready, Time now);
/// The attributes with this state.
Attributes with_lifecycle(const Attributes& attributes, Lifecycle lifecycle, bool marks_not_ready,
                          Time now);

/// Ends states that only depend on hooks once these are as they have to be: PreparingNormal,
/// Updated, and PreparingUpdate of a pod that is no longer to change.
void refresh_lifecycles(Rollout& rollout);

/// Removes the pods, or prepares them for it if a hook holds them. Only finalizers hold a pod that
/// users deleted. Returns whether anything changed.
bool delete_pods(Rollout& rollout, const Order& pods);

/// Removes pods that users deleted, whatever that costs. This comes first, so that all other rules
/// count them as gone.
void delete_deleted(Rollout& rollout);

/// Pods that were prepared for their deletion and no longer have to go return to their former
/// state, unless they were told not to be ready. `stays`: whether a pod need not go; at most that
/// many return. Returns whether anything changed.
bool keep_prepared(Rollout& rollout, const std::function<bool(uint32_t row)>& stays, int64_t most);

}  // namespace fettle::workloads
