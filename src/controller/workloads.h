#pragma once
/// Workloads on the engines of a home, or in a cluster: carries out what users stored. One
/// environment is a fleet. What is decided about it is in `src/workloads`.

#include "controller/workload_objects.h"

namespace fettle {

struct ClusterAccess;

/// Whether a controller acts on a fleet.
Result<bool> is_kept(const Workplace& place, const Name& environment);

struct BringOptions {
  bool keeps = false;      ///< goes on when all is done, until it is stopped
  Duration limit = 10min;  ///< without any change
  bool wait_for_others = true;
  /// Workloads whose pods are waited for and whose failures count, by owner; empty: all of them.
  /// What is due for others is done all the same.
  std::set<Name> only{};
  Audience* audience = nullptr;  ///< may be null
};

/// The result of `bring_workloads`.
struct BringResult {
  Summary summary;                     ///< of all passes; failures are those of the last one
  std::vector<std::string> unsettled;  ///< `pod default/web-1: container `web`: …`, if it was late
  std::vector<std::string> held;  ///< `CloneSet/default/web is paused: 0 of 3 pods are updated`
  bool is_refused = false;        ///< one of these can only be ended by another wish
  size_t pods = 0, ready = 0;
};

/// Carries out all workloads of a fleet: asks each what it wants, has that done, looks, and asks
/// again, until nobody wants anything new and the wanted pods are ready. A rollout that is paused,
/// or held back by a partition, wants nothing new. What users store meanwhile counts. If a
/// controller does all this already, this function only waits for it, and takes its place when it
/// ends.
Result<BringResult> bring_workloads(const Workplace& place, const Name& environment,
                                    const BringOptions& options);

/// The same for the workloads that stand in a cluster, where users store and follow them by its own
/// means. The workplace has its driver.
Result<BringResult> bring_cluster(const Workplace& place, const ClusterAccess& access,
                                  const workloads::Gates& gates, const BringOptions& options);

}  // namespace fettle
