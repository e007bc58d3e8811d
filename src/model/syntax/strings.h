#pragma once
/// The inside of string literals: escapes, `{{ a.b }}` and f-strings.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/syntax/parser.h"

namespace fettle::model {

/// Python's escapes, but UTF-8 stays UTF-8. Unknown ones stay as they are and are told; those that
/// break off, and names of characters, are errors.
Result<std::string> unescape(std::string_view text, Place at, const Warn& warn);

/// `"a {{ b.c }}"` as a tree; null when it holds nothing to fill in.
Result<const Format*> read_interpolation(std::string_view text, Place at, Place start, Arena& arena,
                                         Symbols& symbols);

/// `f"{a.b:>{width}}"`.
Result<const Format*> read_f_string(std::string_view text, Place at, Arena& arena,
                                    Symbols& symbols);

}  // namespace fettle::model
