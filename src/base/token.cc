#include "base/token.h"

#include <sys/random.h>

#include <array>

#include "base/text.h"

namespace fettle {

Result<std::string> new_token(std::string_view what) {
  std::array<unsigned char, 32> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return world_error(cat("the system gives no random bits for ", what));
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) {
    text += digits[byte >> 4U];
    text += digits[byte & 15U];
  }
  return text;
}

bool is_same_token(std::string_view one, std::string_view other) {
  if (one.size() != other.size() || one.empty())
    return false;
  unsigned difference = 0;
  for (size_t i = 0; i < one.size(); ++i)
    difference |= static_cast<unsigned char>(one[i]) ^ static_cast<unsigned char>(other[i]);
  return difference == 0;
}

}  // namespace fettle
