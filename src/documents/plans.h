#pragma once
/// What would be done: plans of packages and models, and the rollouts of workloads. A plan that is
/// kept to be carried out later is no document: `plan_file_of` (`workplace/preview.h`) makes it.

#include "documents/parts.h"
#include "verbs/fleet/workload_plan.h"
#include "workplace/field_changes.h"
#include "workplace/preview.h"

namespace fettle {

/// `field`, `before`, `after`; null: there is none.
Value value_of(const FieldChange& change);
/// `plan` of a package or model.
Value document_of(const Workplace& place, const Preview& preview);
/// `diff` of manifests.
Value document_of(const WorkloadPlan& plan);

}  // namespace fettle
