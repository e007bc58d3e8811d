#pragma once
/// Classes of the bytes of a program.

#include <array>
#include <cstdint>

namespace fettle::starlark {

enum CharClass : uint8_t { other = 0, letter = 1, digit = 2, hex = 4, space = 8, high = 16 };
constexpr std::array<uint8_t, 256> make_classes() {
  std::array<uint8_t, 256> table{};
  for (size_t c = 0; c < 256; ++c) {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_')
      table[c] |= letter;
    if (c >= '0' && c <= '9')
      table[c] |= digit | hex;
    if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
      table[c] |= hex;
    if (c == ' ' || c == '\t' || c == '\r')
      table[c] |= space;
    if (c >= 0x80)
      table[c] |= high;
  }
  return table;
}
inline constexpr auto classes = make_classes();
inline bool is(char c, uint8_t wanted) { return (classes[static_cast<uint8_t>(c)] & wanted) != 0; }

}  // namespace fettle::starlark
