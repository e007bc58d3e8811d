/// Compiles expressions, except conditions, comprehensions and calls.

#include "starlark/compile/compiler.h"
#include "starlark/compile/places.h"
#include "starlark/heap/make.h"

namespace fettle::starlark {

/// Whether the value is in a register already.
static bool is_local(Node* node) {
  if (node->kind != NodeKind::identifier)
    return false;
  const Binding* binding = as<Identifier>(node)->binding;
  return binding != nullptr && binding->scope == Scope::local;
}

uint32_t Compiler::expression(Node* node) {
  if (is_local(node)) {
    check_assigned(as<Identifier>(node));
    return as<Identifier>(node)->binding->index;
  }
  const uint32_t result = take(1);
  expression_into(node, result);
  return result;
}

void Compiler::check_assigned(Identifier* id) {
  Binding* binding = id->binding;
  if (binding->assigned != 0)
    return;
  if (binding->scope == Scope::local) {
    draft_->unset.push_back(u16(binding->index));
    place(id->at);
    emit_wide(Op::check_local, binding->index, name_constant(binding->symbol));
    assign(binding);
  }
}

void Compiler::expression_into(Node* node, uint32_t into) {
  const uint32_t mark = draft_->next;
  switch (node->kind) {
    case NodeKind::identifier:
      identifier(as<Identifier>(node), into);
      break;
    case NodeKind::integer: {
      auto* literal = as<IntegerNode>(node);
      if (!literal->large && literal->small <= INT32_MAX)
        emit_wide(Op::load_small, into, u32(literal->small));
      else
        load_constant(into, literal->large ? big_literal(literal) : Value::small(literal->small));
      break;
    }
    case NodeKind::real:
      load_constant(into, make_float(heap(), as<RealNode>(node)->number));
      break;
    case NodeKind::string:
      load_constant(into, text_value(as<TextNode>(node)->text));
      break;
    case NodeKind::bytes:
      load_constant(into, make_bytes(heap(), as<TextNode>(node)->text));
      break;
    case NodeKind::list:
    case NodeKind::tuple:
      sequence(as<SequenceNode>(node), into);
      break;
    case NodeKind::dict:
      dict(as<DictNode>(node), into);
      break;
    case NodeKind::comprehension:
      comprehension(as<ComprehensionNode>(node), into);
      break;
    case NodeKind::unary:
      unary(as<UnaryNode>(node), into);
      break;
    case NodeKind::logical:
      logical(as<LogicalNode>(node), into);
      break;
    case NodeKind::conditional: {
      auto* conditional = as<ConditionalNode>(node);
      std::vector<size_t> to_no;
      const size_t before = draft_->assigned.size();
      jump_unless(conditional->condition, to_no);
      expression_into(conditional->yes, into);
      forget(before);
      std::vector<size_t> to_end{jump()};
      patch(to_no);
      expression_into(conditional->no, into);
      forget(before);
      patch(to_end);
      break;
    }
    case NodeKind::binary:
    case NodeKind::call:
    case NodeKind::attribute:
    case NodeKind::index:
    case NodeKind::slice:
      chain(node, into);
      break;
    case NodeKind::lambda:
      make_function(&as<LambdaNode>(node)->function, into, node->at);
      break;
    default:
      load_constant(into, Value::none());
      break;
  }
  draft_->next = mark;
}

void Compiler::identifier(Identifier* id, uint32_t into) {
  Binding* binding = id->binding;
  if (binding == nullptr)
    return;
  switch (binding->scope) {
    case Scope::local:
      check_assigned(id);
      if (binding->index != into)
        emit(Op::move, into, binding->index);
      break;
    case Scope::cell:
      place(id->at);
      emit(Op::load_cell, into, binding->index, short_name_constant(binding->symbol));
      break;
    case Scope::free:
      place(id->at);
      emit(Op::load_free, into, binding->index, short_name_constant(binding->symbol));
      break;
    case Scope::global:
      place(id->at);
      emit_wide(Op::load_global, into, binding->index);
      break;
    default:
      load_constant(into, binding->value);
      break;
  }
}

void Compiler::chain(Node* node, uint32_t into) {
  const size_t bottom = chain_.size();
  for (;;) {
    chain_.push_back(node);
    Node* left = left_of(node);
    if (left == nullptr || left_of(left) == nullptr)
      break;
    node = left;
  }
  bool first = true;
  uint32_t left = 0;
  while (chain_.size() > bottom) {
    Node* link = chain_.back();
    chain_.pop_back();
    const bool last = chain_.size() == bottom;
    // Intermediate results go to one register that nothing else uses.
    const uint32_t result = last ? into : first ? take(1) : left;
    apply(link, result, first ? no_register : int(left));
    left = result;
    first = false;
  }
}

void Compiler::apply(Node* node, uint32_t into, int given) {
  const uint32_t mark = draft_->next;
  switch (node->kind) {
    case NodeKind::binary:
      binary(as<BinaryNode>(node), into, given);
      break;
    case NodeKind::call:
      call(as<CallNode>(node), into, given);
      break;
    case NodeKind::attribute: {
      auto* attribute = as<AttributeNode>(node);
      get_attribute(into, operand(attribute->object, given), attribute);
      break;
    }
    case NodeKind::index: {
      auto* index = as<IndexNode>(node);
      const uint32_t object = operand(index->object, given);
      if (index->key->kind == NodeKind::string) {
        const size_t k = text_constant(as<TextNode>(index->key)->text);
        if (k < 65536) {
          place(index->at);
          emit(Op::get_key, into, object, u32(k));
          break;
        }
      }
      const uint32_t key = expression(index->key);
      place(index->at);
      emit(Op::get_index, into, object, key);
      break;
    }
    default: {
      auto* slice = as<SliceNode>(node);
      const uint32_t first = take(4);
      if (given != no_register)
        emit(Op::move, first, u32(given));
      else
        expression_into(slice->object, first);
      Node* const parts[] = {slice->low, slice->high, slice->step};
      for (uint32_t i = 0; i < 3; ++i) {
        if (parts[i] != nullptr)
          expression_into(parts[i], first + 1 + i);
        else
          load_constant(first + 1 + i, Value::none());
      }
      place(place_of_slice(slice));
      emit(Op::slice, into, first);
      break;
    }
  }
  draft_->next = mark;
}

uint32_t Compiler::operand(Node* node, int given) {
  return given != no_register ? u32(given) : expression(node);
}

void Compiler::get_attribute(uint32_t into, uint32_t object, const AttributeNode* node) {
  place(node->at);
  emit(Op::get_attribute, into, object);
  word(name_constant(node->name));
  word(0);
}

Op Compiler::operation_of(Token op) {
  switch (op) {
    case Token::plus:
      return Op::add;
    case Token::minus:
      return Op::subtract;
    case Token::star:
      return Op::multiply;
    case Token::slash:
      return Op::divide;
    case Token::slash_slash:
      return Op::floor_divide;
    case Token::percent:
      return Op::modulo;
    case Token::ampersand:
      return Op::bit_and;
    case Token::pipe:
      return Op::bit_or;
    case Token::caret:
      return Op::bit_xor;
    case Token::less_less:
      return Op::shift_left;
    case Token::greater_greater:
      return Op::shift_right;
    case Token::equal_equal:
      return Op::equal;
    case Token::not_equal:
      return Op::not_equal;
    case Token::less:
      return Op::less;
    case Token::less_equal:
      return Op::less_equal;
    case Token::greater:
      return Op::greater;
    case Token::greater_equal:
      return Op::greater_equal;
    case Token::kw_in:
      return Op::contains;
    default:
      return Op::contains_not;
  }
}

bool Compiler::small_operation(Token op, uint32_t into, uint32_t left, Node* right, uint32_t at) {
  if (!is_short(right))
    return false;
  Op small;
  switch (op) {
    case Token::plus:
      small = Op::add_small;
      break;
    case Token::minus:
      small = Op::subtract_small;
      break;
    case Token::star:
      small = Op::multiply_small;
      break;
    case Token::slash_slash:
      small = Op::floor_divide_small;
      break;
    case Token::percent:
      small = Op::modulo_small;
      break;
    default:
      return false;
  }
  place(at);
  emit(small, into, left, u16(static_cast<int16_t>(as<IntegerNode>(right)->small)));
  return true;
}

void Compiler::binary(BinaryNode* node, uint32_t into, int given) {
  const uint32_t left = operand(node->left, given);
  if (small_operation(node->op, into, left, node->right, node->at))
    return;
  const uint32_t right = expression(node->right);
  place(node->at);
  emit(operation_of(node->op), into, left, right);
}

void Compiler::unary(UnaryNode* node, uint32_t into) {
  if (node->op == Token::minus && node->operand->kind == NodeKind::integer &&
      !as<IntegerNode>(node->operand)->large) {
    const int64_t n = -as<IntegerNode>(node->operand)->small;
    if (n >= INT32_MIN)
      emit_wide(Op::load_small, into, u32(n));
    else
      load_constant(into, Value::small(n));
    return;
  }
  const uint32_t value = expression(node->operand);
  place(node->at);
  emit(node->op == Token::minus   ? Op::negate
       : node->op == Token::plus  ? Op::positive
       : node->op == Token::tilde ? Op::invert
                                  : Op::logical_not,
       into, value);
}

void Compiler::sequence(SequenceNode* node, uint32_t into) {
  const bool is_list = node->kind == NodeKind::list;
  constexpr size_t most_at_once = 64;
  if (node->items.size() <= most_at_once || !is_list) {
    if (node->items.size() > 20'000) {
      fail(node->at, "tuple expression has too many items");
      return;
    }
    const uint32_t first = take(u32(node->items.size()));
    for (size_t i = 0; i < node->items.size(); ++i)
      expression_into(node->items[i], first + u32(i));
    place(node->at);
    emit(is_list ? Op::make_list : Op::make_tuple, into, first, u32(node->items.size()));
    return;
  }
  const uint32_t list = take(1);
  place(node->at);
  emit(Op::make_list, list, list, 0);
  for (Node* item : node->items) {
    const uint32_t mark = draft_->next;
    const uint32_t value = expression(item);
    place(node->at);
    emit(Op::append, list, value);
    draft_->next = mark;
  }
  emit(Op::move, into, list);
}

/// Whether the keys are a few different texts.
static bool has_plain_keys(const DictNode* node) {
  if (node->items.empty() || node->items.size() > 2 * Dict::most_linear)
    return false;
  for (size_t i = 0; i < node->items.size(); i += 2) {
    if (node->items[i]->kind != NodeKind::string)
      return false;
    for (size_t j = 0; j < i; j += 2) {
      if (as<TextNode>(node->items[i])->text == as<TextNode>(node->items[j])->text)
        return false;
    }
  }
  return true;
}

void Compiler::dict(DictNode* node, uint32_t into) {
  if (has_plain_keys(node)) {
    const auto count = u32(node->items.size() / 2);
    const uint32_t first = take(count);
    int64_t plain = 2 + 2 * int64_t{count};  // make it, load and put each, move it
    for (uint32_t i = 0; i < count; ++i) {
      Node* value = node->items[2 * i + 1];
      plain -= is_local(value);  // which would not be moved
      expression_into(value, first + i);
    }
    const size_t keys = draft_->constants.size();
    for (uint32_t i = 0; i < count; ++i)
      constant(text_value(as<TextNode>(node->items[2 * i])->text));
    place(node->at);
    emit(Op::make_dict_of, into, first, count);
    word(keys);
    draft_->spare(plain - 2);
    return;
  }
  const uint32_t made = take(1);
  place(node->at);
  emit_wide(Op::make_dict, made, node->items.size() / 2);
  for (size_t i = 0; i < node->items.size(); i += 2) {
    const uint32_t mark = draft_->next;
    const uint32_t key = expression(node->items[i]);
    const uint32_t value = expression(node->items[i + 1]);
    place(node->colons[i / 2]);
    emit(Op::put_new, made, key, value);
    draft_->next = mark;
  }
  emit(Op::move, into, made);
}

}  // namespace fettle::starlark
