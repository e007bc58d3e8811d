#pragma once
/// Long texts side by side, so that people see where they differ.

#include <string>
#include <string_view>
#include <utility>

namespace fettle {

/// Each of the two whole, or at most so many bytes of it from shortly before the place where they
/// begin to differ, no character cut in two, with `…` where something is left out.
std::pair<std::string, std::string> clipped_at_difference(std::string_view a, std::string_view b,
                                                          size_t longest);

}  // namespace fettle
