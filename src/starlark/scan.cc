#include "starlark/scan.h"

#include "starlark/eval/ops.h"
#include "starlark/starlark.h"

namespace fettle::starlark {

LexerOptions lexer_options(const Dialect& dialect) {
  LexerOptions options;
  options.tabs_indent = dialect.profile != Profile::spec;
  options.assert_reserved = dialect.profile == Profile::spec;
  options.async_reserved = dialect.profile != Profile::kurtosis;
  options.nul_ends = dialect.profile != Profile::spec;
  options.as_of_2023 = dialect.profile == Profile::kurtosis;
  return options;
}

namespace {

/// The words of a text, and where each stands.
class Words {
 public:
  Words(std::string_view text, const Dialect& dialect)
      : symbols_(arena_), lexer_(text, arena_, symbols_, lexer_options(dialect)) {}

  /// False: it is at the end, or at something that is no word.
  bool next() {
    const Token last = token();
    if (last == Token::end || lexer_.failed)
      return false;
    is_behind_statement_ =
        last == Token::newline || last == Token::outdent || last == Token::semicolon;
    lexer_.next();
    blocks_ += (token() == Token::indent) - (token() == Token::outdent);
    return token() != Token::end && !lexer_.failed;
  }
  Token token() const { return lexer_.token; }
  const Lexer* operator->() const { return &lexer_; }
  /// Whether a statement outside of all blocks begins with this word.
  bool begins_statement() const { return is_behind_statement_ && blocks_ == 0; }

 private:
  Arena arena_;
  Symbols symbols_;
  Lexer lexer_;
  int blocks_ = 0;
  bool is_behind_statement_ = true;
};

/// Goes to the name of a function that the text defines.
bool find_definition(Words& words, std::string_view name) {
  while (words.next())
    if (words.token() == Token::kw_def && words.begins_statement() && words.next() &&
        words.token() == Token::identifier && words->symbol->text == name)
      return true;
  return false;
}

}  // namespace

std::vector<std::string> loads_of(std::string_view text, const Dialect& dialect) {
  std::vector<std::string> names;
  if (text.find("load") == text.npos)
    return names;
  Words words(text, dialect);
  while (words.next())
    if (words.token() == Token::kw_load && words.begins_statement() && words.next() &&
        words.token() == Token::left_paren && words.next() && words.token() == Token::string)
      names.emplace_back(words->text);
  return words->failed ? std::vector<std::string>() : names;
}

std::string signature_of(std::string_view text, const Dialect& dialect, std::string_view name) {
  const std::string source = source_text(text);
  Words words(source, dialect);
  if (!find_definition(words, name))
    return {};
  std::string made;
  while (words.next()) {
    const Token token = words.token();
    if (token == Token::colon && words->depth() == 0)
      return made;
    if (token == Token::string)
      quote_text(made, words->text);
    else
      made += std::string_view(source).substr(words->at, words->position() - words->at);
    if (token == Token::comma || token == Token::equal)
      made += ' ';
  }
  return {};
}

bool is_unfinished(std::string_view text, const Dialect& dialect) {
  if (text.ends_with("\\\n"))
    return true;
  Words words(text, dialect);
  int open = 0;
  while (words.next())
    open = words->depth();
  return words->failed ? words->ends_in_text : open > 0;
}

}  // namespace fettle::starlark
