#include "workloads/pods/update_pod.h"

#include "base/text.h"
#include "workloads/pods/lifecycle.h"

namespace fettle::workloads {

Turn take_turn(Rollout& rollout, InPlace& in_place, size_t row, const Revision& target) {
  const Workload& workload = rollout.workload;
  const PodRow& pod = rollout.rows[row];
  if (workload.policy != PodPolicy::recreate && in_place.can(row, target)) {
    const auto& hook = workload.hooks.in_place_update;
    const bool is_held = is_hooked(hook, pod, rollout, row);
    if (pod.lifecycle == Lifecycle::preparing_update && is_held)
      return Turn::held;
    if (is_held && pod.lifecycle != Lifecycle::updating) {
      rollout.change(row, with_lifecycle(rollout.attributes(row), Lifecycle::preparing_update,
                                         hook->marks_not_ready, rollout.now));
      return Turn::prepares;
    }
    rollout.tell("SuccessfulUpdatePodInPlace", cat(pod.name(), "|", target.name),
                 cat("pod ", pod.name(), " is updated in place to revision ", target.name));
    in_place.begin(row, target);
    return Turn::updates;
  }
  if (workload.policy != PodPolicy::in_place_only)
    return Turn::recreate;
  rollout.tell(
      "FailedUpdatePodInPlace", cat(pod.name(), "|", target.name),
      cat("pod ", pod.name(), " cannot be updated in place to revision ", target.name, ": `",
          in_place.refusal(row, target), "` changes, and the policy is InPlaceOnly"),
      "Warning");
  return Turn::refused;
}

void tell_recreated(Rollout& rollout, size_t row, const Revision& target) {
  const Name& name = rollout.rows[row].name();
  rollout.tell("SuccessfulUpdatePodReCreate", cat(name, "|", target.name),
               cat("pod ", name, " is recreated for revision ", target.name));
}

bool is_on_lost_node(const Rollout& rollout, InPlace& in_place, const Revision& target,
                     uint32_t row) {
  const Node* const node =
      rollout.pod(row) == nullptr ? nullptr : rollout.fleet.node_at(rollout.rows[row].node_number);
  return node != nullptr && !node->is_ready && rollout.workload.policy != PodPolicy::recreate &&
         in_place.can(row, target);
}

}  // namespace fettle::workloads
