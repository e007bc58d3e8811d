#pragma once
/// Idem's loops around a run of states that settles at once: `basic`, and users' own. All pending
/// states are applied again together, after one sleep.

#include <map>
#include <set>

#include "states/settings.h"
#include "verbs/states/states.h"

namespace fettle {

struct ReconcileOptions {
  std::string loop = "basic";
  std::string pending = "default";
  int max_reruns = 600;
  Duration deadline{0};  ///< 0: none
  std::string run_name = "cli";
  std::map<std::string, states::WaitRule> waits{};  ///< waits of single states, by tag
  std::map<std::string, Value> own_waits{};         ///< the same, if they are users' functions
};

/// Errors (`Blame::user`): there is no such loop, or no such rule for what is pending.
Status check_loop(RunFunctions& functions, const std::string& loop, const std::string& pending);

using ApplyAgain =
    std::function<Result<std::vector<StateResult>>(const std::set<std::string>& tags)>;

/// Applies pending states again until none is pending, nothing moves, or a limit is reached. At
/// first `report` has the results of the first run, and then those of all runs together.
Status reconcile_states(const Workplace& place, RunFunctions& functions,
                        const ReconcileOptions& options, const ApplyAgain& apply,
                        StatesReport& report);

}  // namespace fettle
