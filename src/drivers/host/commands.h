#pragma once
/// Commands on this machine, as `src/kinds/command.h` describes them.

#include "core/driver.h"
#include "kinds/command.h"

namespace fettle {

/// Whether the conditions of a command ask for it now: what is seen of it. Runs `unless` and
/// `onlyif`. A condition that cannot be asked counts as due, so that the act tells the error.
CommandSeen look_at_command(const HostCommand& wanted, const std::stop_token& stop);

/// For an event, runs `reload` (or the command), whatever the conditions say; else the command, if
/// they allow it. Errors: it cannot be started, takes too long, or ends with a code that is not in
/// `returns`; its last lines are in the message.
Result<Outcome> run_command_act(const Act& act, const ProgressSink& progress,
                                const std::stop_token& stop);

}  // namespace fettle
