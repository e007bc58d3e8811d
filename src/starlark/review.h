#pragma once
/// Reviews a file without running it: errors of syntax and names, and legal code that is probably
/// not meant.

#include "starlark/starlark.h"

namespace fettle::starlark {

struct Review {
  std::vector<Error> errors;  ///< of syntax and names; `run` would refuse the file
  std::vector<Error> doubts;  ///< unused names, what is never reached, what has no effect
};

/// Each finding has its place and line. There are at most a hundred of either sort. Names that the
/// session predeclares are known.
Review review(Session& session, const std::string& file, std::string_view text);

}  // namespace fettle::starlark
