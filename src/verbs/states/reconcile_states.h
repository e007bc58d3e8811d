#pragma once
/// Loops of Idem around a run of states that settles at once: `basic`, and those of users. What is
/// pending is applied again as a whole, after one sleep.

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
  std::map<std::string, states::WaitRule> waits{};  ///< of single states, by tag
  std::map<std::string, Value> own_waits{};         ///< the same where they are functions of users
};

/// Errors (`Blame::user`): there is no such loop or rule for what is pending.
Status check_loop(RunFunctions& functions, const std::string& loop, const std::string& pending);

using ApplyAgain =
    std::function<Result<std::vector<StateResult>>(const std::set<std::string>& tags)>;

/// Re-applies what is pending until nothing is, nothing moves, or a limit is reached; `report` has
/// the results of the first run, and then those of all runs as one.
Status reconcile_states(const Workplace& place, RunFunctions& functions,
                        const ReconcileOptions& options, const ApplyAgain& apply,
                        StatesReport& report);

}  // namespace fettle
