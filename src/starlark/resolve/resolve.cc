#include "starlark/resolve/resolve.h"

#include <algorithm>
#include <memory>

#include "base/text.h"
#include "starlark/syntax/spelling.h"

namespace fettle::starlark {
namespace {

class Resolver {
 public:
  Resolver(FunctionNode* file, Arena& arena, const ResolveInput& input)
      : file_(file), arena_(arena), input_(input), dialect_(input.dialect) {}

  Resolved run() {
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

 private:
  /// A function whose body is being walked.
  struct Level {
    FunctionNode* function;
    std::vector<Binding*> bindings;
    std::vector<Binding*> free;
    int loops = 0;
    int conditions = 0;
  };

  using Unknown = std::vector<std::pair<const Symbol*, size_t>>;  ///< with its error
  static constexpr size_t most_errors = 1000;

  void error(uint32_t at, std::string message) {
    if (result_.errors.size() < most_errors)
      result_.errors.push_back({at, std::move(message)});
  }
  Level& level() { return *levels_.back(); }
  bool in_function() const { return levels_.size() > 1; }

  Binding* make(Symbol* symbol, Scope scope, size_t index, uint32_t first, FunctionNode* function) {
    return arena_.make<Binding>(symbol, scope, u32(index), first, function, symbol->binding, false,
                                false, false, 0u, nullptr, Value::unset());
  }

  std::string place(uint32_t at) const {
    const auto [line, column] = line_and_column(input_.source, at);
    return cat(input_.file, ":", line, ":", column);
  }

  void bind_global(Identifier* id) {
    Binding* known = id->symbol->binding;
    // A loaded name of the file hides a global, which is exported all the same.
    const bool hides = id->loaded && !dialect_.load_binds_globally;
    if (known == nullptr || (hides && !known->loaded)) {
      known = make(id->symbol, Scope::global, result_.globals.size(), id->at, nullptr);
      known->loaded = id->loaded;
      id->symbol->binding = known;
      result_.globals.push_back(known);
    } else if (!dialect_.global_reassign) {
      const bool local = known->loaded && !dialect_.load_binds_globally;
      if (local && id->loaded) {
        error(id->at, cat("cannot reassign top-level ", id->symbol->text));
        id->binding = known;
        return;
      }
      error(id->at, cat("cannot reassign ", local ? "local" : "global", " ", id->symbol->text,
                        " declared at ", place(known->first)));
    }
    id->binding = known;
  }

  void enter(FunctionNode* function) {
    if (free_levels_.empty()) {
      levels_.push_back(std::make_unique<Level>());
    } else {
      levels_.push_back(std::move(free_levels_.back()));
      free_levels_.pop_back();
    }
    Level& entered = level();
    entered.function = function;
    entered.bindings.clear();
    entered.free.clear();
    entered.loops = entered.conditions = 0;
    if (in_function())
      unknown_.emplace_back();
    function->parent = levels_.size() > 1 ? levels_[levels_.size() - 2]->function : nullptr;
  }

  void leave() {
    if (in_function())
      unknown_.pop_back();
    Level& left = level();
    for (const Binding* binding : left.bindings)
      binding->symbol->binding = binding->outer;
    for (const Binding* binding : left.free)
      binding->symbol->binding = binding->outer;
    left.function->bindings = arena_.copy(std::span<Binding* const>(left.bindings));
    left.function->free = arena_.copy(std::span<Binding* const>(left.free));
    free_levels_.push_back(std::move(levels_.back()));
    levels_.pop_back();
  }

  Binding* bind_local(Symbol* symbol, uint32_t at) {
    Binding* binding = make(symbol, Scope::local, level().bindings.size(), at, level().function);
    symbol->binding = binding;
    level().bindings.push_back(binding);
    return binding;
  }

  void function(FunctionNode* node) {
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

  /// The starred ones are bound last, so they are the ones that are told twice.
  void bind_parameters(FunctionNode* node) {
    const auto starred = [](const ParameterNode& parameter) {
      return parameter.kind == ParameterKind::rest || parameter.kind == ParameterKind::named_rest;
    };
    for (const ParameterNode& parameter : node->parameters) {
      if (parameter.name == nullptr)
        continue;
      const Binding* known = parameter.name->binding;
      if (known == nullptr || known->function != node) {
        bind_local(parameter.name, parameter.at);
        continue;
      }
      const ParameterNode* told = &parameter;
      for (const ParameterNode& other : node->parameters) {
        if (&other == &parameter)
          break;
        if (other.name == parameter.name && starred(other) && !starred(parameter))
          told = &other;
      }
      error(told->name_at, cat("duplicate parameter: ", parameter.name->text));
    }
  }

  /// Checks the order of parameters and resolves their defaults outside the function.
  void parameters(FunctionNode* node) {
    bool optional = false;
    const ParameterNode* star = nullptr;
    const ParameterNode* star_star = nullptr;
    size_t keyword_only = 0;
    for (const ParameterNode& parameter : node->parameters) {
      const auto after = [&](std::string_view what) {
        error(parameter.at, cat(what, " may not follow **", star_star->name->text));
      };
      switch (parameter.kind) {
        case ParameterKind::required:
          if (star_star != nullptr)
            after("required parameter");
          else if (star != nullptr)
            ++keyword_only;
          else if (optional)
            error(parameter.at, "required parameter may not follow optional");
          break;
        case ParameterKind::optional:
          if (star_star != nullptr)
            error(parameter.name_at,
                  cat("optional parameter may not follow **", star_star->name->text));
          else if (star != nullptr)
            ++keyword_only;
          optional = true;
          expression(parameter.fallback);
          break;
        case ParameterKind::rest:
        case ParameterKind::bare_star:
          if (star_star != nullptr)
            after("* parameter");
          else if (star != nullptr)
            error(parameter.at, "multiple * parameters not allowed");
          else
            star = &parameter;
          break;
        case ParameterKind::named_rest:
          if (star_star != nullptr)
            error(parameter.at, "multiple ** parameters not allowed");
          star_star = &parameter;
          break;
      }
    }
    if (star != nullptr && star->kind == ParameterKind::bare_star && keyword_only == 0)
      error(star->at, "bare * must be followed by keyword-only parameters");
  }

  void statements(std::span<Node*> body) {
    for (Node* node : body)
      statement(node);
  }

  void control(uint32_t at, std::string_view what) {
    if (!in_function() && !dialect_.top_level_control)
      error(at, cat(what, " not within a function"));
  }
  void loop_body(std::span<Node*> body) {
    ++level().loops;
    statements(body);
    --level().loops;
  }

  void statement(Node* node) {
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

  void load(LoadNode* node) {
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

  void bound(Identifier* id) {
    if (id->binding != nullptr)
      id->binding->bound = true;
  }

  /// A target: names are bound already, other parts are uses.
  void target(Node* node, bool augmented = false) {
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

  static uint32_t start_of(Node* node) {
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

  static std::string_view description(const Node* node) {
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

  /// The binding of a name that `function` is to use, made known to it when it is a variable of an
  /// enclosing function.
  Binding* capture(Binding* binding, size_t depth) {
    FunctionNode* function = levels_[depth]->function;
    if (binding->function == function)
      return binding;
    Binding* source = capture(binding, depth - 1);
    if (source->scope == Scope::local)
      source->scope = Scope::cell;
    source->captured = true;
    std::vector<Binding*>& free = levels_[depth]->free;
    Binding* made =
        arena_.make<Binding>(binding->symbol, Scope::free, u32(free.size()), binding->first,
                             function, source, true, false, false, 0u, nullptr, Value::unset());
    free.push_back(made);
    return made;
  }

  void use(Identifier* id) {
    Binding* binding = id->symbol->binding;
    if (binding != nullptr && binding->scope == Scope::global && dialect_.global_reassign &&
        !in_function() && !binding->bound)
      binding = outside(id, binding);
    else if (binding == nullptr)
      binding = outside(id, nullptr);
    else if (binding->function != nullptr && binding->function != level().function) {
      binding = capture(binding, levels_.size() - 1);
      id->symbol->binding = binding;
    }
    id->binding = binding;
  }

  Binding* outside(Identifier* id, Binding* hidden_by) {
    const std::optional<Outside> found = input_.outside(id->symbol->text);
    if (!found) {
      undefined(id);
      return nullptr;
    }
    Binding* binding = make(id->symbol, found->universal ? Scope::universal : Scope::predeclared, 0,
                            id->at, nullptr);
    binding->value = found->value;
    if (hidden_by == nullptr)
      id->symbol->binding = binding;
    return binding;
  }

  /// Of this file, else of what surrounds it.
  std::string similar_name(std::string_view wanted) const {
    std::vector<std::string_view> names;
    for (const Binding* global : result_.globals)
      names.push_back(global->symbol->text);
    for (const auto& open : levels_) {
      for (const Binding* local : open->bindings)
        names.push_back(local->symbol->text);
    }
    std::sort(names.begin(), names.end());
    if (const std::string_view near = nearest_name(wanted, names); !near.empty())
      return std::string(near);
    const std::vector<std::string> outside = input_.outside_names();
    return std::string(
        nearest_name(wanted, std::vector<std::string_view>(outside.begin(), outside.end())));
  }

  /// A name is told once in each function and comprehension, at its first place, and each time in
  /// the file itself.
  bool told_already(const Identifier* id) {
    for (const Unknown& block : unknown_) {
      for (const auto& [symbol, index] : block) {
        if (symbol != id->symbol)
          continue;
        result_.errors[index].at = std::min(result_.errors[index].at, id->at);
        return true;
      }
    }
    for (Unknown& block : unknown_) {
      if (result_.errors.size() < most_errors)
        block.emplace_back(id->symbol, result_.errors.size());
    }
    return false;
  }

  void undefined(Identifier* id) {
    if (told_already(id))
      return;
    if (id->symbol->text == "set")
      return error(id->at, "this Starlark dialect does not support sets");
    std::string hint;
    if (result_.errors.size() < 20) {
      if (const std::string near = similar_name(id->symbol->text); !near.empty())
        hint = cat(" (did you mean ", near, "?)");
    }
    error(id->at, cat("undefined: ", id->symbol->text, hint));
  }

  void expressions(std::span<Node*> nodes) {
    for (Node* node : nodes)
      expression(node);
  }

  void expression(Node* node) {
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

  void arguments(CallNode* call) {
    bool rest = false;
    bool named_rest = false;
    size_t positional = 0;
    size_t named = 0;
    for (const Argument& argument : call->arguments) {
      const uint32_t at = argument.at;
      switch (argument.kind) {
        case ArgumentKind::positional:
          ++positional;
          if (rest)
            error(at, "positional argument may not follow *args");
          else if (named_rest)
            error(at, "positional argument may not follow **kwargs");
          else if (named > 0)
            error(at, "positional argument may not follow named");
          break;
        case ArgumentKind::named:
          if (named_rest)
            error(at, "keyword argument may not follow **kwargs");
          else if (rest)
            error(at, "keyword argument may not follow *args");
          for (const Argument& other : call->arguments) {
            if (&other == &argument)
              break;
            if (other.kind == ArgumentKind::named && other.name == argument.name) {
              error(at, cat("keyword argument \"", argument.name->text, "\" is repeated"));
              break;
            }
          }
          if (++named == 256)
            error(at, "256 keyword arguments in call, limit is 255");
          break;
        case ArgumentKind::rest:
          if (named_rest)
            error(at, "*args may not follow **kwargs");
          else if (rest)
            error(at, "multiple *args not allowed");
          rest = true;
          break;
        case ArgumentKind::named_rest:
          if (named_rest)
            error(at, "multiple **kwargs not allowed");
          named_rest = true;
          break;
      }
      if (named > 256)
        break;
      expression(argument.value);
    }
    if (positional > 255)
      error(call->at, cat(positional, " positional arguments in call, limit is 255"));
  }

  void comprehension(ComprehensionNode* node) {
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

  void comprehension_target(Node* node) {
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

  FunctionNode* file_;
  Arena& arena_;
  const ResolveInput& input_;
  const Dialect& dialect_;
  Resolved result_;
  std::vector<std::unique_ptr<Level>> levels_;
  std::vector<std::unique_ptr<Level>> free_levels_;
  std::vector<Unknown> unknown_;  ///< of each open function and comprehension
};

}  // namespace

Resolved resolve(FunctionNode* file, Arena& arena, const ResolveInput& input) {
  return Resolver(file, arena, input).run();
}

std::pair<int, int> line_and_column(std::string_view source, uint32_t offset) {
  offset = std::min(offset, u32(source.size()));
  int line = 1;
  size_t start = 0;
  for (size_t i = source.find('\n'); i < offset; i = source.find('\n', i + 1)) {
    ++line;
    start = i + 1;
  }
  int column = 1;
  for (size_t i = start; i < offset; ++i)
    column += (static_cast<uint8_t>(source[i]) & 0xC0) != 0x80;
  return {line, column};
}

}  // namespace fettle::starlark
