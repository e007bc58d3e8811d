#pragma once
/// The options that `run` and `plan` of a package share, and how services' ports are shown.

#include "cli/command.h"
#include "verbs/environments/environments.h"
#include "verbs/packages/run_package.h"

namespace fettle {

std::vector<CommandOption> package_options();
/// What was asked for. Errors (`Blame::user`): values that no option takes, an arguments file that
/// cannot be read.
Result<PackageRequest> package_request(Face& face);

/// `http: 80/tcp -> 127.0.0.1:32768, …`
std::string ports_text(const ServiceView& service);

}  // namespace fettle
