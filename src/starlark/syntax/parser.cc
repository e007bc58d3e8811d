#include "starlark/syntax/parser.h"

#include "base/text.h"

namespace fettle::starlark {

ParsedFile Parser::file() {
  auto* function = arena_.make<FunctionNode>();
  function->name = "<toplevel>";
  const size_t mark = statements_.size();
  lexer_.next();
  while (lexer_.token != Token::end) {
    if (lexer_.token == Token::newline)
      lexer_.next();
    else
      statement();
  }
  function->body = take(statements_, mark);
  function->bound = take(bound_, 0);
  return result(function);
}

ParsedFile Parser::expression_only() {
  auto* function = arena_.make<FunctionNode>();
  function->name = "<expr>";
  lexer_.next();
  function->result = expression_list(false);
  if (lexer_.token == Token::newline)
    lexer_.next();
  if (lexer_.token != Token::end)
    unexpected("end of file");
  return result(function);
}

ParsedFile Parser::result(FunctionNode* function) {
  if (lexer_.failed)
    return {nullptr, lexer_.error, lexer_.zero_byte};
  return {function, std::nullopt, lexer_.zero_byte};
}

std::string Parser::current() const {
  if (lexer_.token == Token::reserved && !as_of_2023_)
    return std::string(lexer_.symbol->text);
  return to_string(lexer_.token);
}

void Parser::unexpected(std::string_view wanted) {
  lexer_.fail(lexer_.position(), cat("got ", current(), ", want ", wanted));
}

uint32_t Parser::expect(Token token) {
  const uint32_t at = lexer_.at;
  if (lexer_.token == token)
    lexer_.next();
  else
    unexpected(to_string(token));
  return at;
}

Identifier* Parser::identifier() {
  if (lexer_.token != Token::identifier) {
    lexer_.fail(lexer_.position(), "not an identifier");
    return nullptr;
  }
  auto* id = make<Identifier>(NodeKind::identifier, lexer_.at, lexer_.symbol);
  lexer_.next();
  return id;
}

ParsedFile parse_file(std::string_view source, Arena& arena, Symbols& symbols,
                      LexerOptions options) {
  Parser parser(source, arena, symbols, options);
  return parser.file();
}

ParsedFile parse_expression(std::string_view source, Arena& arena, Symbols& symbols,
                            LexerOptions options) {
  Parser parser(source, arena, symbols, options);
  return parser.expression_only();
}

}  // namespace fettle::starlark
