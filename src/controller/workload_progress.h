#pragma once
/// The progress of a fleet: how far its pods are, and who waits for what.

#include "controller/fleet_view.h"

namespace fettle {

struct FleetProgress {
  size_t pods = 0, ready = 0;
  std::vector<std::string> unsettled;  ///< why each that is not as wanted is not
  std::set<Name> unsettled_owners;     ///< whose they are
  std::vector<std::string> told;       ///< those of the unsettled that are told at once: hooks and
                                       ///< limits hold them for as long as they like
  std::vector<std::string> held;       ///< rollouts that stay as they are because users said so
  bool is_refused = false;             ///< one of the unsettled can only be ended by another wish
  bool is_any_awaited = false;         ///< something is to be expected without anybody's help
  Time all_available;  ///< when all pods that are ready have been so for `minReadySeconds`
};

/// Of pods as they were seen last. Nobody awaits those whose node is away, those of a rollout that
/// is paused, and those of one that has failed.
/// `only`: of these workloads; none: of all.
FleetProgress progress_of(const FleetView& view, Time now, const std::set<Name>& only = {});

/// What `rollout status` says about workloads as they are now, where the progress says nothing yet:
/// who brought them about and who looks at them come to the same.
void add_statuses(const FleetView& view, Time now, const std::set<Name>& only,
                  FleetProgress& progress);

}  // namespace fettle
