#include "base/text.h"
#include "jq/parser.h"
#include "jq/parser_parts.h"
#include "jq/text_form.h"

namespace fettle::jq {
namespace {

constexpr int deepest_term = 400;

}  // namespace

const Node* Parser::term() {
  if (++depth_ > deepest_term)
    return fail("it is nested too deeply");
  const bool is_dot = is_symbol(".");
  const Node* const bare = bare_term();
  const Node* const node = has_failed() ? nullptr : suffixed(bare, is_dot);
  --depth_;
  return node;
}

/// A field is a suffix of a term that was not written.
const Node* Parser::bare_term() {
  switch (token_.kind) {
    case Token::Kind::number:
      return number();
    case Token::Kind::quote:
      return string();
    case Token::Kind::format:
      return format();
    case Token::Kind::name:
      return word();
    case Token::Kind::field:
      return &make(Op::identity);
    case Token::Kind::variable: {
      const Token token = token_;
      advance();
      return named_variable(token);
    }
    default:
      break;
  }
  if (take("."))
    return &make(Op::identity);
  if (take(".."))
    return call("recurse", {});
  if (take("("))
    return parenthesis();
  if (take("["))
    return list();
  if (take("{"))
    return object();
  for (const std::string_view symbol : {"-", "+"})
    if (take(symbol))
      return sign(symbol);
  return unexpected();
}

/// `T?` catches the errors of T's last suffix, whose input is the rest of T.
const Node* Parser::suffixed(const Node* node, bool is_dot) {
  const auto constant = keys_.find(node);
  const std::optional<Constant> begins =
      constant == keys_.end() ? std::nullopt : std::optional(constant->second);
  const auto known_path = indices_.find(node);
  std::optional<Json::List> path;
  if (known_path != indices_.end())
    path = known_path->second.items();
  else if (node->op == Op::identity)
    path.emplace();
  const Node* before = node;
  std::optional<Suffix> last;
  while (!has_failed()) {
    if (take("?")) {
      node = last ? pair(Op::pipe, before, pair(Op::attempt, last->alone, nullptr))
                  : pair(Op::attempt, node, nullptr);
      last.reset(), path.reset();
      is_dot = false;
      continue;
    }
    const bool begins_dotted = is_dot && (is_symbol("[") || token_.kind == Token::Kind::quote);
    const bool has_dot = !begins_dotted && take(".");
    const bool after_dot = begins_dotted || has_dot;
    is_dot = false;
    if (token_.kind == Token::Kind::field && !has_dot) {
      last = field(Json::text(token_.text));
      advance();
    } else if (take("[")) {
      last = bracket();
    } else if (after_dot && token_.kind == Token::Kind::quote) {
      const Node* const key = string();
      if (has_failed())
        return nullptr;
      last = key->op == Op::constant
                 ? field(key->key)
                 : Suffix{native("_index", {&make(Op::identity), key}), {key}, {}};
    } else {
      if (has_dot)
        return unexpected();
      break;
    }
    if (has_failed())
      return nullptr;
    before = node;
    node = applied(*last, before);
    if (path && last->key)
      path->push_back(*last->key);
    else
      path.reset();
  }
  if (path && !path->empty())
    indices_.insert_or_assign(node, Json::list(*path));
  if (begins)
    keys_.insert_or_assign(node, *begins);
  return node;
}

Parser::Suffix Parser::field(Json key) {
  Node& node = make(Op::at);
  node.key = key;
  return {&node, {}, std::move(key)};
}

/// Parses what stands behind `[`.
Parser::Suffix Parser::bracket() {
  if (take("]"))
    return {&make(Op::iterate), {}, {}};
  const Block block(*this);
  const auto limit = [&]() -> const Node* { return query(); };
  const Node* const start = is_symbol(":") ? nullptr : limit();
  if (take(":")) {
    const Node* const end = is_symbol("]") && start != nullptr ? nullptr : limit();
    expect("]");
    return has_failed() ? Suffix{} : slice(start, end);
  }
  if (!expect("]") || has_failed())
    return {};
  if (const auto key = keys_.find(start); key != keys_.end())
    return field(key->second.value);
  return {native("_index", {&make(Op::identity), start}), {start}, {}};
}

Parser::Suffix Parser::slice(const Node* start, const Node* end) {
  const auto key_of = [&](const Node* node) -> std::optional<Json> {
    if (node == nullptr)
      return Json();
    const auto found = keys_.find(node);
    return found == keys_.end() ? std::nullopt : std::optional(found->second.value);
  };
  const std::optional<Json> from = key_of(start), to = key_of(end);
  if (from && to)
    return field(Json::dict({{Json::text("start"), *from}, {Json::text("end"), *to}}));
  const Node* const first = start == nullptr ? constant({}) : start;
  const Node* const behind = end == nullptr ? constant({}) : end;
  return {native("_slice", {&make(Op::identity), behind, first}), {behind, first}, {}};
}

const Node* Parser::applied(const Suffix& suffix, const Node* to) {
  if (suffix.computed.empty())
    return pair(Op::pipe, to, suffix.alone);
  std::vector<const Node*> parts{to};
  parts.insert(parts.end(), suffix.computed.begin(), suffix.computed.end());
  return native(suffix.alone->native->name, std::move(parts));
}

const Node* Parser::parenthesis() {
  const Block block(*this);
  const Node* const node = query();
  keys_.erase(node);
  return expect(")") ? node : nullptr;
}

const Node* Parser::number() {
  const Node* const node = constant(number_of(token_.text));
  keys_.insert_or_assign(node, Constant{node->key, true});
  advance();
  return node;
}

/// A number with its sign is a constant, whatever follows, as in gojq.
const Node* Parser::sign(std::string_view symbol) {
  const Node* const of = term();
  if (has_failed())
    return nullptr;
  const std::string_view name = symbol == "-" ? "_negate" : "_plus";
  const auto known = keys_.find(of);
  if (known == keys_.end() || !known->second.is_number)
    return pair(Op::pipe, of, native(name, {}));
  const Answer value = find_native(name, 0)->compute(known->second.value, {});
  const Node* const node = constant(*value);
  keys_.insert_or_assign(node, Constant{node->key});
  return node;
}

/// Computed parts go through the function of the format.
const Node* Parser::string(std::string_view format) {
  const Node* made = nullptr;
  while (!has_failed()) {
    Piece piece = lexer_.piece();
    if (piece.end == Piece::End::broken)
      return fail(std::move(piece.text));
    const bool is_end = piece.end == Piece::End::quote;
    const auto add = [&](const Node* part) {
      made = made == nullptr ? part : native("_add", {made, part});
    };
    if (!piece.text.empty() || (is_end && made == nullptr))
      add(constant(Json::text(std::move(piece.text))));
    if (is_end)
      break;
    advance();
    const Block block(*this);
    const Node* const part = query();
    if (has_failed())
      return nullptr;
    if (!is_symbol(")"))
      return unexpected();
    add(pair(Op::pipe, part, call(std::string(format), {})));
  }
  advance();
  if (!has_failed() && made->op == Op::constant)
    keys_.insert_or_assign(made, Constant{made->key});
  return made;
}

const Node* Parser::format() {
  const std::string name = token_.text.substr(1);
  const std::optional<std::string> function = format_function(name);
  if (!function)
    return fail(cat("there is no format `@", name, "`"));
  advance();
  return token_.kind == Token::Kind::quote ? string(*function) : call(*function, {});
}

const Node* Parser::list() {
  Node& node = make(Op::list);
  if (take("]"))
    return constant(Json::list({}));
  const Block block(*this);
  node.a = query();
  return expect("]") ? &node : nullptr;
}

const Node* Parser::object() {
  Node& node = make(Op::object);
  while (!has_failed() && !take("}")) {
    object_member(node);
    if (!is_symbol("}"))
      expect(",");
  }
  return node.parts.empty() ? constant(Json::dict({})) : &node;
}

/// A key without a value takes the value from `.`, a variable that of the variable.
void Parser::object_member(Node& made) {
  const Block block(*this);
  const Token token = token_;
  const Node *key = nullptr, *value = nullptr;
  bool needs_value = false;
  if (token.kind == Token::Kind::variable) {
    advance();
    const bool is_named = !is_symbol(":");
    key = is_named ? constant(Json::text(token.text.substr(1))) : named_variable(token);
    value = is_named ? named_variable(token) : nullptr;
  } else if (token.kind == Token::Kind::name && token.text.find("::") == std::string::npos) {
    advance();
    key = constant(Json::text(token.text));
  } else if (token.kind == Token::Kind::quote) {
    key = string();
  } else if (take("(")) {
    key = parenthesis();
    needs_value = true;
  } else {
    unexpected();
  }
  if (needs_value)
    expect(":");
  if (needs_value || (!has_failed() && take(":")))
    value = object_value();
  if (!has_failed() && value == nullptr && key->op == Op::constant)
    value = field(key->key).alone;
  made.parts.push_back(key);
  made.parts.push_back(value);
}

const Node* Parser::object_value() {
  const Node* const left = expression();
  return take("|") ? pair(Op::pipe, left, object_value()) : left;
}

/// Parses what stands behind `if` or `elif`.
const Node* Parser::condition() {
  const auto part = [&]() -> const Node* {
    const Block block(*this);
    return query();
  };
  Node& node = make(Op::condition);
  node.a = part();
  if (!expect_word("then"))
    return nullptr;
  node.b = part();
  if (take_word("elif")) {
    node.c = condition();
    return has_failed() ? nullptr : &node;
  }
  node.c = take_word("else") ? part() : &make(Op::identity);
  return expect_word("end") ? &node : nullptr;
}

const Node* Parser::attempt() {
  const Node* const body = term();
  const Node* const handler = !has_failed() && take_word("catch") ? term() : nullptr;
  return pair(Op::attempt, body, handler);
}

/// The names of the pattern are not known where the loop starts.
const Node* Parser::loop(Op op) {
  const Block block(*this);
  Node& node = make(op);
  node.a = expression();
  if (has_failed() || !expect_word("as"))
    return nullptr;
  std::vector<Binding>& bindings = scopes_.back().bindings;
  const auto outside = static_cast<std::ptrdiff_t>(bindings.size());
  std::vector<uint32_t> slots;
  const std::unique_ptr<Pattern> items = pattern(slots);
  const std::vector<Binding> inside(bindings.begin() + outside, bindings.end());
  bindings.resize(static_cast<size_t>(outside));
  if (has_failed() || !expect("("))
    return nullptr;
  node.b = query();
  scopes_.back().bindings.insert(scopes_.back().bindings.end(), inside.begin(), inside.end());
  if (has_failed() || !expect(";"))
    return nullptr;
  const Node* const update = query();
  if (op == Op::foreach && !has_failed() && take(";"))
    node.d = query();
  if (has_failed() || !expect(")"))
    return nullptr;
  // The state is read when the pattern is bound: a pattern that binds in two ways updates it twice.
  const uint32_t state = scopes_.back().function->slots++;
  node.slots = {state};
  node.slot = slot_for(*items);
  node.c = lowered(*items, node.slot, pair(Op::pipe, variable(state), update));
  return &node;
}

const Node* Parser::leave() {
  const std::string name = token_.text;
  if (token_.kind != Token::Kind::variable)
    return unexpected();
  const Found found = find("*" + name, 0);
  if (found.binding == nullptr)
    return fail(cat("there is no label `", name, "`"));
  advance();
  Node& node = make(Op::leave);
  node.hops = found.hops;
  node.slot = found.binding->slot;
  return &node;
}

const Node* Parser::word() {
  const std::string name = token_.text;
  if (is_keyword(name) && (name == "def" || name == "label"))
    return unexpected();
  const Token token = token_;
  advance();
  if (name == "null")
    return constant({});
  if (name == "true" || name == "false")
    return constant(Json::boolean(name == "true"));
  if (name == "if")
    return condition();
  if (name == "try")
    return attempt();
  if (name == "reduce" || name == "foreach")
    return loop(name == "reduce" ? Op::reduce : Op::foreach);
  if (name == "break")
    return leave();
  if (is_keyword(name)) {
    token_ = token;
    return unexpected();
  }
  std::vector<const Node*> arguments;
  if (take("(")) {
    do
      arguments.push_back(body_of([&] { return query(); }));
    while (!has_failed() && take(";"));
    if (has_failed() || !expect(")"))
      return nullptr;
  }
  return call(name, std::move(arguments), &token);
}

const Node* Parser::call(const std::string& name, std::vector<const Node*> arguments,
                         const Token* at) {
  const Found found = find(name, arguments.size());
  if (found.binding != nullptr && found.binding->function == nullptr) {
    Node& node = make(Op::argument);
    node.hops = found.hops;
    node.slot = found.binding->slot;
    return &node;
  }
  if (found.binding == nullptr)
    if (const Node* node = special(name, arguments))
      return node;
  const auto known = known_.find(std::pair(name, arguments.size()));
  if (found.binding != nullptr || known != known_.end()) {
    Node& node = make(Op::call);
    node.function = found.binding != nullptr ? found.binding->function : known->second;
    node.hops = found.binding != nullptr ? found.hops : from_outside;
    node.parts = std::move(arguments);
    return &node;
  }
  if (find_native(name, arguments.size()) != nullptr)
    return native(name, std::move(arguments));
  const std::string wanted = cat(name, "/", arguments.size());
  return fail(cat("there is no function `", wanted, "`",
                  is_program_ ? suggestion(wanted, known_functions()) : std::string()),
              at);
}

/// Parses a name that is a function neither in C++ nor in jq.
const Node* Parser::special(const std::string& name, const std::vector<const Node*>& arguments) {
  if (name == "empty" && arguments.empty())
    return &make(Op::empty);
  if (name == "env" && arguments.empty())
    return constant(Json::dict({}));
  if (name == "path" && arguments.size() == 1)
    return pair(Op::path, arguments[0], nullptr);
  if (name == "_range" && arguments.size() == 3)
    return native(name, arguments);
  if (name == "_modify" && arguments.size() == 2)
    return pair(Op::modify, arguments[0], arguments[1]);
  return nullptr;
}

const Node* Parser::named_variable(const Token& token) {
  const std::string& name = token.text;
  const Found found = find(name, 0);
  if (found.binding == nullptr)
    return name == "$ENV" ? constant(Json::dict({}))
                          : fail(cat("there is no variable `", name, "`"), &token);
  Node& node = make(Op::variable);
  node.hops = found.hops;
  node.slot = found.binding->slot;
  return &node;
}

}  // namespace fettle::jq
