#pragma once
/// The plan of manifests before anything is stored: `plan -f`.

#include "controller/fleet_access.h"
#include "workloads/decide/rehearsal.h"

namespace fettle {

struct WorkloadPlan {
  std::vector<StoredObject> objects;
  workloads::RehearsalResult rollout;
  bool is_settled() const { return rollout.turns.empty() && rollout.pulls.empty(); }
};

/// Stores nothing and touches nothing. Without objects: the plan of what is stored. Errors: those
/// of `FleetAccess::try_out`.
Result<WorkloadPlan> plan_workloads(FleetAccess& fleet, std::vector<workloads::Object> objects);

}  // namespace fettle
