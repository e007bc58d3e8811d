#pragma once
/// Parentheses that change nothing: those that are not needed become invisible, and where a long
/// line could use some, there are invisible ones.

#include "starlark/format/parts.h"

namespace fettle::starlark::layout {

/// For a statement: around conditions, values and targets.
void settle_parentheses(Part* statement, Parts& parts);

}  // namespace fettle::starlark::layout
