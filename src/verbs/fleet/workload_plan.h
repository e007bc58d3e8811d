#pragma once
/// The plan of manifests before anything is stored: `plan -f`.

#include "controller/workload_objects.h"
#include "workloads/decide/rehearsal.h"

namespace fettle {

struct WorkloadPlan {
  std::vector<StoredObject> objects;
  workloads::RehearsalResult rollout;
  bool is_settled() const { return rollout.turns.empty() && rollout.pulls.empty(); }
};

/// Stores nothing and touches nothing. Without objects: the plan of what is stored. Errors: those
/// of `store_objects`.
Result<WorkloadPlan> plan_workloads(const Workplace& place, const Name& environment,
                                    std::vector<workloads::Object> objects);

}  // namespace fettle
