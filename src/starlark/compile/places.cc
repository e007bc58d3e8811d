#include "starlark/compile/places.h"

#include <optional>

namespace fettle::starlark {
namespace {

/// Slices within slices are searched no deeper; then the place is a little less exact.
constexpr int deepest_part = 100;

std::optional<uint32_t> last_place(Node* node, int depth = 0);

/// The place of the last part that has one.
std::optional<uint32_t> last_place_of(std::span<Node* const> parts, int depth) {
  for (size_t i = parts.size(); i-- > 0;) {
    if (parts[i] == nullptr)
      continue;
    if (const std::optional<uint32_t> place = last_place(parts[i], depth))
      return place;
  }
  return std::nullopt;
}

/// The last place that starlark-go notes while it makes a value; for a failed slice, it reports
/// this place.
std::optional<uint32_t> last_place(Node* node, int depth) {
  if (depth > deepest_part)
    return node->at;
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
    case NodeKind::tuple:
      return last_place_of(as<SequenceNode>(node)->items, depth + 1);
    case NodeKind::dict: {
      const std::span<const uint32_t> colons = as<DictNode>(node)->colons;
      return colons.empty() ? std::nullopt : std::optional(colons.back());
    }
    case NodeKind::comprehension: {
      const auto* comprehension = as<ComprehensionNode>(node);
      if (comprehension->is_dict)
        return comprehension->colon;
      const std::optional<uint32_t> body = last_place(comprehension->body, depth + 1);
      return body ? body : std::optional(node->at);
    }
    case NodeKind::conditional: {
      const auto* conditional = as<ConditionalNode>(node);
      Node* const parts[] = {conditional->condition, conditional->no};
      return last_place_of(parts, depth + 1);
    }
    case NodeKind::logical: {
      const auto* logical = as<LogicalNode>(node);
      return logical->is_and ? last_place(logical->operands[0], depth + 1)
                             : last_place_of(logical->operands, depth + 1);
    }
    case NodeKind::slice: {
      const auto* slice = as<SliceNode>(node);
      Node* const parts[] = {slice->object, slice->low, slice->high, slice->step};
      return last_place_of(parts, depth + 1);
    }
    default:
      return node->at;
  }
}

/// The part of an expression that is evaluated first. Null: that cannot fail.
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

/// The part of a statement that is evaluated first. Null: there is none.
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

/// The place of the variable that an expression reads first, or of the function that it makes
/// first.
std::optional<uint32_t> first_variable(Node* node) {
  for (; node != nullptr; node = first_part(node)) {
    if (node->kind == NodeKind::lambda)
      return node->at;
    if (node->kind != NodeKind::identifier)
      continue;
    const Binding* binding = as<Identifier>(node)->binding;
    if (binding != nullptr && binding->scope != Scope::universal)
      return node->at;
  }
  return std::nullopt;
}

/// The place where a function is made: at the first variable of its defaults, else at the function.
uint32_t place_of_making(const FunctionNode& function) {
  for (const ParameterNode& parameter : function.parameters) {
    if (parameter.kind != ParameterKind::optional)
      continue;
    if (const std::optional<uint32_t> place = first_variable(parameter.fallback))
      return *place;
  }
  return function.begin;
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
  Node* const parts[] = {slice->object, slice->low, slice->high, slice->step};
  return last_place_of(parts, 0).value_or(slice->at);
}

uint32_t place_before_body(FunctionNode* function) {
  Node* node = function->result;
  for (Node* statement : function->body) {
    if (statement->kind == NodeKind::def_statement)
      return place_of_making(as<DefNode>(statement)->function);
    node = first_value(statement);
    const bool skipped = statement->kind == NodeKind::pass_statement ||
                         (node != nullptr && statement->kind == NodeKind::expression_statement &&
                          (node->kind == NodeKind::string || node->kind == NodeKind::integer ||
                           node->kind == NodeKind::real || node->kind == NodeKind::bytes));
    if (!skipped)
      break;
  }
  return first_variable(node).value_or(function->begin);
}

}  // namespace fettle::starlark
