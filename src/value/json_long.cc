#include "value/json_long.h"

#include <algorithm>

#include "value/quoted.h"

namespace fettle {
namespace {

constexpr size_t most_double_digits = 300;  ///< a double holds 308
constexpr size_t kept_digits = 2;           ///< one may be the sign

/// The end of all characters that a number may have, so that `1e5` is one word.
size_t end_of_word(std::string_view text, size_t begin) {
  constexpr std::string_view letters = "0123456789+-.eE";
  return std::min(text.find_first_not_of(letters, begin), text.size());
}

bool is_long_integer(std::string_view word) {
  const std::string_view digits = word.substr(word.starts_with('-') ? 1 : 0);
  return digits.size() > most_double_digits && digits.front() != '0' &&
         digits.find_first_not_of("0123456789") == digits.npos;
}

}  // namespace

std::string cut_long_integers(std::string_view text, LongIntegers& integers) {
  std::string cut(text);
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '"') {
      at = std::min(end_of_quoted(text, at), text.size());
      continue;
    }
    const size_t end = end_of_word(text, at);
    const std::string_view word = text.substr(at, end - at);
    if (is_long_integer(word)) {
      integers.emplace(at + kept_digits, word);
      std::fill(cut.begin() + static_cast<std::ptrdiff_t>(at + kept_digits),
                cut.begin() + static_cast<std::ptrdiff_t>(end), ' ');
    }
    at = std::max(end, at + 1);
  }
  return cut;
}

}  // namespace fettle
