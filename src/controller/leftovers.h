#pragma once
/// Clears marks that users set on pods and claims that are gone, and work that is still done for
/// these.

#include "controller/fleet_cache.h"

namespace fettle {

/// Removes names from `podsToDelete` that no pod has any more (OpenKruise: `truncatePodsToDelete`).
Status forget_names_of_gone(const Workplace& place, FleetCache& cache);
/// Removes marks of pods and claims that are gone.
Status forget_marks_of_gone(const Workplace& place, FleetCache& cache);
/// Ends pulls that nobody wants any more at once, also those of pods.
void end_unwanted_pulls(const Run& run, FleetCache& cache, Executor& executor);

}  // namespace fettle
