#pragma once
/// The progress of a fleet: how far its pods are, and who waits for what.

#include "controller/fleet_view.h"

namespace fettle {

struct FleetProgress {
  size_t pods = 0, ready = 0;
  std::vector<std::string> unsettled;  ///< why each pod or workload is not as wanted
  std::set<Name> unsettled_owners;     ///< their owners
  std::vector<std::string> told;       ///< those of the unsettled that are told at once: hooks and
                                       ///< limits hold them for as long as they like
  std::vector<std::string> held;       ///< rollouts that users hold where they are
  bool is_refused = false;             ///< one of the unsettled can only be ended by another wish
  bool is_any_awaited = false;         ///< something will change without anybody's help
  Time all_available;  ///< when all ready pods will have been ready for `minReadySeconds`
};

/// The progress by the last look at the pods. Pods are not awaited if their node is away, or if
/// their rollout is paused or has failed. `only`: of these workloads; empty: of all.
FleetProgress progress_of(const FleetView& view, Time now, const std::set<Name>& only = {});

/// Adds what `rollout status` says about workloads now, where the progress says nothing yet. So
/// whoever carries them out and whoever looks at them come to the same answer.
void add_statuses(const FleetView& view, Time now, const std::set<Name>& only,
                  FleetProgress& progress);

}  // namespace fettle
