#include "verbs/workload_plan.h"

#include "verbs/fleet_view.h"

namespace fettle {

Result<WorkloadPlan> plan_workloads(const Workplace& place, const Name& environment,
                                    std::vector<workloads::Object> objects) {
  WorkloadPlan plan;
  const std::vector<workloads::Object> before = TRY(stored_objects(place, environment));
  plan.objects = TRY(fates_of(before, objects));
  const std::unique_ptr<FleetView> view = TRY(look_at_fleet(place, environment));
  for (size_t i = 0; i < objects.size(); ++i) {
    view->owners.insert(plan.objects[i].owner);
    if (plan.objects[i].fate != StoredObject::Fate::unchanged)
      view->fleet.put(objects[i]);
  }
  TRY(look_at_room(place, view->fleet));
  TRY(look_at_images(place, view->fleet));
  plan.rollout = workloads::rehearse(view->fleet, view->owners, place.clock());
  return plan;
}

}  // namespace fettle
