#include "starlark/compile/compiler.h"

#include <algorithm>
#include <array>

#include "base/invariant.h"
#include "starlark/compile/places.h"
#include "starlark/heap/make.h"

namespace fettle::starlark {

std::optional<SyntaxError> Compiler::run(FunctionNode* file, const ResolveResult& resolved) {
  for (const Binding* global : resolved.globals) {
    module_.global_names.emplace_back(global->symbol->text);
    module_.exported.push_back(!global->loaded);
  }
  module_.globals.assign(resolved.globals.size(), Value::unset());
  module_.main = function(file, true);
  return error_;
}

Code* Compiler::function(FunctionNode* node, bool is_file) {
  Code* code = arena().make<CodeHolder>()->code();
  module_.codes.push_back(code);
  code->name = arena().copy(node->name);
  code->at = node->at;
  code->entry_at = place_before_body(node);
  code->module = &module_;
  Draft* outer = draft_;
  if (spare_.empty())
    spare_.push_back(std::make_unique<Draft>());
  std::unique_ptr<Draft> draft = std::move(spare_.back());
  spare_.pop_back();
  draft_ = draft.get();
  draft_->clear();
  body(node, code, is_file);
  if (draft_->too_far) {
    draft_->clear();
    code->children = {};
    draft_->far_jumps = true;
    body(node, code, is_file);
  }
  finish(code);
  spare_.push_back(std::move(draft));
  draft_ = outer;
  return code;
}

void Compiler::body(FunctionNode* node, Code* code, bool is_file) {
  Draft& d = *draft_;
  d.code = code;
  d.node = node;
  d.is_file = is_file;
  d.serial = ++serial_;
  code->parameters = code->keyword_only = 0;
  code->has_rest = code->has_named_rest = false;
  // Registers of parameters come first; those with names stand before * and **.
  size_t binding = 0;
  std::array<Binding*, 2> rests{};  // * and **
  bool after_star = false;
  for (const ParameterNode& parameter : node->parameters) {
    if (parameter.kind == ParameterKind::bare_star) {
      after_star = true;
      continue;
    }
    Binding* variable = node->bindings[binding++];
    if (parameter.kind == ParameterKind::rest) {
      after_star = true;
      code->has_rest = true;
      rests[0] = variable;
      continue;
    }
    if (parameter.kind == ParameterKind::named_rest) {
      code->has_named_rest = true;
      rests[1] = variable;
      continue;
    }
    if (after_star)
      ++code->keyword_only;
    variable->index = code->parameters++;
  }
  d.next = code->parameters;
  for (Binding* rest : rests) {
    if (rest != nullptr)
      rest->index = d.next++;
  }
  const size_t parameters = d.next;
  for (; binding < node->bindings.size(); ++binding)
    node->bindings[binding]->index = d.next++;
  d.most = d.next;
  if (!after_star && !code->has_named_rest)
    code->simple_arity = static_cast<int32_t>(code->parameters);
  std::vector<uint16_t> cells;
  for (size_t i = 0; i < node->bindings.size(); ++i) {
    Binding* variable = node->bindings[i];
    variable->assigned = 0;
    if (i < parameters) {
      assign(variable);
      if (variable->scope == Scope::cell)
        cells.push_back(u16(variable->index));
    } else if (variable->scope == Scope::cell) {
      emit(Op::new_cell, variable->index);
    }
  }
  code->cell_registers = arena().copy(std::span<const uint16_t>(cells));
  if (d.next > most_registers) {
    fail(node->at, "too many variables in a function");
    return;
  }
  if (!node->body.empty() && node->body[0]->kind == NodeKind::expression_statement) {
    Node* first = as<ExpressionStatement>(node->body[0])->value;
    if (first->kind == NodeKind::string)
      code->docstring = arena().copy(as<TextNode>(first)->text);
  }
  if (node->result != nullptr) {
    const uint32_t result = expression(node->result);
    emit(Op::return_value, result);
    return;
  }
  if (!statements(node->body))
    emit(Op::return_none);
}

void Compiler::finish(Code* code) {
  Draft& d = *draft_;
  code->instructions = arena().copy(std::span<const Instruction>(d.instructions));
  code->constants = arena().copy(std::span<const Value>(d.constants));
  code->children = arena().copy(std::span<Code* const>(d.children));
  code->load_sites = arena().copy(std::span<const LoadSite>(d.load_sites));
  code->loops = arena().copy(std::span<const LoopRange>(d.loops));
  code->places = arena().copy(std::span<const PlaceEntry>(d.places));
  std::sort(d.unset.begin(), d.unset.end());
  d.unset.erase(std::unique(d.unset.begin(), d.unset.end()), d.unset.end());
  code->unset_registers = arena().copy(std::span<const uint16_t>(d.unset));
  code->has_prologue = !d.unset.empty() || !code->cell_registers.empty();
  code->registers = d.most;
  code->cost = u32(1 + d.length_from(0) / 16);
  auto* sites = static_cast<CallSite*>(arena().take(d.sites.size() * sizeof(CallSite)));
  for (size_t i = 0; i < d.sites.size(); ++i) {
    CallSite* site = new (sites + i) CallSite();
    site->positional = d.sites[i]->positional;
    site->named = d.sites[i]->named;
    site->rest = d.sites[i]->rest;
    site->named_rest = d.sites[i]->named_rest;
    site->names = d.sites[i]->names;
  }
  code->call_sites = {sites, d.sites.size()};
  // Names of registers, for messages and for binding arguments.
  const size_t named = d.node->bindings.size();
  auto* names = static_cast<Value*>(arena().take(named * sizeof(Value)));
  for (const Binding* binding : d.node->bindings)
    names[binding->index] = name_value(binding->symbol);
  code->register_names = {names, named};
  std::vector<Capture> captures;
  for (const Binding* free : d.node->free) {
    const Binding* source = free->outer;
    captures.push_back({source->scope != Scope::free, source->index});
  }
  code->captures = arena().copy(std::span<const Capture>(captures));
}

uint32_t Compiler::take(uint32_t count) {
  const uint32_t first = draft_->next;
  draft_->next += count;
  if (draft_->next > most_registers) {
    fail(draft_->node->at, "function needs too many registers");
    draft_->next = first;
    return 0;
  }
  draft_->most = std::max(draft_->most, draft_->next);
  return first;
}

size_t Compiler::name_constant(Symbol* symbol) {
  name_value(symbol);
  if (symbol->code != draft_->serial) {
    symbol->code = draft_->serial;
    symbol->slot = u32(constant(symbol->value));
  }
  return symbol->slot;
}

void Compiler::load_constant(uint32_t into, Value value) {
  emit_wide(Op::load_const, into, constant(value));
}

Value Compiler::name_value(Symbol* symbol) {
  if (symbol->value.is_unset())
    symbol->value = make_constant_text(heap(), symbol->text);
  return symbol->value;
}

Value Compiler::text_value(std::string_view text) {
  if (text.size() <= 7)
    return Value::short_text(text);
  if (text.size() <= 40)
    return name_value(symbols_.find(text));
  return make_constant_text(heap(), text);
}

size_t Compiler::text_constant(std::string_view text) {
  return text.size() <= 40 ? name_constant(symbols_.find(text)) : constant(text_value(text));
}

Value Compiler::big_literal(const IntegerNode* node) {
  return parse_integer(heap(), node->digits, node->radix);
}

void Compiler::patch(const std::vector<size_t>& jumps) {
  for (const size_t from : jumps) {
    const int64_t offset = i64(draft_->instructions.size()) - i64(from) - 1;
    Instruction& instruction = draft_->instructions[from];
    if (instruction.op == Op::jump || instruction.op == Op::jump_true ||
        instruction.op == Op::jump_false) {
      instruction.b = u16(offset & 0xffff);
      instruction.c = u16(offset >> 16);
    } else {
      if (offset > INT16_MAX)
        draft_->too_far = true;
      instruction.c = u16(offset);
    }
  }
}

std::optional<SyntaxError> compile(FunctionNode* file, const ResolveResult& resolved,
                                   ModuleState& module, Symbols& symbols) {
  return Compiler(module, symbols).run(file, resolved);
}

}  // namespace fettle::starlark
