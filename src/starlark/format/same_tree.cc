#include "starlark/format/same_tree.h"

#include <algorithm>

#include "base/text.h"

namespace fettle::starlark::layout {
namespace {

/// Compares with a list of its own instead of recursion: chains may be as long as a file.
class Comparison {
 public:
  bool run(const FunctionNode& one, const FunctionNode& other) {
    body(one.body, other.body);
    while (is_same_ && !left_.empty()) {
      const auto [a, b] = left_.back();
      left_.pop_back();
      compare(a, b);
    }
    return is_same_;
  }

 private:
  void need(bool condition) { is_same_ = is_same_ && condition; }
  static std::string_view name_of(const Symbol* symbol) {
    return symbol == nullptr ? std::string_view() : symbol->text;
  }
  void need_name(const Symbol* a, const Symbol* b) {
    need((a == nullptr) == (b == nullptr) && name_of(a) == name_of(b));
  }
  void later(Node* a, Node* b) {
    need((a == nullptr) == (b == nullptr));
    if (a != nullptr)
      left_.emplace_back(a, b);
  }
  void all(std::span<Node*> a, std::span<Node*> b) {
    need(a.size() == b.size());
    for (size_t i = 0; is_same_ && i < a.size(); ++i)
      later(a[i], b[i]);
  }

  static bool is_text(const Node* node) {
    return node->kind == NodeKind::expression_statement &&
           static_cast<const ExpressionStatement*>(node)->value->kind == NodeKind::string;
  }
  static std::string plain(Node* statement) {
    const std::string_view text = as<TextNode>(as<ExpressionStatement>(statement)->value)->text;
    std::string plain;
    for (const std::string_view line : split(text, '\n'))
      plain += cat(trim(line), "\n");
    return std::string(trim(plain));
  }

  /// The first statement of a block may be its documentation.
  void body(std::span<Node*> a, std::span<Node*> b) {
    if (!a.empty() && !b.empty() && is_text(a[0]) && is_text(b[0])) {
      need(plain(a[0]) == plain(b[0]));
      a = a.subspan(1);
      b = b.subspan(1);
    }
    all(a, b);
  }

  void function(const FunctionNode& a, const FunctionNode& b) {
    need(a.name == b.name && a.parameters.size() == b.parameters.size());
    for (size_t i = 0; is_same_ && i < a.parameters.size(); ++i) {
      need(a.parameters[i].kind == b.parameters[i].kind);
      need_name(a.parameters[i].name, b.parameters[i].name);
      later(a.parameters[i].fallback, b.parameters[i].fallback);
    }
    later(a.result, b.result);
    body(a.body, b.body);
  }

  void compare(Node* a, Node* b) {
    need(a->kind == b->kind);
    if (!is_same_)
      return;
    if (a->kind >= NodeKind::expression_statement)
      compare_statements(a, b);
    else
      compare_expressions(a, b);
  }

  void compare_expressions(Node* a, Node* b) {
    switch (a->kind) {
      case NodeKind::identifier:
        return need_name(as<Identifier>(a)->symbol, as<Identifier>(b)->symbol);
      case NodeKind::integer:
        return need(as<IntegerNode>(a)->small == as<IntegerNode>(b)->small &&
                    as<IntegerNode>(a)->large == as<IntegerNode>(b)->large &&
                    as<IntegerNode>(a)->radix == as<IntegerNode>(b)->radix &&
                    (!as<IntegerNode>(a)->large || lower_case(as<IntegerNode>(a)->digits) ==
                                                       lower_case(as<IntegerNode>(b)->digits)));
      case NodeKind::real:
        return need(as<RealNode>(a)->number == as<RealNode>(b)->number);
      case NodeKind::string:
      case NodeKind::bytes:
        return need(as<TextNode>(a)->text == as<TextNode>(b)->text);
      case NodeKind::list:
      case NodeKind::tuple:
        return all(as<SequenceNode>(a)->items, as<SequenceNode>(b)->items);
      case NodeKind::dict:
        return all(as<DictNode>(a)->items, as<DictNode>(b)->items);
      case NodeKind::comprehension:
        return comprehension(*as<ComprehensionNode>(a), *as<ComprehensionNode>(b));
      case NodeKind::unary:
        need(as<UnaryNode>(a)->op == as<UnaryNode>(b)->op);
        return later(as<UnaryNode>(a)->operand, as<UnaryNode>(b)->operand);
      case NodeKind::binary:
        need(as<BinaryNode>(a)->op == as<BinaryNode>(b)->op);
        later(as<BinaryNode>(a)->left, as<BinaryNode>(b)->left);
        return later(as<BinaryNode>(a)->right, as<BinaryNode>(b)->right);
      case NodeKind::logical:
        need(as<LogicalNode>(a)->is_and == as<LogicalNode>(b)->is_and);
        return all(as<LogicalNode>(a)->operands, as<LogicalNode>(b)->operands);
      case NodeKind::conditional:
        later(as<ConditionalNode>(a)->condition, as<ConditionalNode>(b)->condition);
        later(as<ConditionalNode>(a)->yes, as<ConditionalNode>(b)->yes);
        return later(as<ConditionalNode>(a)->no, as<ConditionalNode>(b)->no);
      case NodeKind::call:
        return call(*as<CallNode>(a), *as<CallNode>(b));
      case NodeKind::lambda:
        return function(as<LambdaNode>(a)->function, as<LambdaNode>(b)->function);
      default:
        return compare_suffixes(a, b);
    }
  }

  void compare_suffixes(Node* a, Node* b) {
    switch (a->kind) {
      case NodeKind::attribute:
        need_name(as<AttributeNode>(a)->name, as<AttributeNode>(b)->name);
        return later(as<AttributeNode>(a)->object, as<AttributeNode>(b)->object);
      case NodeKind::index:
        later(as<IndexNode>(a)->object, as<IndexNode>(b)->object);
        return later(as<IndexNode>(a)->key, as<IndexNode>(b)->key);
      default:
        later(as<SliceNode>(a)->object, as<SliceNode>(b)->object);
        later(as<SliceNode>(a)->low, as<SliceNode>(b)->low);
        later(as<SliceNode>(a)->high, as<SliceNode>(b)->high);
        return later(as<SliceNode>(a)->step, as<SliceNode>(b)->step);
    }
  }

  void comprehension(const ComprehensionNode& a, const ComprehensionNode& b) {
    need(a.is_dict == b.is_dict && a.clauses.size() == b.clauses.size());
    later(a.key, b.key);
    later(a.body, b.body);
    for (size_t i = 0; is_same_ && i < a.clauses.size(); ++i) {
      need(a.clauses[i].is_for == b.clauses[i].is_for);
      later(a.clauses[i].target, b.clauses[i].target);
      later(a.clauses[i].value, b.clauses[i].value);
    }
  }

  void call(const CallNode& a, const CallNode& b) {
    later(a.function, b.function);
    need(a.arguments.size() == b.arguments.size());
    for (size_t i = 0; is_same_ && i < a.arguments.size(); ++i) {
      need(a.arguments[i].kind == b.arguments[i].kind);
      need_name(a.arguments[i].name, b.arguments[i].name);
      later(a.arguments[i].value, b.arguments[i].value);
    }
  }

  void compare_statements(Node* a, Node* b) {
    switch (a->kind) {
      case NodeKind::expression_statement:
        return later(as<ExpressionStatement>(a)->value, as<ExpressionStatement>(b)->value);
      case NodeKind::assign:
        later(as<AssignNode>(a)->target, as<AssignNode>(b)->target);
        return later(as<AssignNode>(a)->value, as<AssignNode>(b)->value);
      case NodeKind::augmented_assign:
        need(as<AugmentedAssignNode>(a)->op == as<AugmentedAssignNode>(b)->op);
        later(as<AugmentedAssignNode>(a)->target, as<AugmentedAssignNode>(b)->target);
        return later(as<AugmentedAssignNode>(a)->value, as<AugmentedAssignNode>(b)->value);
      case NodeKind::def_statement:
        return function(as<DefNode>(a)->function, as<DefNode>(b)->function);
      case NodeKind::return_statement:
        return later(as<ReturnNode>(a)->value, as<ReturnNode>(b)->value);
      case NodeKind::if_statement:
        return branches(as<IfNode>(a)->branches, as<IfNode>(b)->branches);
      case NodeKind::for_statement:
        later(as<ForNode>(a)->target, as<ForNode>(b)->target);
        later(as<ForNode>(a)->iterable, as<ForNode>(b)->iterable);
        return body(as<ForNode>(a)->body, as<ForNode>(b)->body);
      case NodeKind::while_statement:
        later(as<WhileNode>(a)->condition, as<WhileNode>(b)->condition);
        return body(as<WhileNode>(a)->body, as<WhileNode>(b)->body);
      case NodeKind::load_statement:
        return load(*as<LoadNode>(a), *as<LoadNode>(b));
      default:
        return;  // words without parts
    }
  }

  void branches(std::span<Branch> a, std::span<Branch> b) {
    need(a.size() == b.size());
    for (size_t i = 0; is_same_ && i < a.size(); ++i) {
      later(a[i].condition, b[i].condition);
      body(a[i].body, b[i].body);
    }
  }

  void load(const LoadNode& a, const LoadNode& b) {
    need(a.module == b.module && a.names.size() == b.names.size());
    for (size_t i = 0; is_same_ && i < a.names.size(); ++i) {
      need(a.names[i].name == b.names[i].name);
      need_name(a.names[i].local->symbol, b.names[i].local->symbol);
    }
  }

  std::vector<std::pair<Node*, Node*>> left_;
  bool is_same_ = true;
};

}  // namespace

bool is_same(const FunctionNode& one, const FunctionNode& other) {
  return Comparison().run(one, other);
}

}  // namespace fettle::starlark::layout
