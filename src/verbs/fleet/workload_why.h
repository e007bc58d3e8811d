#pragma once
/// Why a workload is where it is: how its rollout stands, what is awaited, what was told about it
/// last, and what was done last for it.

#include "workplace/workplace.h"

namespace fettle {

struct WorkloadWhy {
  Name owner;                      ///< `CloneSet/NAMESPACE/NAME`
  std::vector<std::string> lines;  ///< the first one says how it stands
};

/// Of the workloads that `what` may mean: a name, or `KIND/NAME`, with the kind in full in whatever
/// case. Empty: it means none.
Result<std::vector<WorkloadWhy>> why_workloads(const Workplace& place, const Name& environment,
                                               std::string_view what);

/// How far a rollout is, in words, with the reason if its status has one. Of an object's `status`.
std::string rollout_text(const Value& status);

}  // namespace fettle
