#pragma once
/// `fettle starlark`: runs one file, or reads lines.

#include <span>
#include <string>

namespace fettle::starlark {

/// Arguments without the name of the command. 0; 1 when the program failed; 2 for a wrong call and
/// for syntax and name errors.
int run_starlark_command(std::span<const std::string> arguments);

}  // namespace fettle::starlark
