#pragma once
/// Places for errors that starlark-go reports elsewhere than where they happen. They depend on what
/// an expression evaluates first.

#include "starlark/syntax/ast.h"

namespace fettle::starlark {

/// The left operand of an operator or a suffix. Null: it is something else.
Node* left_of(Node* node);
/// The place of a slice that fails: what was read last for it.
uint32_t place_of_slice(const SliceNode* slice);
/// The place of a call that fails before the body begins: the first variable if the body begins by
/// reading it, else the function.
uint32_t place_before_body(FunctionNode* function);

}  // namespace fettle::starlark
