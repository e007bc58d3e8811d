#include "base/base64.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace fettle {
namespace {

constexpr std::string_view digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr int no_digit = -1;

constexpr std::array<int, 256> values_of_digits() {
  std::array<int, 256> values{};
  values.fill(no_digit);
  for (size_t i = 0; i < digits.size(); ++i)
    values[static_cast<unsigned char>(digits[i])] = static_cast<int>(i);
  return values;
}

constexpr std::array<int, 256> values = values_of_digits();

}  // namespace

std::string base64_encode(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const size_t size = std::min<size_t>(3, bytes.size() - at);
    uint32_t group = 0;
    for (size_t i = 0; i < 3; ++i)
      group = group << 8 | (i < size ? static_cast<unsigned char>(bytes[at + i]) : 0u);
    for (size_t i = 0; i < 4; ++i)
      text += i <= size ? digits[group >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

Result<std::string> base64_decode(std::string_view text) {
  std::string bytes;
  uint32_t group = 0;
  size_t place = 0, padding = 0, count = 0;
  for (const char c : text) {
    if (c == '=') {
      if (place >= 2 && place + ++padding >= 4)
        return bytes;
      continue;
    }
    const int value = values[static_cast<unsigned char>(c)];
    if (value == no_digit)
      continue;
    padding = 0;
    ++count;
    group = group << 6 | static_cast<uint32_t>(value);
    if (place > 0)
      bytes += static_cast<char>(group >> (6 - 2 * place) & 255);
    place = (place + 1) % 4;
  }
  if (place == 1)
    return user_error("Invalid base64-encoded string: number of data characters (" +
                      std::to_string(count) + ") cannot be 1 more than a multiple of 4");
  if (place != 0)
    return user_error("Incorrect padding");
  return bytes;
}

Result<std::string> base64_decode_strictly(std::string_view text) {
  std::string whole;
  for (const char c : text)
    if (c != '\r' && c != '\n')
      whole += c;
  const size_t size = std::min(whole.find('='), whole.size());
  const std::string_view padding = std::string_view(whole).substr(size);
  const bool is_padded = padding.empty() || padding == "=" || padding == "==";
  if (whole.size() % 4 != 0 || !is_padded ||
      std::any_of(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size),
                  [](char c) { return values[static_cast<unsigned char>(c)] == no_digit; }))
    return user_error("illegal base64 data");
  return base64_decode(whole);
}

}  // namespace fettle
