/// `=`, `+=` and the like, for each kind of target.

#include "starlark/compile/compiler.h"

namespace fettle::starlark {

uint32_t Compiler::target_register(const Identifier* id) {
  const Binding* binding = id->binding;
  if (binding != nullptr && binding->scope == Scope::local)
    return binding->index;
  return take(1);
}

void Compiler::store(Identifier* id, uint32_t value) {
  Binding* binding = id->binding;
  if (binding == nullptr)
    return;
  switch (binding->scope) {
    case Scope::global:
      emit_wide(Op::store_global, value, binding->index);
      break;
    case Scope::cell:
      emit(Op::store_cell, binding->index, value);
      break;
    default:
      if (binding->index != value)
        emit(Op::move, binding->index, value);
      break;
  }
  assign(binding);
}

void Compiler::assign_target(Node* target, uint32_t value, uint32_t at) {
  switch (target->kind) {
    case NodeKind::identifier:
      store(as<Identifier>(target), value);
      break;
    case NodeKind::index: {
      auto* index = as<IndexNode>(target);
      const uint32_t mark = draft_->next;
      const uint32_t object = expression(index->object);
      store_index(object, index->key, value, index->at);
      draft_->next = mark;
      break;
    }
    case NodeKind::attribute: {
      auto* attribute = as<AttributeNode>(target);
      const uint32_t mark = draft_->next;
      const uint32_t object = expression(attribute->object);
      place(attribute->at);
      emit(Op::set_attribute, object, value);
      word(name_constant(attribute->name));
      draft_->next = mark;
      break;
    }
    default: {
      const std::span<Node*> items = as<SequenceNode>(target)->items;
      const uint32_t mark = draft_->next;
      const uint32_t first = take(u32(items.size()));
      place(at);
      emit(Op::unpack, first, value, u32(items.size()));
      for (size_t i = 0; i < items.size(); ++i)
        assign_target(items[i], first + u32(i), at);
      draft_->next = mark;
      break;
    }
  }
}

void Compiler::store_index(uint32_t object, Node* key, uint32_t value, uint32_t at) {
  if (key->kind == NodeKind::string) {
    const size_t k = text_constant(as<TextNode>(key)->text);
    if (k < 65536) {
      place(at);
      emit(Op::set_key, object, u32(k), value);
      return;
    }
  }
  const uint32_t k = expression(key);
  place(at);
  emit(Op::set_index, object, k, value);
}

void Compiler::assign_statement(AssignNode* node) {
  if (node->target->kind == NodeKind::identifier) {
    auto* id = as<Identifier>(node->target);
    const Binding* binding = id->binding;
    if (binding != nullptr && binding->scope == Scope::local && !reads_late(node->value)) {
      expression_into(node->value, binding->index);
      assign(id->binding);
      return;
    }
    const uint32_t value = expression(node->value);
    store(id, value);
    return;
  }
  if (node->target->kind == NodeKind::tuple && node->value->kind == NodeKind::tuple) {
    // `a, b = b, a` needs no tuple.
    const std::span<Node*> targets = as<SequenceNode>(node->target)->items;
    const std::span<Node*> values = as<SequenceNode>(node->value)->items;
    if (targets.size() == values.size() && targets.size() <= 8) {
      const uint32_t first = take(u32(values.size()));
      for (size_t i = 0; i < values.size(); ++i)
        expression_into(values[i], first + u32(i));
      for (size_t i = 0; i < targets.size(); ++i)
        assign_target(targets[i], first + u32(i), node->at);
      return;
    }
  }
  const uint32_t value = expression(node->value);
  assign_target(node->target, value, node->at);
}

bool Compiler::reads_late(Node* node) {
  switch (node->kind) {
    case NodeKind::integer:
    case NodeKind::real:
    case NodeKind::string:
    case NodeKind::bytes:
    case NodeKind::binary:
    case NodeKind::call:
    case NodeKind::index:
    case NodeKind::attribute:
    case NodeKind::slice:
    case NodeKind::list:
    case NodeKind::tuple:
    case NodeKind::dict:
    case NodeKind::comprehension:
    case NodeKind::unary:
    case NodeKind::identifier:
      return false;
    default:
      return true;
  }
}

void Compiler::augmented(AugmentedAssignNode* node) {
  const uint32_t op_at = node->at;
  switch (node->target->kind) {
    case NodeKind::identifier: {
      auto* id = as<Identifier>(node->target);
      const uint32_t old = expression(id);
      const bool own = id->binding != nullptr && id->binding->scope == Scope::local;
      const uint32_t result = own ? id->binding->index : take(1);
      augmented_operation(node->op, result, old, node->value, op_at);
      store(id, result);
      break;
    }
    case NodeKind::index: {
      auto* index = as<IndexNode>(node->target);
      const uint32_t object = expression(index->object);
      const uint32_t key = expression(index->key);
      const uint32_t value = take(1);
      place(index->at);
      emit(Op::get_index, value, object, key);
      augmented_operation(node->op, value, value, node->value, op_at);
      place(index->at);
      emit(Op::set_index, object, key, value);
      break;
    }
    default: {
      auto* attribute = as<AttributeNode>(node->target);
      const uint32_t object = expression(attribute->object);
      const uint32_t value = take(1);
      get_attribute(value, object, attribute);
      augmented_operation(node->op, value, value, node->value, op_at);
      place(attribute->at);
      emit(Op::set_attribute, object, value);
      word(name_constant(attribute->name));
      break;
    }
  }
}

void Compiler::augmented_operation(Token op, uint32_t result, uint32_t left, Node* right,
                                   uint32_t at) {
  if (small_operation(op, result, left, right, at))
    return;
  const uint32_t value = expression(right);
  place(at);
  emit(op == Token::plus   ? Op::add_in_place
       : op == Token::pipe ? Op::or_in_place
                           : operation_of(op),
       result, left, value);
}

}  // namespace fettle::starlark
