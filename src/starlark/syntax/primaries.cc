/// Operands: names, literals, and what stands in brackets.

#include "base/text.h"
#include "starlark/syntax/parser.h"

namespace fettle::starlark {

Node* Parser::primary() {
  if (!may_grow())
    return nothing();
  const uint32_t at = lexer_.at;
  Node* node = nullptr;
  switch (lexer_.token) {
    case Token::identifier:
      node = make<Identifier>(NodeKind::identifier, at, lexer_.symbol);
      lexer_.next();
      return node;
    case Token::integer:
      node = make<IntegerNode>(NodeKind::integer, at, lexer_.integer, lexer_.large, lexer_.radix,
                               lexer_.text);
      lexer_.next();
      return node;
    case Token::real:
      node = make<RealNode>(NodeKind::real, at, lexer_.real);
      lexer_.next();
      return node;
    case Token::string:
    case Token::bytes:
      node = make<TextNode>(lexer_.token == Token::string ? NodeKind::string : NodeKind::bytes, at,
                            lexer_.text);
      lexer_.next();
      return node;
    case Token::left_bracket:
      return bracketed();
    case Token::left_brace:
      return braced();
    case Token::left_paren:
      return parenthesized();
    case Token::plus:
    case Token::minus:
    case Token::tilde: {
      const Level level(*this);
      const Token op = lexer_.token;
      lexer_.next();
      if (!level.ok)
        return nothing();
      Node* operand = primary_with_suffix();
      return make<UnaryNode>(NodeKind::unary, at, op, operand);
    }
    default:
      lexer_.fail(as_of_2023_ ? lexer_.position() : lexer_.at,
                  cat("got ", current(), ", want primary expression"));
      return nothing();
  }
}

Node* Parser::parenthesized() {
  const Level level(*this);
  const uint32_t at = lexer_.at;
  lexer_.next();
  if (!level.ok)
    return nothing();
  if (accept(Token::right_paren)) {
    Node* empty = make<SequenceNode>(NodeKind::tuple, at);
    empty->parenthesized = true;
    return empty;
  }
  Node* inside = expression_list(true);
  expect(Token::right_paren);
  inside->parenthesized = true;
  return inside;
}

Node* Parser::bracketed() {
  const Level level(*this);
  const uint32_t at = lexer_.at;
  lexer_.next();
  if (!level.ok)
    return nothing();
  if (accept(Token::right_bracket))
    return make<SequenceNode>(NodeKind::list, at);
  Node* first = test();
  if (lexer_.token == Token::kw_for)
    return comprehension(at, nullptr, 0, first, Token::right_bracket);
  const size_t mark = nodes_.size();
  nodes_.push_back(first);
  while (accept(Token::comma)) {
    if (!starts_expression(lexer_.token))
      break;
    nodes_.push_back(test());
  }
  expect(Token::right_bracket);
  return make<SequenceNode>(NodeKind::list, at, take(nodes_, mark));
}

Node* Parser::braced() {
  const Level level(*this);
  const uint32_t at = lexer_.at;
  lexer_.next();
  if (!level.ok)
    return nothing();
  const size_t mark = nodes_.size();
  const size_t colon_mark = colons_.size();
  while (lexer_.token != Token::right_brace && !lexer_.failed) {
    Node* key = test();
    colons_.push_back(expect(Token::colon));
    Node* value = test();
    if (lexer_.token == Token::kw_for && nodes_.size() == mark) {
      const uint32_t colon = colons_.back();
      colons_.resize(colon_mark);
      return comprehension(at, key, colon, value, Token::right_brace);
    }
    nodes_.push_back(key);
    nodes_.push_back(value);
    if (!accept(Token::comma))
      break;
  }
  expect(Token::right_brace);
  const std::span<uint32_t> colons = take(colons_, colon_mark);
  return make<DictNode>(NodeKind::dict, at, take(nodes_, mark), colons);
}

Node* Parser::comprehension(uint32_t at, Node* key, uint32_t colon, Node* body, Token closing) {
  std::vector<Clause> clauses;
  while (lexer_.token != closing && !lexer_.failed) {
    const uint32_t clause_at = lexer_.at;
    if (accept(Token::kw_for)) {
      const size_t mark = bound_.size();
      Node* target = loop_variables();
      bind_target(target);
      std::vector<Symbol*> bound;
      for (size_t i = mark; i < bound_.size(); ++i)
        bound.push_back(bound_[i]->symbol);
      bound_.resize(mark);
      expect(Token::kw_in);
      // The operand cannot be a tuple without parentheses or a bare conditional.
      Node* value = operation(1);
      clauses.push_back(
          {true, clause_at, target, value, arena_.copy(std::span<Symbol* const>(bound))});
    } else if (accept(Token::kw_if)) {
      clauses.push_back({false, clause_at, nullptr, test_no_conditional(), {}});
    } else {
      unexpected(cat(to_string(closing), ", for, or if"));
      break;
    }
  }
  expect(closing);
  return make<ComprehensionNode>(NodeKind::comprehension, at, key != nullptr, key, colon, body,
                                 arena_.copy(std::span<const Clause>(clauses)));
}

}  // namespace fettle::starlark
