#pragma once
/// The width of texts on a terminal, where a character takes no column, one, or two.

#include <string>
#include <string_view>

namespace fettle {

/// Columns of a text in UTF-8; what is no UTF-8 counts one a byte.
size_t width_of(std::string_view text);

/// The text, or as much of it as fits into `columns`, the last of them `…`.
std::string cut_to(std::string_view text, size_t columns);

}  // namespace fettle
