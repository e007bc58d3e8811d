#pragma once
/// Whether two programs say the same: their syntax trees are equal but for places, parentheses, and
/// white space in the documentation of functions and files.

#include "starlark/syntax/ast.h"

namespace fettle::starlark::layout {

bool is_same(const FunctionNode& one, const FunctionNode& other);

}  // namespace fettle::starlark::layout
