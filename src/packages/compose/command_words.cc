#include "packages/compose/command_words.h"

namespace fettle::compose {

Result<std::vector<std::string>> command_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool has_word = false, is_escaped = false;
  char quote = '\0';
  for (const char c : text) {
    const bool is_space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (is_escaped) {
      word += c == 'n' ? '\n' : c == 't' ? '\t' : c;
      is_escaped = false;
      has_word = true;
    } else if (c == '\\' && quote != '\'') {
      is_escaped = true;
    } else if (quote == '\0' && (c == '"' || c == '\'')) {
      quote = c;
      has_word = true;
    } else if (c == quote) {
      quote = '\0';
    } else if (quote != '\0') {
      word += c;
    } else if (is_space) {
      if (has_word)
        words.push_back(std::move(word));
      word.clear();
      has_word = false;
    } else if (std::string_view(";&|<>").find(c) != std::string_view::npos) {
      break;
    } else {
      word += c;
      has_word = true;
    }
  }
  if (quote != '\0' || is_escaped)
    return user_error("a quote or a backslash at the end of the command is open");
  if (has_word)
    words.push_back(std::move(word));
  return words;
}

}  // namespace fettle::compose
