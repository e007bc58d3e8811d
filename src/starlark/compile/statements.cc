/// Compiles statements, except loops and assignments.

#include "starlark/compile/compiler.h"

namespace fettle::starlark {

bool Compiler::statements(std::span<Node*> nodes) {
  for (Node* node : nodes) {
    const uint32_t mark = draft_->next;
    const bool ends = statement(node);
    draft_->next = mark;
    if (ends)
      return true;
    if (error_)
      return false;
  }
  return false;
}

bool Compiler::statement(Node* node) {
  switch (node->kind) {
    case NodeKind::expression_statement: {
      Node* value = as<ExpressionStatement>(node)->value;
      if (value->kind != NodeKind::string)
        expression(value);
      return false;
    }
    case NodeKind::assign:
      assign_statement(as<AssignNode>(node));
      return false;
    case NodeKind::augmented_assign:
      augmented(as<AugmentedAssignNode>(node));
      return false;
    case NodeKind::def_statement: {
      auto* def = as<DefNode>(node);
      const uint32_t made = target_register(def->name);
      make_function(&def->function, made, node->at);
      store(def->name, made);
      return false;
    }
    case NodeKind::return_statement: {
      Node* value = as<ReturnNode>(node)->value;
      const uint32_t result = value == nullptr ? 0 : expression(value);
      for (size_t i = draft_->running.size(); i-- > 0;) {
        if (draft_->running[i].iterator != no_register)
          emit(Op::end_iteration, u32(draft_->running[i].iterator));
      }
      if (value == nullptr)
        emit(Op::return_none);
      else
        emit(Op::return_value, result);
      return true;
    }
    case NodeKind::if_statement:
      return if_statement(as<IfNode>(node));
    case NodeKind::for_statement:
      for_statement(as<ForNode>(node));
      return false;
    case NodeKind::while_statement:
      while_statement(as<WhileNode>(node));
      return false;
    case NodeKind::break_statement: {
      Draft::Loop& loop = draft_->running.back();
      loop.breaks.push_back(jump());
      return true;
    }
    case NodeKind::continue_statement: {
      draft_->running.back().continues.push_back(jump());
      return true;
    }
    case NodeKind::load_statement:
      load_statement(as<LoadNode>(node));
      return false;
    default:
      return false;
  }
}

bool Compiler::if_statement(IfNode* node) {
  const size_t before = draft_->assigned.size();
  std::vector<size_t> to_end;
  std::vector<Binding*> common;
  bool first = true;
  bool all_end = true;
  bool has_else = false;
  for (const Branch& branch : node->branches) {
    std::vector<size_t> to_next;
    const uint32_t mark = draft_->next;
    if (branch.condition != nullptr)
      jump_unless(branch.condition, to_next);
    else
      has_else = true;
    draft_->next = mark;
    const bool ends = statements(branch.body);
    if (!ends) {
      all_end = false;
      // A variable that every branch assigns, if it goes on, is assigned afterwards.
      std::vector<Binding*> mine(draft_->assigned.begin() + i64(before), draft_->assigned.end());
      if (first)
        common = std::move(mine);
      else
        std::erase_if(common, [](const Binding* binding) { return binding->assigned == 0; });
      first = false;
    }
    forget(before);
    if (&branch != &node->branches.back() && !ends)
      to_end.push_back(jump());
    patch(to_next);
  }
  patch(to_end);
  if (has_else && !all_end) {
    for (Binding* binding : common)
      assign(binding);
  }
  return has_else && all_end;
}

void Compiler::load_statement(LoadNode* node) {
  std::vector<std::string_view> names;
  for (const LoadedName& name : node->names)
    names.push_back(arena().copy(name.name));
  draft_->load_sites.push_back(
      {arena().copy(node->module), arena().copy(std::span<const std::string_view>(names))});
  const uint32_t first = take(u32(names.size()));
  place(node->at);
  emit_wide(Op::load_module, first, draft_->load_sites.size() - 1);
  for (size_t i = 0; i < names.size(); ++i)
    store(node->names[i].local, first + u32(i));
}

}  // namespace fettle::starlark
