#pragma once
/// The comments before a token, as they will be printed.

#include <string>
#include <string_view>
#include <vector>

#include "starlark/format/parts.h"

namespace fettle::starlark::layout {

struct Comment {
  bool is_own = false;  ///< on a line of its own
  int newlines = 0;     ///< empty lines before it
  std::string text;
  size_t begin = 0;  ///< in what stands before the token
  size_t end = 0;    ///< behind its line
};

std::vector<Comment> comments_of(std::string_view before, bool at_end_of_file);

/// What `# fmt: off`, `# fmt: on` and `# fmt: skip` say, also among other remarks.
enum class Wish : uint8_t { none, off, on, skip };
Wish wish_of(std::string_view comment);

/// Takes the comments off a token, which is left with its line ends.
std::vector<Part*> take_comments(Parts& parts, Part& token);

}  // namespace fettle::starlark::layout
