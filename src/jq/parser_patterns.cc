/// Turns patterns into nested bindings: `. as [$a, {b: $c}] | f` is `. as $t | $t[0] as $a | $t[1]
/// as $u | $u.b as $c | f`.

#include "base/text.h"
#include "jq/parser.h"
#include "jq/parser_parts.h"

namespace fettle::jq {

/// A name that occurs twice in a pattern, or in several alternatives, is one variable.
uint32_t Parser::declare_in(const std::string& name, std::vector<uint32_t>& slots) {
  for (const Binding& binding : scopes_.back().bindings)
    if (binding.name == name && std::ranges::find(slots, binding.slot) != slots.end())
      return binding.slot;
  slots.push_back(declare(name));
  return slots.back();
}

std::unique_ptr<Parser::Pattern> Parser::pattern(std::vector<uint32_t>& slots) {
  auto made = std::make_unique<Pattern>();
  if (++depth_ > 400) {
    fail("it is nested too deeply");
    return made;
  }
  if (token_.kind == Token::Kind::variable) {
    made->slot = declare_in(token_.text, slots);
    advance();
  } else if (take("[")) {
    made->sort = Pattern::Sort::list;
    do {
      PatternPart part;
      part.key = Json::integer(static_cast<int64_t>(made->parts.size()));
      part.pattern = pattern(slots);
      made->parts.push_back(std::move(part));
    } while (!has_failed() && take(","));
    expect("]");
  } else if (take("{")) {
    made->sort = Pattern::Sort::object;
    do
      member_pattern(*made, slots);
    while (!has_failed() && take(","));
    expect("}");
  } else {
    unexpected();
  }
  --depth_;
  return made;
}

void Parser::member_pattern(Pattern& made, std::vector<uint32_t>& slots) {
  PatternPart part;
  const Token token = token_;
  if (token.kind == Token::Kind::variable) {
    advance();
    part.key = Json::text(token.text.substr(1));
    part.slot = declare_in(token.text, slots);
  } else if (token.kind == Token::Kind::name && token.text.find("::") == std::string::npos) {
    advance();
    part.key = Json::text(token.text);
  } else if (token.kind == Token::Kind::quote) {
    part.query = string();
  } else if (take("(")) {
    part.query = parenthesis();
  } else {
    unexpected();
  }
  if (!has_failed() && (!part.slot || is_symbol(":")) && expect(":"))
    part.pattern = pattern(slots);
  made.parts.push_back(std::move(part));
}

/// The slot for the value that a pattern takes apart.
uint32_t Parser::slot_for(const Pattern& pattern) {
  return pattern.sort == Pattern::Sort::variable ? pattern.slot : scopes_.back().function->slots++;
}

/// The part of the value in the slot `from` that a part of a pattern takes.
const Node* Parser::part_of(const PatternPart& part, bool is_list, uint32_t from) {
  const Node* const whole = variable(from);
  if (part.query != nullptr)
    return native("_index", {whole, pair(Op::pipe, variable(from), part.query)});
  Node& at = make(is_list ? Op::at_item : Op::at);
  at.key = part.key;
  return pair(Op::pipe, whole, &at);
}

/// Puts `body` behind the bindings of a pattern, whose value is in the slot `from`.
const Node* Parser::lowered(const Pattern& pattern, uint32_t from, const Node* body) {
  const auto bound = [&](const Node* source, uint32_t slot, const Node* rest) {
    Node& node = make(Op::bind);
    node.a = source;
    node.slot = slot;
    node.b = rest;
    return &node;
  };
  if (pattern.sort == Pattern::Sort::variable)
    return from == pattern.slot ? body : bound(variable(from), pattern.slot, body);
  for (auto part = pattern.parts.rbegin(); part != pattern.parts.rend(); ++part) {
    uint32_t slot = part->slot.value_or(0);
    if (part->pattern != nullptr) {
      const uint32_t inner = slot_for(*part->pattern);
      body = lowered(*part->pattern, inner, body);
      if (part->slot)
        body = bound(variable(slot), inner, body);
      else
        slot = inner;
    }
    body = bound(part_of(*part, pattern.sort == Pattern::Sort::list, from), slot, body);
  }
  return body;
}

}  // namespace fettle::jq
