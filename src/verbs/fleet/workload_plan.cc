#include "verbs/fleet/workload_plan.h"

#include "base/text.h"
#include "controller/fleet_view.h"
#include "kinds/kinds.h"

namespace fettle {
namespace {

/// Pods that `apply` restores, even if nothing else is to change.
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

Result<WorkloadPlan> plan_workloads(const Workplace& place, const Name& environment,
                                    std::vector<workloads::Object> objects) {
  WorkloadPlan plan;
  const std::vector<workloads::Object> before = TRY(stored_objects(place, environment));
  objects = TRY(merged_objects(before, std::move(objects)));
  plan.objects = TRY(fates_of(before, objects));
  const std::unique_ptr<FleetView> view = TRY(look_at_fleet(place, environment));
  for (size_t i = 0; i < objects.size(); ++i) {
    view->owners.insert(plan.objects[i].owner);
    if (plan.objects[i].fate != StoredObject::Fate::unchanged)
      view->fleet.put(objects[i]);
  }
  TRY(look_at_room(place, view->fleet));
  TRY(look_at_images(place, view->fleet));
  plan.rollout = workloads::rehearse(view->fleet, view->owners, place.clock(), lost_pods(*view));
  return plan;
}

}  // namespace fettle
