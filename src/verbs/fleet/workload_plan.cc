#include "verbs/fleet/workload_plan.h"

#include "kinds/kinds.h"

namespace fettle {
namespace {

/// Pods that `apply` restores, even if nothing else is to change. In a cluster their kubelets do.
workloads::LostPods lost_pods(const FleetView& view) {
  workloads::LostPods lost;
  for (const auto& [key, observation] : view.seen) {
    const auto known = view.known.find(key);
    if (known == view.known.end() || !known->second->applied ||
        known->second->by_hand != ByHand::nothing)
      continue;
    const Comparison found = pod_kind().compare(*known->second, observation, Presence::running);
    if (found.verb != Verb::keep)
      lost.emplace(key, workloads::LostPod{!observation.state, found.why});
  }
  return lost;
}

}  // namespace

Result<WorkloadPlan> plan_workloads(FleetAccess& fleet, std::vector<workloads::Object> objects) {
  Trial trial = TRY(fleet.try_out(std::move(objects)));
  workloads::Fleet& there = trial.view->fleet;
  WorkloadPlan plan;
  plan.objects = std::move(trial.objects);
  plan.rollout =
      workloads::rehearse(there, trial.owners, fleet.place().clock(),
                          there.is_cluster ? workloads::LostPods() : lost_pods(*trial.view));
  // Whoever keeps a cluster does what is due for others anyway.
  const auto is_of_another = [&](const auto& turn) {
    return there.is_cluster && !trial.owners.contains(turn.owner);
  };
  std::erase_if(plan.rollout.turns, is_of_another);
  std::erase_if(plan.rollout.pulls, is_of_another);
  std::vector<std::string>& warnings = plan.rollout.warnings;
  warnings.insert(warnings.begin(), trial.warnings.begin(), trial.warnings.end());
  return plan;
}

}  // namespace fettle
