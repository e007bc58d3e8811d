#include "template/jinja/parse_expression.h"

#include <array>
#include <charconv>

#include "base/text.h"
#include "value/whole.h"

namespace fettle::jinja {

using Kind = Token::Kind;

bool ExpressionParser::accept(std::string_view op) {
  const bool is_there = is_op(op);
  if (is_there)
    next();
  return is_there;
}
bool ExpressionParser::accept_name(std::string_view name) {
  const bool is_there = is_name(name);
  if (is_there)
    next();
  return is_there;
}

std::string ExpressionParser::described(const Token& token) {
  switch (token.kind) {
    case Kind::data:
      return "'template data / text'";
    case Kind::variable_begin:
      return "'begin of print statement'";
    case Kind::variable_end:
      return "'end of print statement'";
    case Kind::block_begin:
      return "'begin of statement block'";
    case Kind::block_end:
      return "'end of statement block'";
    case Kind::end:
      return "'end of template'";
    case Kind::text:
      return "'string'";
    case Kind::integer:
      return "'integer'";
    case Kind::real:
      return "'float'";
    default:
      return cat("'", token.text, "'");
  }
}

Error ExpressionParser::fail(std::string message, int line) const {
  Error error = user_error(cat("jinja2.exceptions.TemplateSyntaxError: ", message));
  error.where.line = line;
  return error;
}

Status ExpressionParser::expect(std::string_view op) {
  if (accept(op))
    return {};
  if (current().kind == Kind::end)
    return fail(cat("unexpected end of template, expected '", op, "'."), current().line);
  return fail(cat("expected token '", op, "', got ", described(current())), current().line);
}

Status ExpressionParser::expect(Kind kind) {
  if (current().kind == kind) {
    next();
    return {};
  }
  const std::string wanted = described({kind, "", 0});
  if (current().kind == Kind::end)
    return fail(cat("unexpected end of template, expected ", wanted, "."), current().line);
  return fail(cat("expected token ", wanted, ", got ", described(current())), current().line);
}

ExprPtr ExpressionParser::make(Expr::Kind kind, std::string name) const {
  auto made = std::make_unique<Expr>();
  made->kind = kind;
  made->line = current().line;
  made->name = std::move(name);
  return made;
}

Result<ExprPtr> ExpressionParser::binary(Expr::Kind kind, std::string op, ExprPtr left,
                                         ExprPtr right) {
  if (Status status = link(); !status)
    return status.error();
  ExprPtr made = make(kind, std::move(op));
  made->line = left->line;
  made->operands.push_back(std::move(left));
  made->operands.push_back(std::move(right));
  return made;
}

Result<ExprPtr> ExpressionParser::expression() {
  if (++depth_ > deepest)
    return fail("the expression is nested too deeply", current().line);
  const int links = links_;
  ExprPtr node = TRY(logic_or());
  while (accept_name("if")) {
    if (Status status = link(); !status)
      return status.error();
    ExprPtr made = make(Expr::Kind::conditional);
    made->operands.push_back(std::move(node));
    made->operands.push_back(TRY(logic_or()));
    made->operands.push_back(accept_name("else") ? TRY(expression()) : nullptr);
    node = std::move(made);
  }
  --depth_;
  links_ = links;
  return node;
}

Status ExpressionParser::link() {
  if (++links_ > most_links)
    return fail("the expression is nested too deeply", current().line);
  return {};
}

Result<ExprPtr> ExpressionParser::logic_or() {
  ExprPtr left = TRY(logic_and());
  while (accept_name("or"))
    left = TRY(binary(Expr::Kind::logic, "or", std::move(left), TRY(logic_and())));
  return left;
}

Result<ExprPtr> ExpressionParser::logic_and() {
  ExprPtr left = TRY(negation());
  while (accept_name("and"))
    left = TRY(binary(Expr::Kind::logic, "and", std::move(left), TRY(negation())));
  return left;
}

Result<ExprPtr> ExpressionParser::negation() {
  if (!is_name("not"))
    return compare();
  if (++depth_ > deepest)
    return fail("the expression is nested too deeply", current().line);
  ExprPtr made = make(Expr::Kind::negation);
  next();
  made->operands.push_back(TRY(negation()));
  --depth_;
  return made;
}

Result<ExprPtr> ExpressionParser::compare() {
  ExprPtr left = TRY(sum());
  ExprPtr made;
  for (;;) {
    std::string op;
    constexpr std::array ops{"==", "!=", "<", "<=", ">", ">="};
    const bool is_compare = current().kind == Kind::op &&
                            std::find(ops.begin(), ops.end(), current().text) != ops.end();
    if (is_compare)
      op = current().text;
    else if (is_name("in"))
      op = "in";
    else if (is_name("not") && peek().kind == Kind::name && peek().text == "in")
      op = "not in";
    else
      break;
    next();
    if (op == "not in")
      next();
    if (made == nullptr) {
      made = make(Expr::Kind::compare);
      made->operands.push_back(std::move(left));
    }
    made->ops.push_back(std::move(op));
    made->operands.push_back(TRY(sum()));
  }
  return made != nullptr ? std::move(made) : std::move(left);
}

Result<ExprPtr> ExpressionParser::sum() {
  ExprPtr left = TRY(concat());
  while (is_op("+") || is_op("-")) {
    std::string op = current().text;
    next();
    left = TRY(binary(Expr::Kind::binary, std::move(op), std::move(left), TRY(concat())));
  }
  return left;
}

Result<ExprPtr> ExpressionParser::concat() {
  ExprPtr left = TRY(product());
  if (!is_op("~"))
    return left;
  ExprPtr made = make(Expr::Kind::concat);
  made->operands.push_back(std::move(left));
  while (accept("~"))
    made->operands.push_back(TRY(product()));
  return made;
}

Result<ExprPtr> ExpressionParser::product() {
  ExprPtr left = TRY(power());
  while (is_op("*") || is_op("/") || is_op("//") || is_op("%")) {
    std::string op = current().text;
    next();
    left = TRY(binary(Expr::Kind::binary, std::move(op), std::move(left), TRY(power())));
  }
  return left;
}

Result<ExprPtr> ExpressionParser::unary(bool with_filter) {
  if (++depth_ > deepest)
    return fail("the expression is nested too deeply", current().line);
  ExprPtr node;
  if (is_op("-") || is_op("+")) {
    node = make(Expr::Kind::unary, current().text);
    next();
    node->operands.push_back(TRY(unary(false)));
  } else {
    node = TRY(primary());
  }
  node = TRY(postfix(std::move(node)));
  --depth_;
  return with_filter ? filter_or_test(std::move(node)) : std::move(node);
}

Result<ExprPtr> ExpressionParser::power() {
  ExprPtr left = TRY(unary());
  while (accept("**"))
    left = TRY(binary(Expr::Kind::binary, "**", std::move(left), TRY(unary())));
  return left;
}

Result<ExprPtr> ExpressionParser::primary() {
  const Token token = current();
  ExprPtr made = make(Expr::Kind::constant);
  switch (token.kind) {
    case Kind::name:
      next();
      if (token.text == "true" || token.text == "True" || token.text == "false" ||
          token.text == "False") {
        made->constant = Value(token.text[0] == 't' || token.text[0] == 'T');
      } else if (token.text != "none" && token.text != "None") {
        made->kind = Expr::Kind::name;
        made->name = token.text;
        for (auto& uses : uses_)
          uses.insert(token.text);
      }
      return made;
    case Kind::text: {
      std::string text;
      for (; current().kind == Kind::text; next())
        text += current().text;
      made->constant = Value(std::move(text));
      return made;
    }
    case Kind::integer: {
      next();
      const bool has_base = token.text.size() > 2 && token.text[0] == '0' &&
                            std::isalpha(static_cast<unsigned char>(token.text[1]));
      const int base = !has_base                     ? 10
                       : (token.text[1] | 32) == 'x' ? 16
                       : (token.text[1] | 32) == 'o' ? 8
                                                     : 2;
      const char* first = token.text.data() + (has_base ? 2 : 0);
      const std::string_view digits(first, token.text.data() + token.text.size());
      if (digits.size() > whole::most_digits)
        return fail("the integer has too many digits", token.line);
      made->constant = whole_value(whole::of_base(digits, base));
      return made;
    }
    case Kind::real:
      next();
      made->constant = Value(std::strtod(token.text.c_str(), nullptr));
      return made;
    case Kind::op:
      if (token.text == "(") {
        next();
        made = TRY(tuple(true, true));
        if (Status status = expect(")"); !status)
          return status.error();
        return made;
      }
      if (token.text == "[")
        return list();
      if (token.text == "{")
        return dict();
      [[fallthrough]];
    default:
      return fail(cat("unexpected ", described(token)), token.line);
  }
}

Result<ExprPtr> ExpressionParser::list() {
  ExprPtr made = make(Expr::Kind::list);
  next();
  while (!is_op("]")) {
    if (!made->operands.empty())
      if (Status status = expect(","); !status)
        return status.error();
    if (is_op("]"))
      break;
    made->operands.push_back(TRY(expression()));
  }
  next();
  return made;
}

Result<ExprPtr> ExpressionParser::dict() {
  ExprPtr made = make(Expr::Kind::dict);
  next();
  while (!is_op("}")) {
    if (!made->operands.empty())
      if (Status status = expect(","); !status)
        return status.error();
    if (is_op("}"))
      break;
    made->operands.push_back(TRY(expression()));
    if (Status status = expect(":"); !status)
      return status.error();
    made->operands.push_back(TRY(expression()));
  }
  next();
  return made;
}

bool ExpressionParser::is_tuple_end() const {
  return current().kind == Kind::variable_end || current().kind == Kind::block_end || is_op(")") ||
         is_name("recursive");
}

Result<ExprPtr> ExpressionParser::tuple(bool with_condition, bool is_in_parentheses) {
  ExprPtr made = make(Expr::Kind::tuple);
  bool is_tuple = false;
  for (;;) {
    if (!made->operands.empty())
      if (Status status = expect(","); !status)
        return status.error();
    if (is_tuple_end())
      break;
    made->operands.push_back(TRY(with_condition ? expression() : logic_or()));
    if (!is_op(","))
      break;
    is_tuple = true;
  }
  if (!is_tuple && !made->operands.empty())
    return std::move(made->operands[0]);
  if (!is_tuple && !is_in_parentheses)
    return fail(cat("Expected an expression, got ", described(current())), current().line);
  return made;
}

Result<ExprPtr> ExpressionParser::target(bool with_tuple) {
  ExprPtr made = make(Expr::Kind::tuple);
  bool is_tuple = false;
  if (++depth_ > deepest)
    return fail("the target is nested too deeply", current().line);
  for (;;) {
    if (with_tuple && accept("(")) {
      made->operands.push_back(TRY(target(true)));
      if (Status status = expect(")"); !status)
        return status.error();
      if (!accept(","))
        break;
      is_tuple = true;
      continue;
    }
    if (current().kind != Kind::name) {
      if (is_tuple)
        break;
      if (current().kind == Kind::integer || current().kind == Kind::real ||
          current().kind == Kind::text)
        return fail("can't assign to 'const'", current().line);
      return fail(cat("expected token 'name', got ", described(current())), current().line);
    }
    ExprPtr name = make(Expr::Kind::name, current().text);
    if (name->name == "true" || name->name == "false" || name->name == "none" ||
        name->name == "True" || name->name == "False" || name->name == "None")
      return fail(cat("can't assign to 'const'"), current().line);
    next();
    if (with_tuple && is_op(".")) {
      next();
      if (current().kind != Kind::name)
        return fail(cat("expected token 'name', got ", described(current())), current().line);
      ExprPtr attribute = make(Expr::Kind::attribute, current().text);
      attribute->operands.push_back(std::move(name));
      name = std::move(attribute);
      next();
    }
    made->operands.push_back(std::move(name));
    if (!with_tuple || !is_op(","))
      break;
    next();
    is_tuple = true;
    if (is_name("in"))
      break;
  }
  --depth_;
  if (!is_tuple)
    return std::move(made->operands[0]);
  return made;
}

Result<ExprPtr> ExpressionParser::postfix(ExprPtr node) {
  while (is_op(".") || is_op("[") || is_op("(")) {
    if (Status status = link(); !status)
      return status.error();
    if (!is_op("(")) {
      node = TRY(subscript(std::move(node)));
      continue;
    }
    ExprPtr made = make(Expr::Kind::call);
    if (Status status = arguments(made->arguments); !status)
      return status.error();
    made->operands.push_back(std::move(node));
    node = std::move(made);
  }
  return node;
}

Result<ExprPtr> ExpressionParser::filter_or_test(ExprPtr node) {
  for (;;) {
    if (is_op("|"))
      node = TRY(filters(std::move(node)));
    else if (is_name("is"))
      node = TRY(test(std::move(node)));
    else if (is_op("("))
      node = TRY(postfix(std::move(node)));
    else
      return node;
  }
}

Result<ExprPtr> ExpressionParser::filters(ExprPtr node, bool is_inline) {
  while (is_op("|") || is_inline) {
    if (Status status = link(); !status)
      return status.error();
    if (!is_inline)
      next();
    is_inline = false;
    if (current().kind != Kind::name)
      return fail(cat("expected token 'name', got ", described(current())), current().line);
    ExprPtr made = make(Expr::Kind::filter, current().text);
    next();
    while (is_op(".")) {
      next();
      if (current().kind != Kind::name)
        return fail(cat("expected token 'name', got ", described(current())), current().line);
      made->name += cat(".", current().text);
      next();
    }
    if (is_op("("))
      if (Status status = arguments(made->arguments); !status)
        return status.error();
    made->operands.push_back(std::move(node));
    node = std::move(made);
  }
  return node;
}

Result<ExprPtr> ExpressionParser::test(ExprPtr node) {
  if (Status status = link(); !status)
    return status.error();
  next();
  const bool is_negated = accept_name("not");
  if (current().kind != Kind::name)
    return fail(cat("expected token 'name', got ", described(current())), current().line);
  ExprPtr made = make(Expr::Kind::test, current().text);
  next();
  while (is_op(".")) {
    next();
    made->name += cat(".", current().text);
    next();
  }
  made->operands.push_back(std::move(node));
  if (is_op("(")) {
    if (Status status = arguments(made->arguments); !status)
      return status.error();
  } else {
    const bool begins = current().kind == Kind::name || current().kind == Kind::text ||
                        current().kind == Kind::integer || current().kind == Kind::real ||
                        is_op("[") || is_op("{");
    if (begins && !is_name("else") && !is_name("or") && !is_name("and")) {
      if (is_name("is"))
        return fail("You cannot chain multiple tests with is", current().line);
      ExprPtr argument = TRY(primary());
      made->arguments.positional.push_back(TRY(postfix(std::move(argument))));
    }
  }
  if (!is_negated)
    return made;
  ExprPtr negated = make(Expr::Kind::negation);
  negated->operands.push_back(std::move(made));
  return negated;
}

Result<ExprPtr> ExpressionParser::subscript(ExprPtr node) {
  const Token open = current();
  next();
  if (open.text == ".") {
    const Token token = current();
    next();
    if (token.kind == Kind::name) {
      ExprPtr made = make(Expr::Kind::attribute, token.text);
      made->line = token.line;
      made->operands.push_back(std::move(node));
      return made;
    }
    if (token.kind != Kind::integer)
      return fail("expected name or number", token.line);
    ExprPtr made = make(Expr::Kind::item);
    ExprPtr index = make(Expr::Kind::constant);
    int64_t number = 0;
    std::from_chars(token.text.data(), token.text.data() + token.text.size(), number);
    index->constant = Value(number);
    made->operands.push_back(std::move(node));
    made->operands.push_back(std::move(index));
    return made;
  }
  ExprPtr made = make(Expr::Kind::item);
  made->operands.push_back(std::move(node));
  std::vector<ExprPtr> keys;
  while (!is_op("]")) {
    if (!keys.empty())
      if (Status status = expect(","); !status)
        return status.error();
    keys.push_back(TRY(subscribed()));
  }
  next();
  if (keys.size() == 1) {
    made->operands.push_back(std::move(keys[0]));
    return made;
  }
  ExprPtr all = make(Expr::Kind::tuple);
  all->operands = std::move(keys);
  made->operands.push_back(std::move(all));
  return made;
}

Result<ExprPtr> ExpressionParser::subscribed() {
  ExprPtr made = make(Expr::Kind::slice);
  made->operands.resize(3);
  if (!is_op(":")) {
    ExprPtr first = TRY(expression());
    if (!is_op(":"))
      return first;
    made->operands[0] = std::move(first);
  }
  for (size_t i = 1; i < 3 && accept(":"); ++i)
    if (!is_op(":") && !is_op("]") && !is_op(","))
      made->operands[i] = TRY(expression());
  return made;
}

Status ExpressionParser::arguments(CallArguments& made) {
  if (Status status = expect("("); !status)
    return status;
  bool is_first = true;
  while (!is_op(")")) {
    if (!std::exchange(is_first, false)) {
      if (Status status = expect(","); !status)
        return status;
      if (is_op(")"))
        break;
    }
    const int line = current().line;
    const auto wrong = [&] { return fail("invalid syntax for function call expression", line); };
    if (accept("**")) {
      if (made.named_rest != nullptr)
        return wrong();
      made.named_rest = TRY(expression());
    } else if (accept("*")) {
      if (made.rest != nullptr || made.named_rest != nullptr)
        return wrong();
      made.rest = TRY(expression());
    } else if (current().kind == Kind::name && peek().kind == Kind::op && peek().text == "=") {
      if (made.named_rest != nullptr)
        return wrong();
      std::string name = current().text;
      next();
      next();
      made.named.push_back({std::move(name), TRY(expression())});
    } else {
      if (made.rest != nullptr || made.named_rest != nullptr || !made.named.empty())
        return wrong();
      made.positional.push_back(TRY(expression()));
    }
  }
  return expect(")");
}

}  // namespace fettle::jinja
