#pragma once
/// Since when the conditions of pods are as they are. Engines do not say, and whoever looks for the
/// first time cannot know. So that later commands agree with the one that saw the change, the time
/// is remembered beside the store's records, pod by pod.

#include "controller/fleet_view.h"

namespace fettle {

/// Gives each condition its remembered time, as long as the condition and the containers are the
/// same, and remembers new ones. If a condition in `view` is as it is now, it was remembered
/// before.
Status remember_since(const Workplace& place, const FleetView& view, PodsSeen& answer);

}  // namespace fettle
