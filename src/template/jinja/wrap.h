#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fettle::jinja {

struct WrapOptions {
  size_t width = 70;         ///< in code points, at least 1
  bool breaks_words = true;  ///< those that are longer than a line
  bool breaks_hyphens = true;
};

/// The lines of one paragraph, as Python's `textwrap.wrap` makes them: broken at white space, of
/// which none begins or ends a line but the first.
std::vector<std::string> wrapped(std::string_view paragraph, const WrapOptions& wrapping);

}  // namespace fettle::jinja
