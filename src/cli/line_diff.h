#pragma once
/// The text of a changed value: short ones side by side, long ones as a diff of their lines.

#include <string>
#include <string_view>
#include <vector>

#include "value/value.h"

namespace fettle {

struct DiffLine {
  char mark = ' ';  ///< `-` removed, `+` added, ` ` the same, `@` same lines that are left out
  std::string_view text;
  bool operator==(const DiffLine&) const = default;
};

/// The lines that differ, each with up to `context` same ones around it. Borrows from the texts. Of
/// texts with too many different lines the old ones come first, then the new ones.
std::vector<DiffLine> diff_lines(std::string_view before, std::string_view after,
                                 size_t context = 2);

/// `before -> after`, or below `indent` the lines that differ. Ends without a newline.
std::string changed_text(const Value& before, const Value& after, std::string_view indent,
                         bool colour);

/// A value behind its name: in one line, a long text below `indent`.
std::string value_text(const Value& value, std::string_view indent);

}  // namespace fettle
