/// Functions as values, and their calls.

#include <algorithm>

#include "starlark/code/methods.h"
#include "starlark/compile/compiler.h"

namespace fettle::starlark {

void Compiler::make_function(FunctionNode* node, uint32_t into, uint32_t at) {
  const uint32_t mark = draft_->next;
  // An entry for each parameter from the first one with a default on. Keyword-only parameters
  // without a default have the entry `unset`.
  uint32_t defaults = 0;
  bool started = false;
  bool after_star = false;
  std::vector<Node*> fallbacks;
  for (const ParameterNode& parameter : node->parameters) {
    if (parameter.kind == ParameterKind::bare_star || parameter.kind == ParameterKind::rest) {
      after_star = true;
    } else if (parameter.kind == ParameterKind::optional) {
      started = true;
      fallbacks.push_back(parameter.fallback);
    } else if (parameter.kind == ParameterKind::required && (started || after_star)) {
      started = true;
      fallbacks.push_back(nullptr);
    }
  }
  defaults = u32(fallbacks.size());
  const uint32_t first = take(defaults);
  for (uint32_t i = 0; i < defaults; ++i) {
    if (fallbacks[i] != nullptr)
      expression_into(fallbacks[i], first + i);
    else
      load_constant(first + i, Value::unset());
  }
  Code* code = function(node, false);
  code->defaults = defaults;
  draft_->children.push_back(code);
  place(at);
  emit(Op::make_function, into, first, defaults);
  word(draft_->children.size() - 1);
  draft_->next = mark;
}

void Compiler::method_words(Op op, uint32_t a, uint32_t b, uint32_t c,
                            const AttributeNode* attribute, uint32_t at) {
  place(attribute->at);  // where a missing method is told
  emit(op, a, b, c);
  place(at);
  word(name_constant(attribute->name));
  word(std::bit_cast<uint64_t>(find_method_row(attribute->name->text)));
  word(0);
}

/// Whether an argument can fail or do something, so that a missing method must be reported before
/// it.
static bool shows_when_it_runs(const Argument& argument) {
  switch (argument.value->kind) {
    case NodeKind::identifier:
    case NodeKind::integer:
    case NodeKind::real:
    case NodeKind::string:
    case NodeKind::bytes:
      return false;
    default:
      return true;
  }
}

void Compiler::call(CallNode* node, uint32_t into, int given) {
  bool plain = true;
  for (const Argument& argument : node->arguments)
    plain = plain && argument.kind == ArgumentKind::positional;
  if (plain && node->arguments.size() == 1 && given == no_register &&
      is_universal(node->function, "len")) {
    const uint32_t value = expression(node->arguments[0].value);
    place(node->at);
    emit(Op::length, into, value);
    return;
  }
  const uint32_t base = take(1 + u32(node->arguments.size()) + 2);
  const bool method = node->function->kind == NodeKind::attribute;
  AttributeNode* attribute = method ? as<AttributeNode>(node->function) : nullptr;
  Node* first = method ? attribute->object : node->function;
  if (given != no_register)
    emit(Op::move, base, u32(given));
  else
    expression_into(first, base);
  const bool gathers = std::ranges::any_of(node->arguments, [](const Argument& argument) {
    return argument.kind == ArgumentKind::rest || argument.kind == ArgumentKind::named_rest;
  });
  if (method && gathers)
    get_attribute(base, base, attribute);
  else if (method && (!plain || std::ranges::any_of(node->arguments, shows_when_it_runs)))
    method_words(Op::check_method, base, 0, 0, attribute, attribute->at);
  uint32_t next = base + 1;
  for (const Argument& argument : node->arguments)
    expression_into(argument.value, next++);
  const uint32_t count = u32(node->arguments.size());
  if (plain && method) {
    method_words(Op::call_method, base, count, into, attribute, node->at);
    return;
  }
  place(node->at);
  if (plain) {
    emit(Op::call, base, count, into);
    return;
  }
  auto* site = arena().make<CallSiteHolder>()->site();
  std::vector<Value> names;
  for (const Argument& argument : node->arguments) {
    switch (argument.kind) {
      case ArgumentKind::positional:
        ++site->positional;
        break;
      case ArgumentKind::named:
        ++site->named;
        names.push_back(name_value(argument.name));
        break;
      case ArgumentKind::rest:
        site->rest = true;
        break;
      case ArgumentKind::named_rest:
        site->named_rest = true;
        break;
    }
  }
  for (const Value name : names)
    constant(name);  // kept alive with the other constants
  site->names = arena().copy(std::span<const Value>(names)).data();
  draft_->sites.push_back(site);
  if (method && !gathers) {
    method_words(Op::call_method_general, base, count, into, attribute, node->at);
    word(draft_->sites.size() - 1);
    draft_->spare(-4);  // plain instructions would get the attribute and call it
    return;
  }
  emit(Op::call_general, base, count, into);
  word(draft_->sites.size() - 1);
}

}  // namespace fettle::starlark
