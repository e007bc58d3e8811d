#include "base/base64.h"

#include <openssl/evp.h>

#include <algorithm>

namespace fettle {
namespace {

/// OpenSSL counts in `int`; a multiple of three and of four.
constexpr size_t most_at_once = 3 << 20;

unsigned char* bytes_of(std::string& text, size_t at) {
  return reinterpret_cast<unsigned char*>(text.data()) + at;
}
const unsigned char* bytes_of(std::string_view text, size_t at) {
  return reinterpret_cast<const unsigned char*>(text.data()) + at;
}

bool is_base64_digit(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' ||
         c == '/';
}

/// For digits that `=` has filled up to whole groups of four.
std::string bytes_of_digits(std::string_view digits) {
  std::string bytes(digits.size() / 4 * 3, '\0');
  for (size_t at = 0; at < digits.size(); at += most_at_once)
    EVP_DecodeBlock(bytes_of(bytes, at / 4 * 3), bytes_of(digits, at),
                    static_cast<int>(std::min(most_at_once, digits.size() - at)));
  bytes.resize(bytes.size() - static_cast<size_t>(std::ranges::count(digits, '=')));
  return bytes;
}

}  // namespace

std::string base64_encode(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // it ends what it writes with a zero
  for (size_t at = 0; at < bytes.size(); at += most_at_once)
    EVP_EncodeBlock(bytes_of(text, at / 3 * 4), bytes_of(bytes, at),
                    static_cast<int>(std::min(most_at_once, bytes.size() - at)));
  text.pop_back();
  return text;
}

Result<std::string> base64_decode(std::string_view text) {
  std::string digits;
  digits.reserve(text.size());
  size_t padding = 0;
  for (const char c : text)
    if (is_base64_digit(c)) {
      padding = 0;
      digits += c;
    } else if (c == '=' && digits.size() % 4 >= 2 && digits.size() % 4 + ++padding == 4) {
      return bytes_of_digits(digits.append(padding, '='));
    }
  if (digits.size() % 4 == 1)
    return user_error("Invalid base64-encoded string: number of data characters (" +
                      std::to_string(digits.size()) + ") cannot be 1 more than a multiple of 4");
  if (digits.size() % 4 != 0)
    return user_error("Incorrect padding");
  return bytes_of_digits(digits);
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
      !std::ranges::all_of(std::string_view(whole).substr(0, size), is_base64_digit))
    return user_error("illegal base64 data");
  return base64_decode(whole);
}

std::string base64url_encode(std::string_view bytes) {
  std::string text = base64_encode(bytes);
  text.resize(std::min(text.find('='), text.size()));
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return text;
}

Result<std::string> base64url_decode(std::string_view text) {
  std::string digits(text);
  std::ranges::replace(digits, '-', '+');
  std::ranges::replace(digits, '_', '/');
  digits.append((4 - digits.size() % 4) % 4, '=');
  Result<std::string> bytes = base64_decode(digits);
  if (!bytes || base64url_encode(*bytes) != text)
    return user_error("illegal base64url data");
  return bytes;
}

}  // namespace fettle
