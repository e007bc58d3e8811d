#pragma once
/// What the commands about services share.

#include "cli/command.h"
#include "verbs/inside.h"

namespace fettle {

/// Writes to stdout or stderr as it comes. An error when nobody reads it any more.
Status to_terminal(OutputStream stream, std::string_view bytes);

/// The service that a command names behind the environment.
Result<std::string> service_asked(const Face& face, const Environment& environment);

struct ChosenService {
  Workplace* place;
  Name environment;
  ServiceView service;
};
Result<ChosenService> choose_service(Face& face);

Command logs_command();
/// `service exec`, `shell` and `cp`.
std::vector<Command> inside_commands();

}  // namespace fettle
