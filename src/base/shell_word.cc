#include "base/shell_word.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace fettle {

std::string quoted_for_shell(std::string_view word) {
  const bool is_plain = !word.empty() && word[0] != '~' && std::ranges::all_of(word, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("/._-+=:,@%~").find(c) != std::string_view::npos;
  });
  return is_plain ? std::string(word) : cat("'", replace_all(word, "'", "'\\''"), "'");
}

}  // namespace fettle
