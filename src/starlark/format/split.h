#pragma once
/// Splits a line that is too long, or that says by a comma how it wants to be written, into lines.
///
/// A line is first split at its last brackets: what is before them, what is in them, what is
/// behind. What was in brackets is then split at its delimiters of the highest priority, each with
/// a line of its own, and so on until everything fits. The difficulty is which brackets are the
/// last: those of the last call are often the wrong ones (`a = f(x)(y)`), and the parentheses that
/// a statement may get are only taken where no others do. So several splits are tried, and the
/// first whose first line fits is taken.
///
/// The rules are those of black, including the order in which they are tried: the results are
/// compared byte by byte (`bench/differ format`).

#include "starlark/format/line.h"

namespace fettle::starlark::layout {

struct SplitRules {
  Parts& parts;
  /// Whether `*args` may have a comma behind it. Old versions of Python did not allow that, so
  /// black adds one only to a file that has one already.
  bool comma_after_rest_in_call = false;
  bool comma_after_rest_in_definition = false;
};

/// The line itself if it fits.
std::vector<Line> split_line(Line line, const SplitRules& rules);

}  // namespace fettle::starlark::layout
