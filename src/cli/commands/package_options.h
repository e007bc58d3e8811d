#pragma once
/// The options that `run` and `plan` of a package share, and how services' ports are shown.

#include "cli/command.h"
#include "verbs/environments/environments.h"
#include "verbs/packages/run_package.h"

namespace fettle {

std::vector<CommandOption> package_options();
/// The request of the options. Errors (`Blame::user`): a value that its option does not take, or an
/// arguments file that cannot be read.
Result<PackageRequest> package_request(Face& face);

/// Whether a word is a compose file, which is a package.
bool names_compose_file(const std::string& word);

/// `http: 80/tcp -> 127.0.0.1:32768, …`
std::string ports_text(const ServiceView& service);

}  // namespace fettle
