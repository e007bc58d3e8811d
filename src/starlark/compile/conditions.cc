/// Conditions: `and`, `or`, `not` and comparisons become jumps.

#include "starlark/compile/compiler.h"

namespace fettle::starlark {

void Compiler::jump_unless(Node* node, std::vector<size_t>& exits) {
  condition(node, false, exits);
}

void Compiler::condition(Node* node, bool when, std::vector<size_t>& exits) {
  const uint32_t mark = draft_->next;
  if (node->kind == NodeKind::unary && as<UnaryNode>(node)->op == Token::kw_not) {
    condition(as<UnaryNode>(node)->operand, !when, exits);
    return;
  }
  if (node->kind == NodeKind::logical) {
    auto* logical = as<LogicalNode>(node);
    if (logical->is_and != when) {
      // `and` is false, `or` is true as soon as one operand is.
      for (Node* operand : logical->operands)
        operand_condition(logical, operand, when, exits);
    } else {
      std::vector<size_t> over;
      for (Node* operand : logical->operands) {
        if (operand != logical->operands.back())
          operand_condition(logical, operand, !when, over);
        else
          operand_condition(logical, operand, when, exits);
      }
      patch(over);
    }
    return;
  }
  if (node->kind == NodeKind::binary && !draft_->far_jumps) {
    auto* binary = as<BinaryNode>(node);
    if (const std::optional<Op> op = jump_for(binary->op, when)) {
      const uint32_t left = expression(binary->left);
      if (binary->right->kind == NodeKind::integer && is_short(binary->right)) {
        const auto shift = u32(Op::jump_equal_small) - u32(Op::jump_equal);
        place(binary->at);
        emit(static_cast<Op>(u32(*op) + shift), left,
             u16(static_cast<int16_t>(as<IntegerNode>(binary->right)->small)));
      } else {
        const uint32_t right = expression(binary->right);
        place(binary->at);
        emit(*op, left, right);
      }
      exits.push_back(draft_->instructions.size() - 1);
      draft_->next = mark;
      return;
    }
  }
  const uint32_t value = expression(node);
  emit(when ? Op::jump_true : Op::jump_false, value);
  exits.push_back(draft_->instructions.size() - 1);
  draft_->next = mark;
}

void Compiler::operand_condition(LogicalNode* logical, Node* operand, bool when,
                                 std::vector<size_t>& exits) {
  const size_t before = draft_->assigned.size();
  condition(operand, when, exits);
  if (operand != logical->operands.front())
    forget(before);
}

std::optional<Op> Compiler::jump_for(Token op, bool when) {
  switch (op) {
    case Token::equal_equal:
      return when ? Op::jump_equal : Op::jump_not_equal;
    case Token::not_equal:
      return when ? Op::jump_not_equal : Op::jump_equal;
    case Token::less:
      return when ? Op::jump_less : Op::jump_not_less;
    case Token::less_equal:
      return when ? Op::jump_less_equal : Op::jump_not_less_equal;
    case Token::greater:
      return when ? Op::jump_greater : Op::jump_not_greater;
    case Token::greater_equal:
      return when ? Op::jump_greater_equal : Op::jump_not_greater_equal;
    default:
      return std::nullopt;
  }
}

void Compiler::logical(LogicalNode* node, uint32_t into) {
  std::vector<size_t> exits;
  const size_t before = draft_->assigned.size();
  for (Node* operand : node->operands) {
    expression_into(operand, into);
    if (operand != node->operands.back()) {
      emit(node->is_and ? Op::jump_false : Op::jump_true, into);
      exits.push_back(draft_->instructions.size() - 1);
    }
  }
  forget(before);
  patch(exits);
}

}  // namespace fettle::starlark
