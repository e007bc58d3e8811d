#pragma once
/// Where errors are told when that is not where they happen, so that it is where starlark-go tells
/// them; and what an expression evaluates first.

#include "starlark/syntax/ast.h"

namespace fettle::starlark {

/// The left operand of an operator or a suffix; null for anything else.
Node* left_of(Node* node);
/// Of a slice that fails: what was read last for it.
uint32_t place_of_slice(const SliceNode* slice);
/// Of a call that fails before the body begins: the first variable when the body begins by reading
/// it, else the function.
uint32_t place_before_body(FunctionNode* function);

}  // namespace fettle::starlark
