#pragma once
/// The contents of string literals: escapes, `{{ a.b }}` and f-strings.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/syntax/parser.h"

namespace fettle::model {

/// Replaces Python's escapes, but leaves UTF-8 as it is. Unknown escapes stay and are reported;
/// broken ones, and names of characters, are errors.
Result<std::string> unescape(std::string_view text, Place at, const Warn& warn);

/// `"a {{ b.c }}"` as a tree. Null: there is nothing to fill in.
Result<const Format*> read_interpolation(std::string_view text, Place at, Place start, Arena& arena,
                                         Symbols& symbols);

/// `f"{a.b:>{width}}"`.
Result<const Format*> read_f_string(std::string_view text, Place at, Arena& arena,
                                    Symbols& symbols);

}  // namespace fettle::model
