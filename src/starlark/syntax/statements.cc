/// Statements, in recursive descent.

#include "base/text.h"
#include "starlark/syntax/parser.h"

namespace fettle::starlark {

void Parser::statement() {
  const Level level(*this);
  if (!level.ok)
    return;
  switch (lexer_.token) {
    case Token::kw_def:
      definition();
      return;
    case Token::kw_if:
      if_statement();
      return;
    case Token::kw_for:
      for_statement();
      return;
    case Token::kw_while:
      while_statement();
      return;
    default:
      simple_statements();
      return;
  }
}

void Parser::simple_statements() {
  for (;;) {
    statements_.push_back(small_statement());
    if (lexer_.token != Token::semicolon)
      break;
    lexer_.next();
    if (lexer_.token == Token::newline || lexer_.token == Token::end)
      break;
  }
  if (lexer_.token != Token::end)
    expect(Token::newline);
}

Node* Parser::small_statement() {
  const uint32_t at = lexer_.at;
  switch (lexer_.token) {
    case Token::kw_return: {
      lexer_.next();
      Node* value = nullptr;
      if (lexer_.token != Token::end && lexer_.token != Token::newline &&
          lexer_.token != Token::semicolon)
        value = expression_list(false);
      return make<ReturnNode>(NodeKind::return_statement, at, value);
    }
    case Token::kw_break:
      lexer_.next();
      return make<Node>(NodeKind::break_statement, at);
    case Token::kw_continue:
      lexer_.next();
      return make<Node>(NodeKind::continue_statement, at);
    case Token::kw_pass:
      lexer_.next();
      return make<Node>(NodeKind::pass_statement, at);
    case Token::kw_load:
      return load_statement();
    default:
      break;
  }
  Node* left = expression_list(false);
  if (lexer_.token == Token::colon && left->kind == NodeKind::identifier && !left->parenthesized) {
    lexer_.next();  // an annotation, parsed only
    test();
    if (lexer_.token != Token::equal)
      return make<Node>(NodeKind::pass_statement, at);
  }
  const uint32_t op_at = lexer_.at;
  if (lexer_.token == Token::equal) {
    lexer_.next();
    Node* value = expression_list(false);
    bind_target(left);
    return make<AssignNode>(NodeKind::assign, op_at, left, value);
  }
  if (lexer_.token >= Token::plus_equal && lexer_.token <= Token::greater_greater_equal) {
    const Token op = plain_operator(lexer_.token);
    lexer_.next();
    Node* value = expression_list(false);
    bind_target(left);
    return make<AugmentedAssignNode>(NodeKind::augmented_assign, op_at, op, left, value);
  }
  return make<ExpressionStatement>(NodeKind::expression_statement, at, left);
}

Token Parser::plain_operator(Token assigning) {
  switch (assigning) {
    case Token::plus_equal:
      return Token::plus;
    case Token::minus_equal:
      return Token::minus;
    case Token::star_equal:
      return Token::star;
    case Token::slash_equal:
      return Token::slash;
    case Token::slash_slash_equal:
      return Token::slash_slash;
    case Token::percent_equal:
      return Token::percent;
    case Token::ampersand_equal:
      return Token::ampersand;
    case Token::pipe_equal:
      return Token::pipe;
    case Token::caret_equal:
      return Token::caret;
    case Token::less_less_equal:
      return Token::less_less;
    default:
      return Token::greater_greater;
  }
}

void Parser::bind_target(Node* target) {
  if (lexer_.failed)
    return;
  if (target->kind == NodeKind::identifier) {
    bound_.push_back(as<Identifier>(target));
  } else if (target->kind == NodeKind::list || target->kind == NodeKind::tuple) {
    for (Node* item : as<SequenceNode>(target)->items)
      bind_target(item);
  }
}

void Parser::definition() {
  const uint32_t begin = lexer_.at;
  lexer_.next();
  const uint32_t name_at = lexer_.at;
  Identifier* name = identifier();
  if (lexer_.failed)
    return;
  bound_.push_back(name);
  auto* def = make<DefNode>(NodeKind::def_statement, name_at, name);
  def->function.name = name->symbol->text;
  def->function.at = name_at;
  def->function.begin = begin;
  expect(Token::left_paren);
  def->function.parameters = parameters(Token::right_paren);
  expect(Token::right_paren);
  if (lexer_.token == Token::minus && lexer_.follows('>')) {  // a result type, parsed only
    lexer_.next();
    lexer_.next();
    test();
  }
  expect(Token::colon);
  const size_t mark = bound_.size();
  def->function.body = suite();
  def->function.bound = take(bound_, mark);
  statements_.push_back(def);
}

std::span<ParameterNode> Parser::parameters(Token closing) {
  const size_t mark = parameters_.size();
  while (lexer_.token != Token::right_paren && lexer_.token != Token::colon &&
         lexer_.token != Token::end) {
    if (parameters_.size() > mark) {
      expect(Token::comma);
      if (lexer_.token == Token::right_paren)
        break;
    }
    const uint32_t at = lexer_.at;
    ParameterNode parameter{ParameterKind::required, at, at, nullptr, nullptr};
    if (accept(Token::star)) {
      parameter.kind = ParameterKind::bare_star;
      parameter.name_at = lexer_.at;
      if (lexer_.token == Token::identifier) {
        parameter.kind = ParameterKind::rest;
        parameter.name = identifier()->symbol;
      }
    } else if (accept(Token::star_star)) {
      parameter.kind = ParameterKind::named_rest;
      parameter.name_at = lexer_.at;
      Identifier* id = identifier();
      parameter.name = id == nullptr ? nullptr : id->symbol;
    } else {
      Identifier* id = identifier();
      parameter.name = id == nullptr ? nullptr : id->symbol;
    }
    if (closing == Token::right_paren && parameter.kind != ParameterKind::bare_star &&
        accept(Token::colon))
      test();
    const uint32_t equal_at = lexer_.at;
    if (parameter.kind == ParameterKind::required && accept(Token::equal)) {
      parameter.name_at = equal_at;
      parameter.kind = ParameterKind::optional;
      parameter.fallback = test();
    }
    if (lexer_.failed)
      return {};
    parameters_.push_back(parameter);
  }
  return take(parameters_, mark);
}

std::span<Node*> Parser::suite() {
  const size_t mark = statements_.size();
  if (lexer_.token == Token::newline) {
    lexer_.next();
    expect(Token::indent);
    while (lexer_.token != Token::outdent && lexer_.token != Token::end) {
      if (lexer_.token == Token::newline)
        lexer_.next();
      else
        statement();
    }
    if (!lexer_.failed && lexer_.token != Token::end)
      expect(Token::outdent);
  } else {
    simple_statements();
  }
  return take(statements_, mark);
}

void Parser::if_statement() {
  const uint32_t at = lexer_.at;
  const size_t mark = branches_.size();
  uint32_t branch_at = at;
  lexer_.next();
  for (;;) {
    Node* condition = test();
    expect(Token::colon);
    const std::span<Node*> body = suite();
    branches_.push_back({condition, body, branch_at});
    branch_at = lexer_.at;
    if (!accept(Token::kw_elif))
      break;
  }
  if (accept(Token::kw_else)) {
    expect(Token::colon);
    const std::span<Node*> body = suite();
    branches_.push_back({nullptr, body, branch_at});
  }
  statements_.push_back(make<IfNode>(NodeKind::if_statement, at, take(branches_, mark)));
}

void Parser::for_statement() {
  const uint32_t at = lexer_.at;
  lexer_.next();
  Node* target = loop_variables();
  bind_target(target);
  expect(Token::kw_in);
  Node* iterable = expression_list(false);
  expect(Token::colon);
  const std::span<Node*> body = suite();
  statements_.push_back(make<ForNode>(NodeKind::for_statement, at, target, iterable, body));
}

void Parser::while_statement() {
  const uint32_t at = lexer_.at;
  lexer_.next();
  Node* condition = test();
  expect(Token::colon);
  const std::span<Node*> body = suite();
  statements_.push_back(make<WhileNode>(NodeKind::while_statement, at, condition, body));
}

Node* Parser::loop_variables() {
  const uint32_t at = lexer_.at;
  Node* first = primary_with_suffix();
  if (lexer_.token != Token::comma)
    return first;
  const size_t mark = nodes_.size();
  nodes_.push_back(first);
  while (accept(Token::comma))
    nodes_.push_back(primary_with_suffix());
  return make<SequenceNode>(NodeKind::tuple, at, take(nodes_, mark));
}

Node* Parser::load_statement() {
  const uint32_t at = lexer_.at;
  lexer_.next();
  const uint32_t paren_at = expect(Token::left_paren);
  auto* load = make<LoadNode>(NodeKind::load_statement, at);
  load->module_at = lexer_.at;
  if (lexer_.token != Token::string) {
    lexer_.fail(lexer_.position(), "first operand of load statement must be a string literal");
    return load;
  }
  load->module = lexer_.text;
  lexer_.next();
  std::vector<LoadedName> names;
  while (lexer_.token != Token::right_paren && lexer_.token != Token::end) {
    expect(Token::comma);
    if (lexer_.token == Token::right_paren)
      break;
    LoadedName name{};
    name.at = lexer_.at;
    if (lexer_.token == Token::string) {
      name.name = lexer_.text;
      ++name.at;  // the name within its quotes
      name.local = make<Identifier>(NodeKind::identifier, name.at, symbol(lexer_.text));
      lexer_.next();
    } else if (lexer_.token == Token::identifier) {
      name.local = identifier();
      if (lexer_.token != Token::equal) {
        lexer_.fail(lexer_.position(),
                    cat("load operand must be \"", name.local->symbol->text, "\" or ",
                        name.local->symbol->text, "=\"originalname\" (want '=' after ",
                        name.local->symbol->text, ")"));
        return load;
      }
      lexer_.next();
      if (lexer_.token != Token::string) {
        lexer_.fail(lexer_.position(), cat("original name of loaded symbol must be quoted: ",
                                           name.local->symbol->text, "=\"originalname\""));
        return load;
      }
      name.at = lexer_.at + 1;
      name.name = lexer_.text;
      lexer_.next();
    } else if (lexer_.token == Token::right_paren) {
      lexer_.fail(lexer_.position(), "trailing comma in load statement");
      return load;
    } else {
      lexer_.fail(lexer_.position(),
                  cat("load operand must be \"name\" or localname=\"name\" (got ", current(), ")"));
      return load;
    }
    name.local->loaded = true;
    bound_.push_back(name.local);
    names.push_back(name);
  }
  expect(Token::right_paren);
  if (names.empty() && !lexer_.failed)
    lexer_.fail(paren_at, "load statement must import at least 1 symbol");
  load->names = arena_.copy(std::span<const LoadedName>(names));
  return load;
}

}  // namespace fettle::starlark
