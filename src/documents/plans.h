#pragma once
/// What would be done: plans of packages and models, and the rollouts of workloads.

#include "verbs/fleet/workload_plan.h"
#include "workplace/field_changes.h"
#include "workplace/preview.h"

namespace fettle {

/// What an act changes, field by field.
Value changes_value(const std::vector<FieldChange>& changes);
std::vector<FieldChange> changes_in(const Workplace& place, const Preview& preview,
                                    const Step& step);
Value step_value(const Workplace& place, const Preview& preview, const Step& step);
Value plan_value(const WorkloadPlan& plan);

}  // namespace fettle
