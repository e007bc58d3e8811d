#pragma once
/// Plans before anything is done: of what was run last in an environment, and those that were kept
/// in files. They are only shown. To carry one out, or to approve it for somebody else, takes a
/// right to act, which the page does not have.

#include "server/routes.h"

namespace fettle {

/// The plan of whatever the environment is known to come from: the package of its last run with its
/// arguments, the manifests that are stored, or the newest version of its model. Error
/// (`Blame::user`): nothing of that is known, as after states.
Result<ChildCall> ask_plan(const RouteCall& call);

Result<Value> tell_plans(const RouteCall& call);
Result<Value> tell_plan_file(const RouteCall& call);
/// Makes the plan again as the kept one was made, and compares.
Result<ChildCall> ask_stand_of_plan(const RouteCall& call);

}  // namespace fettle
