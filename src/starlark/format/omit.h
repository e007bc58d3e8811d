#pragma once
/// Whether the parentheses that a statement may get help it.

#include "starlark/format/brackets_split.h"

namespace fettle::starlark::layout {

/// Whether what would be in the parentheses looks as well without them.
bool can_omit_parentheses(const BracketSplit& split);

/// False: the line surely cannot be split further.
bool can_be_split(const Line& line);

}  // namespace fettle::starlark::layout
