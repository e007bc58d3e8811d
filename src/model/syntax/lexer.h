#pragma once
/// Tokens of the model language. A newline separates nothing, a hyphen inside a name belongs to the
/// name, and the minus of a number belongs to the number.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/syntax/ast.h"

namespace fettle::model {

enum class Token : uint8_t {
  end_of_file,
  id,
  cid,
  integer,
  floating,
  string,
  raw_string,
  f_string,
  long_string,
  regex,
  arrow,
  compare,
  plus_assign,
  separator,  ///< `::`
  power,
  punctuation,
  // The reserved words, in the order of `reserved_words`.
  word_typedef,
  word_as,
  word_entity,
  word_extends,
  word_end,
  word_in,
  word_implementation,
  word_for,
  word_matching,
  word_index,
  word_implement,
  word_using,
  word_when,
  word_and,
  word_or,
  word_not,
  word_true,
  word_false,
  word_import,
  word_is,
  word_defined,
  word_dict,
  word_null,
  word_undef,
  word_parents,
  word_if,
  word_else,
  word_elif,
};

struct Lexeme {
  Token token = Token::end_of_file;
  char character = 0;  ///< of punctuation
  std::string_view
      text;  ///< as written; of strings and regular expressions, what is between the quotes
  Place at;
};

/// All tokens, ended by `end_of_file`. An invalid one becomes an error only when the parser reaches
/// it.
struct Tokens {
  std::vector<Lexeme> found;
  std::optional<Error> error;  ///< where `end_of_file` stands
};
Result<Tokens> read_tokens(std::string_view file_name, std::string_view text, uint32_t file);

/// Reserved words that are long enough to be misspelt.
std::span<const std::string_view> mistakable_words();

/// The `Where` of a place, if the name of the file is known.
inline Where where_of(std::string_view file_name, Place at) {
  return {std::string(file_name), static_cast<int>(at.line), static_cast<int>(at.column)};
}

}  // namespace fettle::model
