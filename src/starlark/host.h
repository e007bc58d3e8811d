#pragma once
/// What the two sides of the interface to a host share: making values and reading them.

#include "starlark/eval/vm.h"

namespace fettle::starlark {

/// An error of the evaluation, given on: outside of every call it is over with it.
Error told(Vm& vm);

}  // namespace fettle::starlark
