#pragma once
/// Marks that users set on pods and claims which are gone, and the work that is still done for
/// these.

#include "controller/fleet_cache.h"

namespace fettle {

/// Takes those names out of `podsToDelete` that no pod has any more (OpenKruise:
/// `truncatePodsToDelete`).
Status forget_names_of_gone(const Workplace& place, FleetCache& cache);
/// Takes away marks of pods and claims that are gone.
Status forget_marks_of_gone(const Workplace& place, FleetCache& cache);
/// Pulls that nobody wants any more end at once, those of pods included.
void end_unwanted_pulls(const Run& run, FleetCache& cache, Executor& executor);

}  // namespace fettle
