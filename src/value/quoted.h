#pragma once
/// Where a quoted text ends.

#include <string_view>

namespace fettle {

/// Behind the quote that ends the text whose quote stands at `begin`; a backslash takes the next
/// character along. Npos: nothing ends it.
inline size_t end_of_quoted(std::string_view text, size_t begin) {
  for (size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == text[begin])
      return i + 1;
  }
  return text.npos;
}

}  // namespace fettle
