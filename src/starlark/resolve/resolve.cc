#include "starlark/resolve/resolve.h"

#include <algorithm>

#include "starlark/resolve/resolver.h"

namespace fettle::starlark {

ResolveResult Resolver::run() {
  for (Identifier* id : file_->bound)
    bind_global(id);
  enter(file_);
  statements(file_->body);
  if (file_->result != nullptr)
    expression(file_->result);
  leave();
  std::stable_sort(result_.errors.begin(), result_.errors.end(),
                   [](const SyntaxError& a, const SyntaxError& b) { return a.at < b.at; });
  return std::move(result_);
}

void Resolver::error(uint32_t at, std::string message) {
  if (result_.errors.size() < most_errors)
    result_.errors.push_back({at, std::move(message)});
}

void Resolver::function(FunctionNode* node) {
  parameters(node);
  enter(node);
  bind_parameters(node);
  for (Identifier* id : node->bound) {
    Binding* known = id->symbol->binding;
    if (known == nullptr || known->function != node)
      known = bind_local(id->symbol, id->at);
    id->binding = known;
  }
  statements(node->body);
  if (node->result != nullptr)
    expression(node->result);
  leave();
}

void Resolver::statements(std::span<Node*> body) {
  for (Node* node : body)
    statement(node);
}

void Resolver::control(uint32_t at, std::string_view what) {
  if (!in_function() && !dialect_.top_level_control)
    error(at, cat(what, " not within a function"));
}

void Resolver::loop_body(std::span<Node*> body) {
  ++level().loops;
  statements(body);
  --level().loops;
}

void Resolver::statement(Node* node) {
  switch (node->kind) {
    case NodeKind::expression_statement:
      expression(as<ExpressionStatement>(node)->value);
      break;
    case NodeKind::assign: {
      auto* assign = as<AssignNode>(node);
      expression(assign->value);
      target(assign->target);
      break;
    }
    case NodeKind::augmented_assign: {
      auto* assign = as<AugmentedAssignNode>(node);
      expression(assign->value);
      target(assign->target, true);
      break;
    }
    case NodeKind::def_statement: {
      auto* def = as<DefNode>(node);
      bound(def->name);
      function(&def->function);
      break;
    }
    case NodeKind::return_statement:
      if (!in_function())
        error(node->at, "return statement not within a function");
      if (as<ReturnNode>(node)->value != nullptr)
        expression(as<ReturnNode>(node)->value);
      break;
    case NodeKind::if_statement:
      ++level().conditions;
      for (const Branch& branch : as<IfNode>(node)->branches) {
        if (branch.condition != nullptr) {
          // `elif` is an `if` within `else`.
          control(branch.at, "if statement");
          expression(branch.condition);
        }
        statements(branch.body);
      }
      --level().conditions;
      break;
    case NodeKind::for_statement: {
      control(node->at, "for loop");
      auto* loop = as<ForNode>(node);
      expression(loop->iterable);
      target(loop->target);
      loop_body(loop->body);
      break;
    }
    case NodeKind::while_statement: {
      if (!dialect_.while_loops)
        error(node->at, "this Starlark dialect does not support while loops");
      control(node->at, "while loop");
      auto* loop = as<WhileNode>(node);
      expression(loop->condition);
      loop_body(loop->body);
      break;
    }
    case NodeKind::break_statement:
      if (level().loops == 0)
        error(node->at, "break not in a loop");
      break;
    case NodeKind::continue_statement:
      if (level().loops == 0)
        error(node->at, "continue not in a loop");
      break;
    case NodeKind::load_statement:
      load(as<LoadNode>(node));
      break;
    default:
      break;
  }
}

void Resolver::load(LoadNode* node) {
  if (in_function())
    error(node->at, "load statement within a function");
  else if (level().loops > 0)
    error(node->at, "load statement within a loop");
  else if (level().conditions > 0)
    error(node->at, "load statement within a conditional");
  for (const LoadedName& name : node->names) {
    if (name.name.empty())
      error(name.at, "load: empty identifier");
    else if (name.name[0] == '_')
      error(name.at, cat("load: names with leading underscores are not exported: ", name.name));
    bound(name.local);
  }
}

void Resolver::target(Node* node, bool augmented) {
  switch (node->kind) {
    case NodeKind::identifier:
      bound(as<Identifier>(node));
      break;
    case NodeKind::list:
    case NodeKind::tuple:
      if (augmented)
        error(node->at, cat("can't use ", node->kind == NodeKind::tuple ? "tuple" : "list",
                            " expression in augmented assignment"));
      for (Node* item : as<SequenceNode>(node)->items)
        target(item, augmented);
      break;
    case NodeKind::index:
    case NodeKind::attribute:
      expression(node);
      break;
    default:
      error(start_of(node), cat("can't assign to ", description(node)));
      break;
  }
}

uint32_t Resolver::start_of(Node* node) {
  for (;;) {
    switch (node->kind) {
      case NodeKind::binary:
        node = as<BinaryNode>(node)->left;
        break;
      case NodeKind::call:
        node = as<CallNode>(node)->function;
        break;
      case NodeKind::attribute:
        node = as<AttributeNode>(node)->object;
        break;
      case NodeKind::index:
        node = as<IndexNode>(node)->object;
        break;
      case NodeKind::slice:
        node = as<SliceNode>(node)->object;
        break;
      case NodeKind::conditional:
        node = as<ConditionalNode>(node)->yes;
        break;
      case NodeKind::logical:
        node = as<LogicalNode>(node)->operands[0];
        break;
      default:
        return node->at;
    }
  }
}

std::string_view Resolver::description(const Node* node) {
  switch (node->kind) {
    case NodeKind::integer:
    case NodeKind::real:
    case NodeKind::string:
    case NodeKind::bytes:
      return "literal";
    case NodeKind::dict:
      return "dictexpr";
    case NodeKind::comprehension:
      return "comprehension";
    case NodeKind::unary:
      return "unaryexpr";
    case NodeKind::binary:
    case NodeKind::logical:
      return "binaryexpr";
    case NodeKind::conditional:
      return "condexpr";
    case NodeKind::call:
      return "callexpr";
    case NodeKind::slice:
      return "sliceexpr";
    case NodeKind::lambda:
      return "lambdaexpr";
    default:
      return "expression";
  }
}

void Resolver::expressions(std::span<Node*> nodes) {
  for (Node* node : nodes)
    expression(node);
}

void Resolver::expression(Node* node) {
  while (node != nullptr) {
    switch (node->kind) {
      case NodeKind::identifier:
        use(as<Identifier>(node));
        return;
      case NodeKind::list:
      case NodeKind::tuple:
        expressions(as<SequenceNode>(node)->items);
        return;
      case NodeKind::dict:
        expressions(as<DictNode>(node)->items);
        return;
      case NodeKind::comprehension:
        comprehension(as<ComprehensionNode>(node));
        return;
      case NodeKind::unary:
        node = as<UnaryNode>(node)->operand;
        break;
      case NodeKind::binary:
        expression(as<BinaryNode>(node)->right);
        node = as<BinaryNode>(node)->left;
        break;
      case NodeKind::logical:
        expressions(as<LogicalNode>(node)->operands);
        return;
      case NodeKind::conditional: {
        auto* conditional = as<ConditionalNode>(node);
        expression(conditional->condition);
        expression(conditional->yes);
        node = conditional->no;
        break;
      }
      case NodeKind::call:
        arguments(as<CallNode>(node));
        node = as<CallNode>(node)->function;
        break;
      case NodeKind::attribute:
        node = as<AttributeNode>(node)->object;
        break;
      case NodeKind::index:
        expression(as<IndexNode>(node)->key);
        node = as<IndexNode>(node)->object;
        break;
      case NodeKind::slice:
        expression(as<SliceNode>(node)->low);
        expression(as<SliceNode>(node)->high);
        expression(as<SliceNode>(node)->step);
        node = as<SliceNode>(node)->object;
        break;
      case NodeKind::lambda:
        function(&as<LambdaNode>(node)->function);
        return;
      default:
        return;
    }
  }
}

void Resolver::comprehension(ComprehensionNode* node) {
  level().function->has_comprehension = true;
  std::span<Clause> clauses = node->clauses;
  expression(clauses[0].value);
  unknown_.emplace_back();
  std::vector<Binding*> mine;
  for (const Clause& clause : clauses) {
    for (Symbol* symbol : clause.bound) {
      if (symbol->binding == nullptr || symbol->binding->owner != node) {
        Binding* binding = make(symbol, Scope::local, 0, clause.at, level().function);
        binding->owner = node;
        symbol->binding = binding;
        mine.push_back(binding);
      }
    }
  }
  for (Clause& clause : clauses) {
    if (&clause != &clauses[0])
      expression(clause.value);
    if (clause.is_for)
      comprehension_target(clause.target);
  }
  expression(node->key);
  expression(node->body);
  unknown_.pop_back();
  for (const Binding* binding : mine)
    binding->symbol->binding = binding->outer;
  node->bindings = arena_.copy(std::span<Binding* const>(mine));
}

void Resolver::comprehension_target(Node* node) {
  switch (node->kind) {
    case NodeKind::identifier:
      as<Identifier>(node)->binding = as<Identifier>(node)->symbol->binding;
      break;
    case NodeKind::list:
    case NodeKind::tuple:
      for (Node* item : as<SequenceNode>(node)->items)
        comprehension_target(item);
      break;
    case NodeKind::index:
    case NodeKind::attribute:
      expression(node);
      break;
    default:
      error(start_of(node), cat("can't assign to ", description(node)));
      break;
  }
}

ResolveResult resolve(FunctionNode* file, Arena& arena, const ResolveInput& input) {
  return Resolver(file, arena, input).run();
}

}  // namespace fettle::starlark
