#include "jq/parser.h"

#include <array>

#include "base/text.h"
#include "jq/parser_parts.h"

namespace fettle::jq {
namespace {

constexpr int deepest_program = 400;

/// The precedence of operators, and how those of one level associate.
struct Level {
  std::vector<std::string_view> symbols;
  enum class Groups : uint8_t { left, right, never } groups;
};
const std::array<Level, 7>& levels() {
  static const std::array<Level, 7> table{{
      {{"//"}, Level::Groups::right},
      {{"=", "|=", "+=", "-=", "*=", "/=", "%=", "//="}, Level::Groups::never},
      {{"or"}, Level::Groups::left},
      {{"and"}, Level::Groups::left},
      {{"==", "!=", "<", "<=", ">", ">="}, Level::Groups::never},
      {{"+", "-"}, Level::Groups::left},
      {{"*", "/", "%"}, Level::Groups::left},
  }};
  return table;
}

std::optional<int> level_of(const Token& token) {
  if (token.kind != Token::Kind::symbol && token.kind != Token::Kind::name)
    return std::nullopt;
  for (size_t i = 0; i < levels().size(); ++i)
    if (std::ranges::find(levels()[i].symbols, token.text) != levels()[i].symbols.end())
      return static_cast<int>(i);
  return std::nullopt;
}

std::string_view function_of(std::string_view symbol) {
  static const std::map<std::string_view, std::string_view> functions{
      {"+", "_add"},     {"-", "_subtract"}, {"*", "_multiply"},   {"/", "_divide"},
      {"%", "_modulo"},  {"==", "_equal"},   {"!=", "_notequal"},  {"<", "_less"},
      {">", "_greater"}, {"<=", "_lesseq"},  {">=", "_greatereq"}, {"//", "_alternative"}};
  return functions.at(symbol);
}

}  // namespace

Parser::Parser(std::string_view source, Program& program, const Functions& known)
    : source_(source), lexer_(source), program_(program), known_(known) {
  Function& main = program_.functions.emplace_back();
  scopes_.push_back({&main, {}});
  program_.main = &main;
  advance();
}

bool Parser::is_symbol(std::string_view text) const {
  return token_.kind == Token::Kind::symbol && token_.text == text;
}
bool Parser::is_name(std::string_view text) const {
  return token_.kind == Token::Kind::name && token_.text == text;
}
void Parser::advance() {
  if (!has_failed())
    token_ = lexer_.next();
}
bool Parser::take(std::string_view symbol) {
  if (!is_symbol(symbol))
    return false;
  advance();
  return true;
}
bool Parser::take_word(std::string_view keyword) {
  if (!is_name(keyword))
    return false;
  advance();
  return true;
}
bool Parser::expect(std::string_view symbol) { return take(symbol) || unexpected() != nullptr; }
bool Parser::expect_word(std::string_view keyword) {
  return take_word(keyword) || unexpected() != nullptr;
}

/// The first failure stays; nothing is read after it.
const Node* Parser::fail(std::string why, const Token* at) {
  if (!has_failed()) {
    const std::string_view before = source_.substr(0, at == nullptr ? token_.begin : at->begin);
    const auto column = static_cast<int>(count_characters(before.substr(before.rfind('\n') + 1)));
    const auto line = static_cast<int>(std::ranges::count(before, '\n'));
    failure_ = user_error(std::move(why), {"", line + 1, column + 1});
  }
  token_ = {};
  return nullptr;
}

const Node* Parser::unexpected() {
  if (token_.kind == Token::Kind::end)
    return fail("it ends too early");
  if (token_.kind == Token::Kind::broken)
    return fail(token_.text);
  const bool is_field = token_.kind == Token::Kind::field;
  return fail(cat("`", is_field ? "." : "", printable(token_.text), "` is not expected here"));
}

Parser::Found Parser::find(std::string_view name, size_t arity) const {
  uint32_t hops = 0;
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope, ++hops)
    for (auto binding = scope->bindings.rbegin(); binding != scope->bindings.rend(); ++binding)
      if (binding->name == name && binding->arity == arity)
        return {&*binding, hops};
  return {};
}

uint32_t Parser::declare(std::string name) {
  Scope& scope = scopes_.back();
  scope.bindings.push_back({std::move(name), 0, scope.function->slots});
  return scope.function->slots++;
}

Node& Parser::make(Op op) {
  Node& node = program_.nodes.emplace_back();
  node.op = op;
  return node;
}

const Node* Parser::pair(Op op, const Node* a, const Node* b) {
  Node& node = make(op);
  node.a = a;
  node.b = b;
  return &node;
}

const Node* Parser::constant(Json value) {
  Node& node = make(Op::constant);
  node.key = std::move(value);
  return &node;
}

const Node* Parser::native(std::string_view name, std::vector<const Node*> parts) {
  Node& node = make(name == "_range" ? Op::range : Op::native);
  node.native = find_native(name, parts.size());
  node.parts = std::move(parts);
  if (name == "_index" || name == "_slice")
    node.quiet_from = 1;
  if (name == "getpath")
    node.quiet_from = 0;
  node.moves = name == "_index"    ? Moves::index
               : name == "_slice"  ? Moves::slice
               : name == "getpath" ? Moves::getpath
                                   : Moves::nothing;
  return &node;
}

/// A variable of the innermost activation.
const Node* Parser::variable(uint32_t slot) {
  Node& node = make(Op::variable);
  node.slot = slot;
  return &node;
}

/// The body of an argument: it gets an activation of its own each time that it is used.
const Node* Parser::body_of(const std::function<const Node*()>& parse) {
  Function& function = program_.functions.emplace_back();
  scopes_.push_back({&function, {}});
  function.body = parse();
  scopes_.pop_back();
  Node& node = make(Op::body);
  node.function = &function;
  return &node;
}

Status Parser::program() {
  is_program_ = true;
  if (is_name("module") || is_name("import") || is_name("include"))
    fail("modules are not available");
  if (token_.kind == Token::Kind::end)
    fail("it is empty");
  const Node* const body = query();
  if (token_.kind != Token::Kind::end)
    unexpected();
  if (has_failed())
    return *failure_;
  scopes_.front().function->body = body;
  return {};
}

Status Parser::definitions(Functions& known) {
  while (!has_failed() && take_word("def"))
    if (const Function* made = definition())
      known[{made->name, made->parameters.size()}] = made;
  if (token_.kind != Token::Kind::end)
    unexpected();
  return has_failed() ? Status(*failure_) : Status();
}

/// The right side of a definition, a label, a binding or a pipe goes on to the end.
const Node* Parser::query() {
  if (++depth_ > deepest_program)
    return fail("it is nested too deeply");
  const Node* left = nullptr;
  while (!has_failed()) {
    const bool takes_rest = is_name("def") || is_name("label");
    const Node* next = take_word("def")     ? definition_and_rest()
                       : take_word("label") ? labelled()
                                            : expression();
    const bool binds = !takes_rest && is_name("as");
    if (binds)
      next = binding(next);
    left = left == nullptr ? next : pair(Op::comma, left, next);
    if (binds || takes_rest || !take(","))
      break;
  }
  if (take("|")) {
    const Node* const right = query();
    left = pair(Op::pipe, left, right);
  }
  --depth_;
  return left;
}

const Node* Parser::expression(int least) {
  const Node* left = term();
  while (!has_failed()) {
    const std::optional<int> level = level_of(token_);
    if (!level || *level < least)
      break;
    const Level::Groups groups = levels()[static_cast<size_t>(*level)].groups;
    const std::string symbol = token_.text;
    advance();
    const bool is_deeper = groups == Level::Groups::right;
    if (is_deeper && ++depth_ > deepest_program)
      return fail("it is nested too deeply");
    const Node* const right = expression(is_deeper ? *level : *level + 1);
    depth_ -= is_deeper ? 1 : 0;
    left = operation(symbol, left, right);
    if (groups == Level::Groups::never && level_of(token_) == level)
      return unexpected();
  }
  return left;
}

const Node* Parser::operation(std::string_view symbol, const Node* left, const Node* right) {
  if (has_failed())
    return nullptr;
  if (symbol == "//")
    return pair(Op::alternative, left, right);
  if (symbol == "and" || symbol == "or") {
    const auto chosen = [&](const Node* when, const Node* then, const Node* otherwise) {
      Node& node = make(Op::condition);
      node.a = when;
      node.b = then;
      node.c = otherwise;
      return &node;
    };
    const Node* const yes = constant(Json::boolean(true));
    const Node* const no = constant(Json::boolean(false));
    const Node* const second = chosen(right, yes, no);
    return symbol == "and" ? chosen(left, second, no) : chosen(left, yes, second);
  }
  if (level_of({Token::Kind::symbol, std::string(symbol), 0}) == 1)
    return update(symbol, left, right);
  return native(function_of(symbol), {left, right});
}

const Node* Parser::update(std::string_view symbol, const Node* left, const Node* right) {
  if (symbol == "|=")
    return pair(Op::modify, left, right);
  if (symbol == "=") {
    const auto path = indices_.find(left);
    if (path == indices_.end()) {
      const auto body = [&](const Node* of) { return pair(Op::body, of, nullptr); };
      Node& node = make(Op::call);
      node.function = known_.at({"_assign", 2});
      node.parts = {body(left), body(right)};
      return &node;
    }
    Node& node = make(Op::set);
    node.a = right;
    node.key = path->second;
    return &node;
  }
  Node& bound = make(Op::bind);
  bound.a = right;
  bound.slot = scopes_.back().function->slots++;
  bound.b = pair(Op::modify, left,
                 native(function_of(symbol.substr(0, symbol.size() - 1)),
                        {&make(Op::identity), variable(bound.slot)}));
  return &bound;
}

const Node* Parser::binding(const Node* source) {
  const Block block(*this);
  advance();
  std::vector<uint32_t> slots;
  std::vector<std::unique_ptr<Pattern>> patterns;
  do
    patterns.push_back(pattern(slots));
  while (take("?//"));
  if (has_failed() || !expect("|"))
    return nullptr;
  const Node* const body = query();
  if (has_failed())
    return nullptr;
  Node& node = make(Op::bind);
  node.a = source;
  if (patterns.size() == 1) {
    node.slot = slot_for(*patterns.front());
    node.b = lowered(*patterns.front(), node.slot, body);
    return &node;
  }
  node.slot = scopes_.back().function->slots++;
  Node& choices = make(Op::choices);
  choices.slots = slots;
  for (const auto& one : patterns)
    choices.parts.push_back(lowered(*one, node.slot, body));
  node.b = &choices;
  return &node;
}

const Node* Parser::labelled() {
  const Block block(*this);
  const std::string name = token_.text;
  if (token_.kind != Token::Kind::variable)
    return unexpected();
  advance();
  if (!expect("|"))
    return nullptr;
  Node& node = make(Op::label);
  node.slot = declare("*" + name);
  node.a = query();
  return &node;
}

const Node* Parser::definition_and_rest() {
  const Block block(*this);
  if (definition() == nullptr)
    return nullptr;
  if (token_.kind == Token::Kind::end)
    return fail("it defines functions and does not use them");
  return query();
}

/// Parses `name(a; $b): body;` behind `def`. The function is known within itself and from here on.
Function* Parser::definition() {
  Function& function = program_.functions.emplace_back();
  function.name = token_.text;
  if (token_.kind != Token::Kind::name || is_keyword(token_.text) ||
      token_.text.find("::") != std::string::npos) {
    unexpected();
    return nullptr;
  }
  advance();
  if (take("(")) {
    do {
      const bool is_value = token_.kind == Token::Kind::variable;
      if (!is_value && (token_.kind != Token::Kind::name || is_keyword(token_.text))) {
        unexpected();
        return nullptr;
      }
      function.parameters.push_back(token_.text);
      advance();
    } while (take(";"));
    if (!expect(")"))
      return nullptr;
  }
  if (!expect(":"))
    return nullptr;
  scopes_.back().bindings.push_back({function.name, function.parameters.size(), 0, &function});
  scopes_.push_back({&function, {}});
  // A parameter `$a` also defines the function `a`.
  for (const std::string& parameter : function.parameters)
    declare(parameter.starts_with('$') ? parameter.substr(1) : parameter);
  for (const std::string& parameter : function.parameters)
    if (parameter.starts_with('$'))
      declare(parameter);
  function.body = query();
  scopes_.pop_back();
  return expect(";") && !has_failed() ? &function : nullptr;
}

}  // namespace fettle::jq
