#include "starlark/compile/places.h"

#include <optional>

namespace fettle::starlark {
namespace {

/// The place that starlark-go noted last in making a value; it tells a failed slice there.
std::optional<uint32_t> last_place(Node* node) {
  switch (node->kind) {
    case NodeKind::integer:
    case NodeKind::real:
    case NodeKind::string:
    case NodeKind::bytes:
      return std::nullopt;
    case NodeKind::identifier: {
      const Binding* binding = as<Identifier>(node)->binding;
      return binding == nullptr || binding->scope == Scope::universal ? std::nullopt
                                                                      : std::optional(node->at);
    }
    case NodeKind::list:
    case NodeKind::tuple: {
      const std::span<Node* const> items = as<SequenceNode>(node)->items;
      for (size_t i = items.size(); i-- > 0;) {
        if (const std::optional<uint32_t> place = last_place(items[i]))
          return place;
      }
      return std::nullopt;
    }
    default:
      return node->at;
  }
}

/// What an expression evaluates first; null when that cannot fail.
Node* first_part(Node* node) {
  switch (node->kind) {
    case NodeKind::list:
    case NodeKind::tuple:
      return as<SequenceNode>(node)->items.empty() ? nullptr : as<SequenceNode>(node)->items[0];
    case NodeKind::unary:
      return as<UnaryNode>(node)->operand;
    case NodeKind::logical:
      return as<LogicalNode>(node)->operands[0];
    case NodeKind::conditional:
      return as<ConditionalNode>(node)->condition;
    default:
      return left_of(node);
  }
}

/// What a statement evaluates first; null when there is nothing.
Node* first_value(Node* node) {
  switch (node->kind) {
    case NodeKind::expression_statement:
      return as<ExpressionStatement>(node)->value;
    case NodeKind::assign:
      return as<AssignNode>(node)->value;
    case NodeKind::augmented_assign:
      return as<AugmentedAssignNode>(node)->target;
    case NodeKind::return_statement:
      return as<ReturnNode>(node)->value;
    case NodeKind::if_statement:
      return as<IfNode>(node)->branches[0].condition;
    case NodeKind::for_statement:
      return as<ForNode>(node)->iterable;
    case NodeKind::while_statement:
      return as<WhileNode>(node)->condition;
    default:
      return nullptr;
  }
}

}  // namespace

Node* left_of(Node* node) {
  switch (node->kind) {
    case NodeKind::binary:
      return as<BinaryNode>(node)->left;
    case NodeKind::call: {
      Node* function = as<CallNode>(node)->function;
      if (function->kind == NodeKind::attribute)
        return as<AttributeNode>(function)->object;
      return function;
    }
    case NodeKind::attribute:
      return as<AttributeNode>(node)->object;
    case NodeKind::index:
      return as<IndexNode>(node)->object;
    case NodeKind::slice:
      return as<SliceNode>(node)->object;
    default:
      return nullptr;
  }
}

uint32_t place_of_slice(const SliceNode* slice) {
  for (Node* part : {slice->step, slice->high, slice->low, slice->object}) {
    if (part == nullptr)
      continue;
    if (const std::optional<uint32_t> place = last_place(part))
      return *place;
  }
  return slice->at;
}

uint32_t place_before_body(FunctionNode* function) {
  Node* node = function->result;
  for (Node* statement : function->body) {
    node = first_value(statement);
    const bool skipped = statement->kind == NodeKind::pass_statement ||
                         (node != nullptr && statement->kind == NodeKind::expression_statement &&
                          (node->kind == NodeKind::string || node->kind == NodeKind::integer ||
                           node->kind == NodeKind::real || node->kind == NodeKind::bytes));
    if (!skipped)
      break;
  }
  for (; node != nullptr; node = first_part(node)) {
    if (node->kind == NodeKind::lambda)
      return node->at;
    if (node->kind != NodeKind::identifier)
      continue;
    const Binding* binding = as<Identifier>(node)->binding;
    if (binding != nullptr && binding->scope != Scope::universal)
      return node->at;
  }
  return function->begin;
}

}  // namespace fettle::starlark
