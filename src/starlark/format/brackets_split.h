#pragma once
/// Splits a line once, at a pair of brackets.

#include <functional>
#include <optional>

#include "starlark/format/line.h"

namespace fettle::starlark::layout {

/// Closing brackets that a split must pass over.
using Omission = std::vector<const Part*>;

struct BracketSplit {
  Line head, body, tail;
  Part* opening = nullptr;
  Part* closing = nullptr;
};

/// At the first parentheses: for definitions. Nothing if that does not help.
std::optional<std::vector<Line>> split_at_first_brackets(const Line& line, Parts& parts);

/// At the last brackets that are not omitted.
std::optional<BracketSplit> split_at_last_brackets(const Line& line, const Omission& omitted,
                                                   Parts& parts);

/// Calls `try_split` with sets of brackets to omit, each a superset of the one before, until it
/// returns true: trailers that fit together on the last line need not be split.
void for_each_omission(const Line& line, const std::function<bool(const Omission&)>& try_split);

}  // namespace fettle::starlark::layout
