#pragma once
/// What the commands about services share.

#include "cli/command.h"
#include "drivers/engine/containers.h"
#include "verbs/environments.h"

namespace fettle {

Result<Engine*> engine_of(const Workplace& place);

/// The container of a service that is there, also that of a failed attempt.
Result<std::string> container_of(const ServiceView& service);

/// Writes to stdout or stderr as it comes. An error when nobody reads it any more.
Status to_terminal(OutputStream stream, std::string_view bytes);

Command logs_command();

}  // namespace fettle
