#pragma once
/// A resolved tree to register code, in one walk. Loops over `range` keep plain counters, jumps
/// compare by themselves, names of attributes and methods are looked up here.

#include <optional>

#include "starlark/compile/code.h"
#include "starlark/resolve/resolve.h"

namespace fettle::starlark {

/// Compiles into `module`; constants are made in its heap.
std::optional<SyntaxError> compile(FunctionNode* file, const Resolved& resolved,
                                   ModuleState& module, Symbols& symbols);

}  // namespace fettle::starlark
