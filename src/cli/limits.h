#pragma once
/// Time limits for everything that commands wait for, from flags and variables.

#include <functional>

#include "cli/command.h"

namespace fettle {

/// The flags, which every command takes.
std::vector<CommandOption> limit_options();

/// The limits of the flags, else of the variables, else the defaults. `variable` gives the value of
/// a variable, empty when it is not set. Errors: something that is no duration.
Result<WaitLimits> limits_asked(const CommandLine& parsed,
                                const std::function<std::string(const char*)>& variable);

}  // namespace fettle
