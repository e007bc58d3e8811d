#pragma once
/// Commands on this machine, as `src/kinds/command.cc` describes them.

#include "core/driver.h"

namespace fettle {

/// The look at a command: whether its conditions ask for it now. Runs `unless` and `onlyif`. If a
/// condition cannot be evaluated, the command counts as due, so that the act reports the error.
Value look_at_command(const Value& attributes, const std::stop_token& stop);

/// For an event, runs `reload` (or the command), whatever the conditions say; else the command, if
/// they allow it. Errors: it cannot be started, takes too long, or ends with a code that is not in
/// `returns`; its last lines are in the message.
Result<Outcome> run_command_act(const Act& act, const ProgressSink& progress,
                                const std::stop_token& stop);

}  // namespace fettle
