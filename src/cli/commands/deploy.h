#pragma once
/// What commands that make a version true have in common: their options, and how they tell of it.

#include "cli/command.h"
#include "verbs/apply_version.h"

namespace fettle {

std::vector<CommandOption> deploy_options();
/// What the options ask for; the caller names the environment and the version.
/// Error (`Blame::user`): one of them without `--apply`, an `--agent` that is not `NAME=URI`, a
/// parallelism that is no number.
Result<ApplyRequest> deploy_request(const Face& face);

/// Makes the version true and tells of it; the exit code.
Result<int> deploy(Face& face, const ApplyRequest& request);

}  // namespace fettle
