#pragma once
/// Whether the parentheses that a statement may get help it.

#include "starlark/format/brackets_split.h"

namespace fettle::starlark::layout {

/// Whether what would be in the parentheses looks as well without them.
bool can_omit_parentheses(const BracketSplit& split);

/// Whether a split without them is better: at other brackets of the same line.
bool is_better_without(const BracketSplit& without, const BracketSplit& with);

/// False: the line surely cannot be split further.
bool can_be_split(const Line& line);

/// The line is only too long because of comments behind square brackets that open.
bool is_long_by_subscript_comment(const Line& line);

}  // namespace fettle::starlark::layout
