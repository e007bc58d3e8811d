/// Compiles loops, and comprehensions, which are loops that collect values.

#include <algorithm>

#include "starlark/compile/compiler.h"

namespace fettle::starlark {

template <typename Body>
void Compiler::loop(Node* target, Node* iterable, uint32_t at, Body body) {
  bool counted = false;
  const uint32_t state = begin_loop(iterable, at, counted);
  const size_t range = draft_->loops.size();
  draft_->loops.push_back({u32(draft_->instructions.size()), ~u32(0), counted ? ~u32(0) : state});
  draft_->running.push_back({counted ? no_register : int(state), {}, {}, range});
  const size_t before = draft_->assigned.size();
  const size_t top = draft_->instructions.size();
  const uint32_t item =
      target->kind == NodeKind::identifier ? target_register(as<Identifier>(target)) : take(1);
  place(at);
  emit(counted ? Op::next_range : Op::next, state, item);
  const size_t exit = word(0);
  place(at);
  assign_target(target, item, at);
  body();
  Draft::Loop& mine = draft_->running.back();
  patch(mine.continues);
  jump_to(top);
  weigh_loop(exit - 1);
  draft_->instructions[exit] = offset_word(exit);
  patch(mine.breaks);
  draft_->loops[range].end = u32(draft_->instructions.size());
  if (!counted)
    emit(Op::end_iteration, state);
  draft_->running.pop_back();
  forget(before);
}

bool Compiler::is_universal(Node* node, std::string_view name) const {
  if (node->kind != NodeKind::identifier)
    return false;
  const Binding* binding = as<Identifier>(node)->binding;
  return binding != nullptr && binding->scope == Scope::universal && binding->symbol->text == name;
}

bool Compiler::is_plain_range(Node* node) const {
  if (node->kind != NodeKind::call || !is_universal(as<CallNode>(node)->function, "range"))
    return false;
  const std::span<Argument> arguments = as<CallNode>(node)->arguments;
  return !arguments.empty() && arguments.size() <= 3 &&
         std::all_of(arguments.begin(), arguments.end(), [](const Argument& argument) {
           return argument.kind == ArgumentKind::positional;
         });
}

uint32_t Compiler::begin_loop(Node* iterable, uint32_t at, bool& counted) {
  counted = is_plain_range(iterable);
  const uint32_t state = take(3);
  if (counted) {
    auto* call = as<CallNode>(iterable);
    const uint32_t mark = draft_->next;
    const uint32_t first = take(u32(call->arguments.size()));
    for (size_t i = 0; i < call->arguments.size(); ++i)
      expression_into(call->arguments[i].value, first + u32(i));
    place(call->at);
    emit(Op::iterate_range, state, first, u32(call->arguments.size()));
    draft_->next = mark;
  } else {
    const uint32_t mark = draft_->next;
    const uint32_t value = expression(iterable);
    draft_->next = mark;
    place(at);
    emit(Op::iterate, state, value);
  }
  return state;
}

void Compiler::weigh_loop(size_t at) {
  const size_t length = draft_->length_from(at);
  draft_->instructions[at].c = u16(std::min<size_t>(length / 8, UINT16_MAX));
}

void Compiler::for_statement(ForNode* node) {
  loop(node->target, node->iterable, node->at, [&] { statements(node->body); });
}

void Compiler::while_statement(WhileNode* node) {
  const size_t top = draft_->instructions.size();
  draft_->running.push_back({no_register, {}, {}, 0});
  std::vector<size_t> exits;
  const uint32_t mark = draft_->next;
  const size_t before = draft_->assigned.size();
  jump_unless(node->condition, exits);
  draft_->next = mark;
  place(node->at);
  const size_t tick = draft_->instructions.size();
  emit(Op::tick);
  statements(node->body);
  patch(draft_->running.back().continues);
  jump_to(top);
  weigh_loop(tick);
  patch(exits);
  patch(draft_->running.back().breaks);
  draft_->running.pop_back();
  forget(before);
}

void Compiler::comprehension(ComprehensionNode* node, uint32_t into) {
  const uint32_t made = take(1);
  place(node->at);
  if (node->is_dict)
    emit_wide(Op::make_dict, made, 0);
  else
    emit(Op::make_list, made, made, 0);
  const size_t before = draft_->assigned.size();
  for (Binding* binding : node->bindings) {
    binding->index = take(1);
    binding->assigned = 0;
  }
  // A text can have more clauses than the native stack has room for.
  std::vector<OpenClause> open;
  for (size_t i = 0; i < node->clauses.size(); ++i)
    open.push_back(begin_clause(node, i));
  item(node, made);
  for (size_t i = open.size(); i-- > 0;)
    end_clause(node->clauses[i], open[i]);
  forget(before);
  emit(Op::move, into, made);
}

/// Adds the value of the innermost clause.
void Compiler::item(ComprehensionNode* node, uint32_t made) {
  const uint32_t mark = draft_->next;
  if (node->is_dict) {
    const uint32_t key = expression(node->key);
    const uint32_t value = expression(node->body);
    place(node->colon);
    emit(Op::put, made, key, value);
  } else {
    const uint32_t value = expression(node->body);
    place(node->at);
    emit(Op::append, made, value);
  }
  draft_->next = mark;
}

Compiler::OpenClause Compiler::begin_clause(ComprehensionNode* node, size_t i) {
  const Clause& clause = node->clauses[i];
  OpenClause open{.mark = draft_->next, .before = draft_->assigned.size(), .over = {}};
  if (!clause.is_for) {
    jump_unless(clause.value, open.over);
    draft_->next = open.mark;
    return open;
  }
  open.state = begin_loop(clause.value, clause.at, open.counted);
  if (i == 0) {
    // A variable that closures share is one cell for the whole comprehension. Such variables, and
    // those that may be read too early, begin without a value.
    for (Binding* binding : node->bindings) {
      if (binding->scope == Scope::cell)
        emit(Op::new_cell, binding->index);
      else if (node->clauses.size() > 1)
        load_constant(binding->index, Value::unset());
    }
  }
  open.range = draft_->loops.size();
  draft_->loops.push_back(
      {u32(draft_->instructions.size()), ~u32(0), open.counted ? ~u32(0) : open.state});
  open.before = draft_->assigned.size();
  open.top = draft_->instructions.size();
  const uint32_t next = clause.target->kind == NodeKind::identifier
                            ? target_register(as<Identifier>(clause.target))
                            : take(1);
  place(clause.at);
  emit(open.counted ? Op::next_range : Op::next, open.state, next);
  open.exit = word(0);
  assign_target(clause.target, next, clause.at);
  return open;
}

void Compiler::end_clause(const Clause& clause, const OpenClause& open) {
  if (!clause.is_for) {
    patch(open.over);
    forget(open.before);
    return;
  }
  jump_to(open.top);
  weigh_loop(open.exit - 1);
  draft_->instructions[open.exit] = offset_word(open.exit);
  draft_->loops[open.range].end = u32(draft_->instructions.size());
  if (!open.counted)
    emit(Op::end_iteration, open.state);
  forget(open.before);
  draft_->next = open.mark;
}

}  // namespace fettle::starlark
