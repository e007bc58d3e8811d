#pragma once
/// `fettle starlark`: runs one file, or reads lines.

#include <functional>
#include <span>
#include <string>

#include "base/result.h"

namespace fettle::starlark {

/// For callers that need to know what else is written to standard error.
struct CommandHooks {
  std::function<void(std::string_view line)> print{};  ///< a line of `print`
  std::function<void(const Error& error)> failed{};
};

/// `arguments`: without the name of the command. Returns 0; 1 if the program failed; 2 for a wrong
/// call and for errors of syntax and names.
int run_starlark_command(std::span<const std::string> arguments, const CommandHooks& hooks = {});

}  // namespace fettle::starlark
