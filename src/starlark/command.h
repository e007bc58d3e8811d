#pragma once
/// `fettle starlark`: runs one file, or reads lines.

#include <functional>
#include <span>
#include <string>

#include "base/result.h"

namespace fettle::starlark {

/// Who wants to know what is else written to standard error.
struct CommandHooks {
  std::function<void(std::string_view line)> print{};  ///< a line of `print`
  std::function<void(const Error& error)> failed{};
};

/// Arguments without the name of the command. 0; 1 when the program failed; 2 for a wrong call and
/// for syntax and name errors.
int run_starlark_command(std::span<const std::string> arguments, const CommandHooks& hooks = {});

}  // namespace fettle::starlark
