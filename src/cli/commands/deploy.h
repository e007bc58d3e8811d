#pragma once
/// The common part of commands that deploy a version: their options, and their output.

#include "cli/command.h"
#include "verbs/models/apply_version.h"

namespace fettle {

std::vector<CommandOption> deploy_options();
CommandOption agent_option();
CommandOption allow_undeclared_option();
/// Error (`Blame::user`): an `--agent` that is not `NAME=URI`.
Status read_agents(const Face& face, ApplyRequest& request);
/// The plan of `--plan`; none without. Error (`Blame::user`): it is for another environment.
Result<std::optional<KeptPlan>> kept_plan_asked(const Face& face, std::string_view environment);
/// Adds the file of `--out` to the list of kept plans. What it holds counts without that, so only a
/// warning says that it was not done.
void note_plan_file(const Face& face, const Workplace& place, const std::string& file);
/// The request of the options; the caller names the environment and the version. Error
/// (`Blame::user`): an option without `--apply`, an `--agent` that is not `NAME=URI`, or a
/// parallelism that is no number.
Result<ApplyRequest> deploy_request(const Face& face);

/// Makes the version true and tells of it; the exit code.
Result<int> deploy(Face& face, const ApplyRequest& request);

}  // namespace fettle
