#pragma once
/// Since when the conditions of pods are as they are. Engines do not tell, and whoever looks for
/// the first time cannot know: so that the commands that follow agree with the one that saw it
/// happen, it is remembered beside the store's records, pod by pod.

#include "controller/fleet_view.h"

namespace fettle {

/// Gives each condition the time that was remembered, as long as the condition and the containers
/// are the same, and remembers what is new. A condition that `view` has as it is now was remembered
/// before.
Status remember_since(const Workplace& place, const FleetView& view, PodsSeen& answer);

}  // namespace fettle
