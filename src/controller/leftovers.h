#pragma once
/// What users said about pods and claims that are no more, and what is still done for them.

#include "controller/fleet_cache.h"

namespace fettle {

/// Takes those names out of `podsToDelete` that no pod has any more (OpenKruise:
/// `truncatePodsToDelete`).
Status forget_names_of_gone(const Workplace& place, FleetCache& cache);
/// What was said about pods and claims that are no more.
Status forget_marks_of_gone(const Workplace& place, FleetCache& cache);
/// Pulls that nobody wants any more end at once, those of pods included.
void end_unwanted_pulls(const Run& run, FleetCache& cache, Ground& ground);

}  // namespace fettle
