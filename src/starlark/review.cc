#include "starlark/review.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/text.h"
#include "starlark/outside.h"
#include "starlark/scan.h"
#include "starlark/syntax/parser.h"
#include "starlark/syntax/syntax_error.h"

namespace fettle::starlark {
namespace {

constexpr size_t most_findings = 100;

/// Walks a resolved tree with a list of its own instead of recursion: chains may be as long as a
/// file.
class Reviewer {
 public:
  std::vector<SyntaxError> run(FunctionNode* file) {
    body(*file);
    while (!left_.empty()) {
      Node* const node = left_.back();
      left_.pop_back();
      visit(node);
    }
    for (const auto& [binding, what] : bound_)
      if (!used_.contains(binding) && !binding->symbol->text.starts_with('_'))
        say(what.at, cat("`", binding->symbol->text, "` is ", what.is_module ? "imported" : "set",
                         " and never used"));
    std::ranges::stable_sort(found_, {}, &SyntaxError::at);
    return std::move(found_);
  }

 private:
  struct BoundName {
    uint32_t at = 0;
    bool is_module = false;
  };

  void say(uint32_t at, std::string message) { found_.push_back({at, std::move(message)}); }
  void later(Node* node) {
    if (node != nullptr)
      left_.push_back(node);
  }

  void body(const FunctionNode& function) {
    for (const ParameterNode& parameter : function.parameters)
      later(parameter.fallback);
    later(function.result);
    block(function.body);
  }

  /// Whether code behind a statement in its block is never reached.
  static bool leaves(Node* statement) {
    switch (statement->kind) {
      case NodeKind::return_statement:
      case NodeKind::break_statement:
      case NodeKind::continue_statement:
        return true;
      case NodeKind::expression_statement:
        return is_call_of(as<ExpressionStatement>(statement)->value, "fail");
      default:
        return false;
    }
  }

  static bool is_call_of(const Node* node, std::string_view name) {
    if (node == nullptr || node->kind != NodeKind::call)
      return false;
    const Node* const function = static_cast<const CallNode*>(node)->function;
    return function->kind == NodeKind::identifier &&
           static_cast<const Identifier*>(function)->symbol->text == name;
  }

  void block(std::span<Node*> statements) {
    for (size_t i = 0; i < statements.size(); ++i) {
      later(statements[i]);
      if (i + 1 < statements.size() && leaves(statements[i]))
        say(statements[i + 1]->at, "this is never reached");
    }
  }

  void use(Binding* binding) {
    while (binding != nullptr && used_.insert(binding).second && binding->scope == Scope::free)
      binding = binding->outer;
  }

  /// Notes what an assignment binds; the other parts of a target are evaluated.
  void target(Node* node, Node* value) {
    if (node->kind != NodeKind::identifier) {
      spread(node);
      return;
    }
    Binding* const binding = as<Identifier>(node)->binding;
    const bool is_module = is_call_of(value, "import_module");
    if (binding == nullptr)
      return;
    // A global may be used by another file. Imported names hardly ever are.
    if (binding->scope != Scope::global || is_module)
      bound_.try_emplace(binding, BoundName{node->at, is_module});
  }

  /// Names of which some may be there to be skipped.
  void spread(Node* node) {
    if (node->kind == NodeKind::identifier)
      use(as<Identifier>(node)->binding);
    else
      later(node);
  }

  void effect(Node* value) {
    switch (value->kind) {
      case NodeKind::attribute:
        say(value->at,
            cat("`", as<AttributeNode>(value)->name->text, "` is not called: `(…)` is missing"));
        break;
      case NodeKind::identifier:
      case NodeKind::integer:
      case NodeKind::real:
      case NodeKind::list:
      case NodeKind::tuple:
      case NodeKind::dict:
      case NodeKind::unary:
      case NodeKind::binary:
      case NodeKind::lambda:
        say(value->at, "this has no effect");
        break;
      default:
        break;
    }
  }

  void keys(const DictNode& dict) {
    std::set<std::string_view> seen;
    for (size_t i = 0; i + 1 < dict.items.size(); i += 2)
      if (dict.items[i]->kind == NodeKind::string &&
          !seen.insert(as<TextNode>(dict.items[i])->text).second)
        say(dict.items[i]->at,
            cat("the key ", write_key(as<TextNode>(dict.items[i])->text), " occurs twice"));
  }
  static std::string write_key(std::string_view text) { return cat("`", text, "`"); }

  void all(std::span<Node*> nodes) {
    for (Node* node : nodes)
      later(node);
  }

  void visit(Node* node) {
    switch (node->kind) {
      case NodeKind::identifier:
        use(as<Identifier>(node)->binding);
        break;
      case NodeKind::list:
      case NodeKind::tuple:
        all(as<SequenceNode>(node)->items);
        break;
      case NodeKind::dict:
        keys(*as<DictNode>(node));
        all(as<DictNode>(node)->items);
        break;
      case NodeKind::comprehension:
        comprehension(*as<ComprehensionNode>(node));
        break;
      case NodeKind::unary:
        later(as<UnaryNode>(node)->operand);
        break;
      case NodeKind::binary:
        later(as<BinaryNode>(node)->left);
        later(as<BinaryNode>(node)->right);
        break;
      case NodeKind::logical:
        all(as<LogicalNode>(node)->operands);
        break;
      case NodeKind::conditional:
        later(as<ConditionalNode>(node)->condition);
        later(as<ConditionalNode>(node)->yes);
        later(as<ConditionalNode>(node)->no);
        break;
      case NodeKind::call:
        later(as<CallNode>(node)->function);
        for (const Argument& argument : as<CallNode>(node)->arguments)
          later(argument.value);
        break;
      case NodeKind::attribute:
        later(as<AttributeNode>(node)->object);
        break;
      case NodeKind::index:
        later(as<IndexNode>(node)->object);
        later(as<IndexNode>(node)->key);
        break;
      case NodeKind::slice:
        for (Node* part : {as<SliceNode>(node)->object, as<SliceNode>(node)->low,
                           as<SliceNode>(node)->high, as<SliceNode>(node)->step})
          later(part);
        break;
      case NodeKind::lambda:
        body(as<LambdaNode>(node)->function);
        break;
      default:
        statement(node);
    }
  }

  void comprehension(const ComprehensionNode& node) {
    later(node.key);
    later(node.body);
    for (const Clause& clause : node.clauses) {
      if (clause.is_for)
        spread(clause.target);
      later(clause.value);
    }
  }

  void statement(Node* node) {
    switch (node->kind) {
      case NodeKind::expression_statement:
        effect(as<ExpressionStatement>(node)->value);
        later(as<ExpressionStatement>(node)->value);
        break;
      case NodeKind::assign:
        target(as<AssignNode>(node)->target, as<AssignNode>(node)->value);
        later(as<AssignNode>(node)->value);
        break;
      case NodeKind::augmented_assign:
        spread(as<AugmentedAssignNode>(node)->target);
        later(as<AugmentedAssignNode>(node)->value);
        break;
      case NodeKind::def_statement:
        body(as<DefNode>(node)->function);
        break;
      case NodeKind::return_statement:
        later(as<ReturnNode>(node)->value);
        break;
      case NodeKind::if_statement:
        for (const Branch& branch : as<IfNode>(node)->branches) {
          later(branch.condition);
          block(branch.body);
        }
        break;
      case NodeKind::for_statement:
        spread(as<ForNode>(node)->target);
        later(as<ForNode>(node)->iterable);
        block(as<ForNode>(node)->body);
        break;
      case NodeKind::while_statement:
        later(as<WhileNode>(node)->condition);
        block(as<WhileNode>(node)->body);
        break;
      case NodeKind::load_statement:
        for (const LoadedName& name : as<LoadNode>(node)->names)
          if (name.local->binding != nullptr)
            bound_.try_emplace(name.local->binding, BoundName{name.at, true});
        break;
      default:
        break;
    }
  }

  std::vector<Node*> left_;
  std::map<Binding*, BoundName> bound_;  ///< by a plain assignment
  std::set<Binding*> used_;
  std::vector<SyntaxError> found_;
};

/// Findings with their places, which are computed once there is one.
class Places {
 public:
  Places(const std::string& file, std::string_view text) : file_(file), text_(text) {}

  Error finding(const SyntaxError& problem) {
    if (!lines_)
      lines_.emplace(text_);
    return syntax_error(file_, text_, *lines_, problem);
  }

 private:
  const std::string& file_;
  std::string_view text_;
  std::optional<Lines> lines_;
};

}  // namespace

Review review(Session& session, const std::string& file, std::string_view given) {
  Review found;
  const std::string text = source_text(given);
  Places places(file, text);
  Arena arena;
  Symbols symbols(arena);
  LexerOptions options = lexer_options(session.state().dialect);
  options.most_bytes = session.state().limits.memory;
  const ParsedFile parsed = parse_file(text, arena, symbols, options);
  if (parsed.zero_byte)
    found.doubts.push_back(places.finding(
        {*parsed.zero_byte, "a zero byte ends the file here: the rest is not read"}));
  if (parsed.error) {
    found.errors.push_back(places.finding(*parsed.error));
    return found;
  }
  const ResolveResult resolved =
      resolve(parsed.file, arena, resolve_input(session.state(), file, text, {}));
  for (const SyntaxError& problem : resolved.errors)
    if (found.errors.size() < most_findings)
      found.errors.push_back(places.finding(problem));
  if (!found.errors.empty())
    return found;
  for (const SyntaxError& doubt : Reviewer().run(parsed.file))
    if (found.doubts.size() < most_findings)
      found.doubts.push_back(places.finding(doubt));
  return found;
}

}  // namespace fettle::starlark
