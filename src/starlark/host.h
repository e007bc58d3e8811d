#pragma once
/// The common part of the interface to a host: making values and reading them.

#include "starlark/eval/vm.h"

namespace fettle::starlark {

/// Passes on an error of the evaluation. Outside of every call, the error ends there.
Error told(Vm& vm);

}  // namespace fettle::starlark
