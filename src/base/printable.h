#pragma once
/// Texts of anybody as a terminal may be given them: control characters, and bytes that are no
/// UTF-8, are written `\xNN`. `printable` (`base/text.h`) does the same for a name in a message.

#include <string>
#include <string_view>

namespace fettle {

/// A text of several lines: line ends and tabs stay.
std::string printable_lines(std::string_view text);

/// A text in which nothing stays but what is printable and the characters of `kept`; a line end is
/// written `\n`.
std::string printable_but(std::string_view text, std::string_view kept);

/// The length of a piece of a text without a last code point that the next piece may complete.
size_t whole_code_points(std::string_view piece);

}  // namespace fettle
