#include "base/printable.h"

#include <algorithm>

#include "base/text.h"

namespace fettle {
namespace {

/// The code point at the beginning of a text; empty: a byte that begins none.
std::string_view code_point_of(std::string_view text) {
  for (size_t length = 1; length <= std::min<size_t>(4, text.size()); ++length)
    if (is_valid_utf8(text.substr(0, length)))
      return text.substr(0, length);
  return {};
}

/// Control characters beyond ASCII, U+0080 to U+009F, have two bytes.
bool is_control(std::string_view code_point) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(code_point[i]); };
  return code_point.size() == 1 ? byte(0) < ' ' || byte(0) == 127
                                : byte(0) == 0xC2 && (byte(1) & 0xE0) == 0x80;
}

}  // namespace

std::string printable_but(std::string_view text, std::string_view kept) {
  static constexpr char hex[] = "0123456789abcdef";
  std::string shown;
  while (!text.empty()) {
    const std::string_view one = code_point_of(text);
    const std::string_view taken = text.substr(0, std::max<size_t>(1, one.size()));
    text.remove_prefix(taken.size());
    const auto code = static_cast<unsigned char>(taken.back());  // a control character's too
    if (!one.empty() && (!is_control(one) || kept.find(one) != kept.npos))
      shown += one;
    else if (one == "\n")
      shown += "\\n";
    else
      shown.append({'\\', 'x', hex[code >> 4], hex[code & 15]});
  }
  return shown;
}

std::string printable_lines(std::string_view text) {
  const bool is_plain = std::ranges::all_of(
      text, [](char c) { return (c >= ' ' && c < 127) || c == '\n' || c == '\t'; });
  return is_plain ? std::string(text) : printable_but(text, "\n\t");
}

size_t whole_code_points(std::string_view piece) {
  for (size_t back = 1; back <= std::min<size_t>(3, piece.size()); ++back) {
    const auto byte = static_cast<unsigned char>(piece[piece.size() - back]);
    if ((byte & 0xC0) == 0x80)
      continue;
    const size_t wanted = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return wanted > back ? piece.size() - back : piece.size();
  }
  return piece.size();
}

}  // namespace fettle
