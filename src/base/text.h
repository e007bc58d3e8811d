#pragma once
/// Small things that are done to text everywhere.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fettle {

inline const std::string& text_of(const std::string& piece) { return piece; }
inline std::string_view text_of(std::string_view piece) { return piece; }
inline std::string_view text_of(const char* piece) { return piece; }
inline std::string text_of(char piece) { return std::string(1, piece); }
template <typename Number>
  requires std::is_arithmetic_v<Number>
std::string text_of(Number piece) {
  return std::to_string(piece);
}

/// The pieces as one text: `cat("port ", 80)`.
template <typename... Pieces>
std::string cat(const Pieces&... pieces) {
  std::string text;
  (text.append(text_of(pieces)), ...);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char separator);
std::string join(std::span<const std::string> pieces, std::string_view between);
std::string_view trim(std::string_view text);   ///< without ASCII white space at both ends
std::string lower_case(std::string_view text);  ///< ASCII only
std::string upper_case(std::string_view text);  ///< ASCII only
std::string replace_all(std::string_view text, std::string_view from, std::string_view to);
bool is_valid_utf8(std::string_view text);
struct LineAndColumn {
  int line = 1;    ///< from 1
  int column = 1;  ///< in characters, from 1
};
/// The place where a text stops being UTF-8; its end if it does not.
LineAndColumn end_of_utf8(std::string_view text);
/// The text, or at most so many bytes of it, no character cut in two, and `…`.
std::string clipped(std::string_view text, size_t longest);
void append_utf8(std::string& text, uint32_t code_point);  ///< a surrogate becomes U+FFFD
/// The text for a message: control characters are written as `\n` or `\x1b`, so that somebody
/// else's name can neither pretend to be another line nor talk to the terminal.
std::string printable(std::string_view text);

/// The candidate nearest to `word` when it is near enough to be meant, else empty.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);
std::string_view nearest(std::string_view word, std::span<const std::string> candidates);

/// `, did you mean `x`?` when a candidate is near, else empty: for the end of an error message.
std::string suggestion(std::string_view word, std::span<const std::string_view> candidates);
std::string suggestion(std::string_view word, std::span<const std::string> candidates);

/// The line of `source` with a caret below the column (code points from 1), as two lines that end
/// without a newline; empty when the line does not exist. Very long lines are cut around the caret.
std::string excerpt(std::string_view source, int line, int column);

}  // namespace fettle
