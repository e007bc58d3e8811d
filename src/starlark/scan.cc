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

std::vector<std::string> loads_of(std::string_view text, const Dialect& dialect) {
  std::vector<std::string> names;
  if (text.find("load") == text.npos)
    return names;
  Arena arena;
  Symbols symbols(arena);
  Lexer lexer(text, arena, symbols, lexer_options(dialect));
  int blocks = 0;
  bool begins = true;  // a statement, with this token
  for (lexer.next(); lexer.token != Token::end; lexer.next()) {
    const Token token = lexer.token;
    if (token == Token::kw_load && begins && blocks == 0) {
      lexer.next();
      if (lexer.token == Token::left_paren) {
        lexer.next();
        if (lexer.token == Token::string)
          names.emplace_back(lexer.text);
      }
    }
    blocks += (token == Token::indent) - (token == Token::outdent);
    begins = token == Token::newline || token == Token::outdent || token == Token::semicolon;
  }
  return lexer.failed ? std::vector<std::string>() : names;
}

std::string signature_of(std::string_view text, const Dialect& dialect, std::string_view name) {
  const std::string source = source_text(text);
  Arena arena;
  Symbols symbols(arena);
  Lexer lexer(source, arena, symbols, lexer_options(dialect));
  int blocks = 0, open = 0;
  bool begins = true, is_within = false;
  std::string made;
  for (lexer.next(); lexer.token != Token::end && !lexer.failed; lexer.next()) {
    const Token token = lexer.token;
    if (!is_within && token == Token::kw_def && begins && blocks == 0) {
      lexer.next();
      is_within = lexer.token == Token::identifier && lexer.symbol->text == name;
      begins = false;
      continue;
    }
    blocks += (token == Token::indent) - (token == Token::outdent);
    begins = token == Token::newline || token == Token::outdent || token == Token::semicolon;
    if (!is_within)
      continue;
    if (token == Token::colon && open == 0)
      return made;
    if (token == Token::string)
      quote_text(made, lexer.text);
    else
      made += std::string_view(source).substr(lexer.at, lexer.position() - lexer.at);
    if (token == Token::comma || token == Token::equal)
      made += ' ';
    open +=
        token == Token::left_paren || token == Token::left_bracket || token == Token::left_brace;
    open -=
        token == Token::right_paren || token == Token::right_bracket || token == Token::right_brace;
  }
  return {};
}

bool is_unfinished(std::string_view text, const Dialect& dialect) {
  if (text.ends_with("\\\n"))
    return true;
  Arena arena;
  Symbols symbols(arena);
  Lexer lexer(text, arena, symbols, lexer_options(dialect));
  int open = 0;
  for (lexer.next(); lexer.token != Token::end; lexer.next()) {
    const Token token = lexer.token;
    open +=
        token == Token::left_paren || token == Token::left_bracket || token == Token::left_brace;
    open -=
        token == Token::right_paren || token == Token::right_bracket || token == Token::right_brace;
  }
  return lexer.failed ? lexer.ends_in_text : open > 0;
}

}  // namespace fettle::starlark
