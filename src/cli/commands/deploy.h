#pragma once
/// What commands that make a version true have in common: their options, and how they tell of it.

#include "cli/command.h"
#include "verbs/models/apply_version.h"

namespace fettle {

std::vector<CommandOption> deploy_options();
CommandOption agent_option();
/// Error (`Blame::user`): an `--agent` that is not `NAME=URI`.
Status read_agents(const Face& face, ApplyRequest& request);
/// The plan of `--plan`; none without. Error (`Blame::user`): it is for another environment.
Result<std::optional<KeptPlan>> kept_plan_asked(const Face& face, std::string_view environment);
/// What the options ask for; the caller names the environment and the version.
/// Error (`Blame::user`): one of them without `--apply`, an `--agent` that is not `NAME=URI`, a
/// parallelism that is no number.
Result<ApplyRequest> deploy_request(const Face& face);

/// Makes the version true and tells of it; the exit code.
Result<int> deploy(Face& face, const ApplyRequest& request);

}  // namespace fettle
