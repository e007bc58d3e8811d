#pragma once
/// How numbers and texts are written: what they mean stays the same.

#include <string>
#include <string_view>

namespace fettle::starlark::layout {

/// Letters are small, those of hexadecimal digits are capitals, and a point has digits on both
/// sides.
std::string plain_number(std::string_view text);

/// Double quotes, unless that takes more backslashes; escapes of code points in small letters.
std::string plain_string(std::string_view text);

/// The documentation of a block: it has the indentation of its block, nothing at the ends
/// of its lines, and its last quotes stand alone only if they would not fit.
std::string plain_doc_string(std::string_view text, int depth);

/// The characters of a text.
int length_of(std::string_view text);

constexpr int line_length = 88;

}  // namespace fettle::starlark::layout
