#pragma once
/// Plans before anything is done: of what was run last in an environment, and those that were kept
/// in files. They are only shown; `plan_acts.h` carries one out.

#include "server/routes.h"

namespace fettle {

/// The command that makes a plan, of what, and where it runs.
struct PlanCommand {
  std::vector<std::string> words;
  std::string_view source;  ///< `package`, `model`, `manifests` or `states`
  std::string folder{};     ///< empty: anywhere
  std::vector<std::string> carried_out_by{};
  bool reads_files = false;  ///< of this machine
};

/// The plan of whatever the environment is known to come from: the package of its last run with its
/// arguments, the manifests that are stored, or the newest version of its model. Error
/// (`Blame::user`): nothing of that is known, as after states.
Result<ChildCall> ask_plan(const RouteCall& call);

/// The command, in `words`, that carries out a plan of this `source`, whose `--plan` is there or not.
/// Errors (`Blame::user`): the environment comes from something else by now; a plan of this source has
/// to be there.
Result<PlanCommand> command_that_carries_out(const Workplace& place, const Name& environment,
                                             std::string_view source, bool has_plan);

Result<Value> tell_plans(const RouteCall& call);
Result<Value> tell_plan_file(const RouteCall& call);
/// Makes the plan again as the kept one was made, and compares.
Result<ChildCall> ask_stand_of_plan(const RouteCall& call);

}  // namespace fettle
