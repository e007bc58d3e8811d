#pragma once
/// How long commands wait for others, as flags and variables say.

#include <functional>

#include "cli/command.h"

namespace fettle {

/// The flags, which every command takes.
std::vector<CommandOption> limit_options();

/// What the flags say, else the variables, else the defaults. `variable` gives the value of a
/// variable, empty when it is not set. Errors: what is no duration.
Result<WaitLimits> limits_asked(const Parsed& parsed,
                                const std::function<std::string(const char*)>& variable);

}  // namespace fettle
