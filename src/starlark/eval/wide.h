#pragma once
/// Integers of up to 126 bits, with which the processor computes without limbs.

#include "starlark/code/code.h"

namespace fettle::starlark {

/// `x op y`. Unset: an operand or the result is too large, or the operator is a shift. A divisor
/// must not be zero.
Value wide_operation(Heap& heap, Op op, Value x, Value y);

}  // namespace fettle::starlark
