#pragma once
/// Why a workload is where it is: how far its rollout has come, what is awaited, what was last
/// reported about it, and what was last done for it.

#include "controller/fleet_access.h"

namespace fettle {

struct WorkloadWhy {
  Name owner;                      ///< `CloneSet/NAMESPACE/NAME`
  std::vector<std::string> lines;  ///< the first line says how far it is
};

/// Explains the workloads that `what` may mean: a name, or `KIND/NAME` with the full kind in any
/// case. Empty: it means none.
Result<std::vector<WorkloadWhy>> why_workloads(FleetAccess& fleet, std::string_view what);

/// How far a rollout has come, in words, with the reason if its status has one. From the `status` of
/// an object of a kind.
std::string rollout_text(std::string_view kind, const Value& status);

}  // namespace fettle
