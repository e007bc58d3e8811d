#pragma once
/// The walk that resolves a file. names.cc binds and finds names, parameters.cc checks parameters
/// and arguments, and resolve.cc walks.

#include <memory>
#include <optional>

#include "base/text.h"
#include "starlark/resolve/resolve.h"
#include "starlark/syntax/lines.h"

namespace fettle::starlark {

class Resolver {
 public:
  Resolver(FunctionNode* file, Arena& arena, const ResolveInput& input)
      : file_(file), arena_(arena), input_(input), dialect_(input.dialect) {}

  ResolveResult run();

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

  void error(uint32_t at, std::string message);
  Level& level() { return *levels_.back(); }
  bool in_function() const { return levels_.size() > 1; }

  Binding* make(Symbol* symbol, Scope scope, size_t index, uint32_t first, FunctionNode* function);
  std::string place(uint32_t at);
  void bind_global(Identifier* id);
  void enter(FunctionNode* function);
  void leave();
  Binding* bind_local(Symbol* symbol, uint32_t at);
  void function(FunctionNode* node);
  /// Starred parameters are bound last, so a name that occurs twice is reported at them.
  void bind_parameters(FunctionNode* node);
  /// Checks the order of parameters and resolves their defaults outside the function.
  void parameters(FunctionNode* node);
  void statements(std::span<Node*> body);
  void control(uint32_t at, std::string_view what);
  void loop_body(std::span<Node*> body);
  void statement(Node* node);
  void load(LoadNode* node);
  void bound(Identifier* id);
  /// Resolves a target. Names are bound already; the other parts are uses.
  void target(Node* node, bool augmented = false);
  static uint32_t start_of(Node* node);
  static std::string_view description(const Node* node);
  /// The binding by which the function at `depth` uses a name. A variable of an enclosing function
  /// is handed on through every function between the two.
  Binding* capture(Binding* binding, size_t depth);
  void use(Identifier* id);
  Binding* outside(Identifier* id, Binding* hidden_by);
  /// The most similar name, of this file or else from outside.
  std::string similar_name(std::string_view wanted) const;
  /// Whether an undefined name was reported already: once in each function and comprehension, at
  /// its first place, and each time in the file itself.
  bool told_already(const Identifier* id);
  void undefined(Identifier* id);
  void expressions(std::span<Node*> nodes);
  void expression(Node* node);
  void arguments(CallNode* call);
  void comprehension(ComprehensionNode* node);
  void comprehension_target(Node* node);
  FunctionNode* file_;
  Arena& arena_;
  const ResolveInput& input_;
  const Dialect& dialect_;
  ResolveResult result_;
  std::optional<Lines> lines_;  ///< once an error names a place
  std::vector<std::unique_ptr<Level>> levels_;
  std::vector<std::unique_ptr<Level>> free_levels_;
  std::vector<Unknown> unknown_;  ///< of each open function and comprehension
};

}  // namespace fettle::starlark
