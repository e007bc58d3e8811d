#pragma once
/// A template as tokens: text between tags as it will be written (white space already trimmed), and
/// what stands in `{{ }}` and `{% %}`. Comments and `raw` are gone.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fettle::jinja {

struct Spacing {
  bool trims_blocks = false;   ///< the newline after a block tag goes
  bool strips_blocks = false;  ///< blanks before a block tag on its line go
  bool keeps_last_newline = false;
};

struct Syntax {
  Spacing spacing;
  bool has_loop_controls = false;  ///< `break` and `continue`
};

struct Token {
  enum class Kind {
    data,
    variable_begin,
    variable_end,
    block_begin,
    block_end,
    name,
    text,
    integer,
    real,
    op,
    end
  };
  Kind kind = Kind::end;
  std::string text;
  int line = 1;
  int column = 1;  ///< of data, the begin of a tag, and a name; in code points
};

/// An error's `where` has the line; the caller adds the template's name.
Result<std::vector<Token>> scan(std::string_view source, const Spacing& spacing);

}  // namespace fettle::jinja
