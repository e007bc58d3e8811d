#pragma once
/// The answer of one decision about one workload (`decide/want.h`).

#include <map>
#include <optional>
#include <vector>

#include "base/box.h"
#include "base/time.h"
#include "core/resource.h"

namespace fettle::workloads {

struct FleetPod;

struct Wanted {
  Name owner;
  /// All that the owner wants. A resource that has not changed is the very object that the fleet
  /// has, so that changes show by comparing pointers.
  std::vector<Box<Resource>> resources;
  /// The pods of the last ones of `resources`, until the fleet is another one; null: a new pod.
  std::vector<const FleetPod*> pods;
  std::map<Name, int> pools;    ///< how many of its acts may go on at once
  std::optional<Time> ask;      ///< when the owner has to be asked again at the latest
  bool waits_for_room = false;  ///< no node had room for one of its pods
  bool is_expired = false;      ///< a job whose time to live is over: its object may be deleted
};

}  // namespace fettle::workloads
