#pragma once
/// Workloads on the engines of a home: how what users stored comes about. One environment is a
/// fleet. What is decided about it is `src/workloads`.

#include "controller/workload_objects.h"

namespace fettle {

/// Whether a controller acts on a fleet.
Result<bool> is_kept(const Workplace& place, const Name& environment);

struct BringOptions {
  bool keeps = false;      ///< goes on when all is done: until it is stopped
  Duration limit = 10min;  ///< without anything that changes
  bool wait_for_others = true;
  /// Workloads whose pods are waited for and whose failures count, by owner; none: all of them.
  /// What is due of others is done all the same.
  std::set<Name> only{};
  Audience* audience = nullptr;  ///< may be null
};

/// What came of it.
struct Brought {
  Summary summary;  ///< of all passes: failures are those of the last one
  std::vector<std::string>
      unsettled;                  ///< `pod default/web-1: container `web`: …`, when it was late
  std::vector<std::string> held;  ///< `CloneSet/default/web is paused: 0 of 3 pods are updated`
  bool is_refused = false;        ///< one of these can only be ended by another wish
  size_t pods = 0, ready = 0;
};

/// Brings all workloads of a fleet about: asks each what it wants, has that carried out, looks, and
/// asks again, until nobody wants anything more and the pods that are wanted are ready. What is
/// paused, or held back by a partition, wants nothing more. What users store meanwhile counts.
/// Where a controller does it already, this only waits for it, and takes its place when it ends.
Result<Brought> bring_workloads(const Workplace& place, const Name& environment,
                                const BringOptions& options);

}  // namespace fettle
