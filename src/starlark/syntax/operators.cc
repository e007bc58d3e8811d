/// Expressions by precedence, and the suffixes of operands: attributes, indices, calls.

#include "base/text.h"
#include "starlark/syntax/parser.h"

namespace fettle::starlark {

namespace {

/// The precedence of a binary operator. 0: the token is none.
int precedence(Token token) {
  switch (token) {
    case Token::kw_or:
      return 1;
    case Token::kw_and:
      return 2;
    case Token::equal_equal:
    case Token::not_equal:
    case Token::less:
    case Token::greater:
    case Token::less_equal:
    case Token::greater_equal:
    case Token::kw_in:
    case Token::not_in:
      return 4;
    case Token::pipe:
      return 5;
    case Token::caret:
      return 6;
    case Token::ampersand:
      return 7;
    case Token::less_less:
    case Token::greater_greater:
      return 8;
    case Token::plus:
    case Token::minus:
      return 9;
    case Token::star:
    case Token::slash:
    case Token::slash_slash:
    case Token::percent:
      return 10;
    default:
      return 0;
  }
}
constexpr int comparison_precedence = 4;
constexpr int not_precedence = 3;

}  // namespace

Node* Parser::expression_list(bool in_parens) {
  const uint32_t at = lexer_.at;
  Node* first = test();
  if (lexer_.token != Token::comma)
    return first;
  const size_t mark = nodes_.size();
  nodes_.push_back(first);
  while (lexer_.token == Token::comma) {
    const uint32_t comma = lexer_.at;
    lexer_.next();
    if (!starts_expression(lexer_.token)) {
      if (!in_parens)
        lexer_.fail(comma, "unparenthesized tuple with trailing comma");
      break;
    }
    nodes_.push_back(test());
  }
  return make<SequenceNode>(NodeKind::tuple, at, take(nodes_, mark));
}

bool Parser::starts_expression(Token token) {
  switch (token) {
    case Token::end:
    case Token::newline:
    case Token::equal:
    case Token::right_brace:
    case Token::right_bracket:
    case Token::right_paren:
    case Token::semicolon:
      return false;
    default:
      return true;
  }
}

Node* Parser::test() {
  if (lexer_.token == Token::kw_lambda)
    return lambda(true);
  const Level level(*this);
  if (!level.ok)
    return nothing();
  Node* value = operation(1);
  if (lexer_.token != Token::kw_if)
    return value;
  const uint32_t at = lexer_.at;
  lexer_.next();
  Node* condition = operation(1);
  if (lexer_.token != Token::kw_else) {
    lexer_.fail(at, "conditional expression without else clause");
    return value;
  }
  lexer_.next();
  Node* otherwise = test();
  return make<ConditionalNode>(NodeKind::conditional, at, condition, value, otherwise);
}

Node* Parser::test_no_conditional() {
  if (lexer_.token == Token::kw_lambda)
    return lambda(false);
  return operation(1);
}

Node* Parser::lambda(bool conditional) {
  const Level level(*this);
  const uint32_t at = lexer_.at;
  lexer_.next();
  auto* node = make<LambdaNode>(NodeKind::lambda, at);
  if (!level.ok)
    return node;
  node->function.name = "lambda";
  node->function.at = node->function.begin = at;
  node->function.parameters = parameters(Token::colon);
  expect(Token::colon);
  const size_t mark = bound_.size();
  node->function.result = conditional ? test() : test_no_conditional();
  node->function.bound = take(bound_, mark);
  return node;
}

Node* Parser::operation(int least) {
  if (least <= not_precedence && lexer_.token == Token::kw_not) {
    const Level level(*this);
    const uint32_t at = lexer_.at;
    lexer_.next();
    if (!level.ok)
      return nothing();
    Node* operand = operation(not_precedence);
    Node* left = make<UnaryNode>(NodeKind::unary, at, Token::kw_not, operand);
    return more_operators(left, least);
  }
  return more_operators(primary_with_suffix(), least);
}

Node* Parser::more_operators(Node* left, int least) {
  for (;;) {
    if (lexer_.token == Token::kw_not) {
      // Only `not in` can follow an operand.
      if (comparison_precedence < least)
        return left;
      if (!not_in())
        return left;
    }
    const Token op = lexer_.token;
    const int level = precedence(op);
    if (level < least || level == 0)
      return left;
    const uint32_t at = lexer_.at;
    if (level <= 2) {
      // A chain of `and` or of `or` is one node.
      const size_t mark = nodes_.size();
      nodes_.push_back(left);
      while (lexer_.token == op) {
        lexer_.next();
        nodes_.push_back(operation(level + 1));
      }
      left = make<LogicalNode>(NodeKind::logical, at, op == Token::kw_and, take(nodes_, mark));
      continue;
    }
    lexer_.next();
    Node* right = operation(level + 1);
    left = make<BinaryNode>(NodeKind::binary, at, op, left, right);
    if (level == comparison_precedence) {
      if (lexer_.token == Token::kw_not && !not_in())
        return left;
      const Token second = lexer_.token;
      if (precedence(second) == comparison_precedence) {
        lexer_.fail(lexer_.position(),
                    cat(bare(op), " does not associate with ", bare(second), " (use parens)"));
        return left;
      }
    }
  }
}

bool Parser::not_in() {
  lexer_.next();
  if (lexer_.token != Token::kw_in) {
    unexpected("in");
    return false;
  }
  lexer_.token = Token::not_in;
  return true;
}

std::string Parser::bare(Token op) {
  std::string text = to_string(op);
  if (text.size() > 2 && text.front() == '\'')
    text = text.substr(1, text.size() - 2);
  return text;
}

Node* Parser::primary_with_suffix() {
  Node* left = primary();
  for (;;) {
    const uint32_t at = lexer_.at;
    switch (lexer_.token) {
      case Token::dot: {
        lexer_.next();
        const Identifier* name = identifier();
        if (name == nullptr)
          return left;
        left = make<AttributeNode>(NodeKind::attribute, at, left, name->symbol);
        break;
      }
      case Token::left_bracket:
        left = index_or_slice(left);
        break;
      case Token::left_paren:
        left = call(left);
        break;
      default:
        return left;
    }
  }
}

Node* Parser::index_or_slice(Node* object) {
  const Level level(*this);
  const uint32_t at = lexer_.at;
  lexer_.next();
  if (!level.ok)
    return object;
  Node* low = nullptr;
  if (lexer_.token != Token::colon) {
    low = expression_list(false);
    if (accept(Token::right_bracket))
      return make<IndexNode>(NodeKind::index, at, object, low);
  }
  Node* high = nullptr;
  Node* step = nullptr;
  if (lexer_.token != Token::colon) {
    unexpected("']'");
    return object;
  }
  lexer_.next();
  if (lexer_.token != Token::colon && lexer_.token != Token::right_bracket)
    high = test();
  if (accept(Token::colon)) {
    if (lexer_.token != Token::right_bracket)
      step = test();
  }
  expect(Token::right_bracket);
  return make<SliceNode>(NodeKind::slice, at, object, low, high, step);
}

Node* Parser::call(Node* function) {
  const Level level(*this);
  const uint32_t at = lexer_.at;
  lexer_.next();
  if (!level.ok)
    return function;
  const size_t mark = arguments_.size();
  while (lexer_.token != Token::right_paren && lexer_.token != Token::end) {
    if (arguments_.size() > mark) {
      expect(Token::comma);
      if (lexer_.token == Token::right_paren)
        break;
    }
    Argument argument{ArgumentKind::positional, lexer_.at, nullptr, nullptr};
    if (accept(Token::star)) {
      argument.kind = ArgumentKind::rest;
      argument.value = test();
    } else if (accept(Token::star_star)) {
      argument.kind = ArgumentKind::named_rest;
      argument.value = test();
    } else {
      argument.value = test();
      if (lexer_.token == Token::equal) {
        if (argument.value->kind != NodeKind::identifier || argument.value->parenthesized) {
          lexer_.fail(lexer_.position(), "keyword argument must have form name=expr");
          return function;
        }
        argument.kind = ArgumentKind::named;
        argument.name = as<Identifier>(argument.value)->symbol;
        lexer_.next();
        argument.value = test();
      }
    }
    arguments_.push_back(argument);
  }
  expect(Token::right_paren);
  return make<CallNode>(NodeKind::call, at, function, take(arguments_, mark));
}

}  // namespace fettle::starlark
