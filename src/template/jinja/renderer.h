#pragma once
/// Runs a parsed template.

#include <map>
#include <set>

#include <boost/intrusive/list.hpp>

#include "template/jinja/jinja.h"
#include "template/jinja/node.h"

namespace fettle::jinja {

/// Names that are visible; the inner hide the outer.
struct Scope
    : boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
  std::shared_ptr<Scope> parent;
  std::unordered_map<std::string, Value> names;
  Scope() = default;
  ~Scope();  ///< however deep a macro is defined within another's
};
using ScopePtr = std::shared_ptr<Scope>;

/// Notes where the pieces of one output come from.
class Trace {
 public:
  explicit Trace(TracedText& traced) : traced_(traced) {}
  /// `before`: how long the output was before the piece.
  void add(const std::string& out, size_t before, const std::string* file, const Stmt& node);

 private:
  TracedText& traced_;
  const std::string* file_ = nullptr;  ///< of the last piece
  uint32_t index_ = 0;                 ///< in `TracedText::files`
};

class Renderer {
 public:
  Renderer(Engine& engine, Lookup context, Trace* trace = nullptr)
      : engine_(engine), context_(std::move(context)), trace_(trace) {}

  /// A template with the templates that it extends, into `out`.
  Status run(const std::shared_ptr<const Tree>& tree, const ScopePtr& top, std::string& out);
  Status body(const Body& body, const ScopePtr& scope, std::string& out);
  Result<Value> eval(const Expr& expr, const ScopePtr& scope);
  Result<Value> call(const Value& callee, Arguments& arguments);
  Result<Value> filter(const std::string& name, Arguments& arguments);
  Result<bool> test(const std::string& name, Arguments& arguments);
  /// The same for names that stand in the template: `check_names` let unknown ones pass.
  Result<Value> filter_of(const Expr& expr, Arguments& arguments);
  Result<bool> test_of(const Expr& expr, Arguments& arguments);
  /// `value.name`, then `value["name"]`; undefined when there is neither.
  Result<Value> attribute(const Value& value, const std::string& name);
  Result<Value> item(const Value& value, const Value& key);
  /// The text that is printed for a value.
  Result<std::string> shown(const Value& value) const;
  Status spend(uint64_t steps);
  const Environment& environment() const { return engine_.environment(); }
  Status bind(const Expr& target, const Value& value, const ScopePtr& scope);
  Status loop(const Stmt& node, const Value& iterable, const ScopePtr& scope, std::string& out,
              int depth);
  /// A block as the most derived template has it, or (`level` > 0) as those that it extends do.
  bool has_block(const std::string& name) const { return blocks_.contains(name); }
  ScopePtr new_scope(ScopePtr parent);
  /// Empties what is still there: macros, modules and loops hold scopes that hold them, and lists
  /// themselves. The lists and dicts of the context belong to the rendering.
  void end();
  const std::string* enter(const std::string* file) { return std::exchange(file_, file); }
  Status block(const std::string& name, size_t level, const ScopePtr& scope, std::string& out);

 private:
  struct Definition {
    const Stmt* block;
    const std::string* file;
  };
  using Blocks = std::map<std::string, std::vector<Definition>>;

  /// Left by a `break` or `continue` until its loop takes notice.
  enum class LoopExit { nothing, turn, loop };

  Status statement(const Stmt& node, const ScopePtr& scope, std::string& out);
  Status execute(const Stmt& node, const ScopePtr& scope, std::string& out);
  Status output(const Stmt& node, const ScopePtr& scope, std::string& out);
  Status set_block(const Stmt& node, const ScopePtr& scope);
  Status call_block(const Stmt& node, const ScopePtr& scope, std::string& out);
  Status with(const Stmt& node, const ScopePtr& scope, std::string& out);
  Status extends(const Stmt& node, const ScopePtr& scope);
  Status include(const Stmt& node, const ScopePtr& scope, std::string& out);
  Status import(const Stmt& node, const ScopePtr& scope);
  Result<ScopePtr> module_of(const Stmt& node, const ScopePtr& scope);
  Result<std::shared_ptr<const Tree>> template_of(const Value& name, bool may_be_missing);
  void collect(const Body& body, const std::string& file);

  Result<Value> name(const Expr& expr, const ScopePtr& scope);
  Result<Value> compare(const Expr& expr, const ScopePtr& scope);
  Result<Value> evaluate(const Expr& expr, const ScopePtr& scope);
  Result<Value> subscript(const Expr& expr, const ScopePtr& scope);
  Result<Value> filter_chain(const Expr* chain, Value value, const ScopePtr& scope);
  Result<Arguments> arguments(const CallArguments& given, const ScopePtr& scope);
  Result<Items> operands(const Expr& expr, const ScopePtr& scope);

  Engine& engine_;
  Lookup context_;
  ScopePtr top_;
  Blocks blocks_;
  std::shared_ptr<const Tree> extended_;
  std::vector<std::shared_ptr<const Tree>> kept_;
  std::vector<std::shared_ptr<class TemplateModule>> modules_;
  /// Macros may outlive the include that defined them.
  std::vector<std::unique_ptr<Renderer>> included_;
  boost::intrusive::list<Scope, boost::intrusive::constant_time_size<false>> scopes_;
  Circles circles_;
  const std::string* file_ = nullptr;
  Trace* trace_ = nullptr;
  LoopExit leaving_ = LoopExit::nothing;
  int level_ = 0;
};

/// The filters and tests of the language; null: none of that name.
using Builtin = Result<Value> (*)(Renderer& renderer, Arguments& arguments);
Builtin find_filter(std::string_view name);
using TestBuiltin = Result<bool> (*)(Renderer& renderer, Arguments& arguments);
TestBuiltin find_test(std::string_view name);
/// Whether there is such a filter or test, of the language or of the host.
bool has_filter(const Environment& environment, const std::string& name);
bool has_test(const Environment& environment, const std::string& name);
/// The error of what draws random numbers in Jinja2.
Error not_repeatable(std::string_view what);
/// `range`, `dict`, `namespace`, `cycler`, `joiner`, `lipsum`.
std::optional<Value> find_global(std::string_view name, const Limits& limits);
/// A method of a text, list or dict; nothing: none of that name.
std::optional<Value> find_method(const Value& value, std::string_view name);

/// A comparison by its operator, `in` and `not in` among them.
Result<bool> holds(std::string_view op, const Value& a, const Value& b);

/// Arguments in the order of parameters: `{"width", "first?"}`, missing optional ones undefined.
Result<Items> bind_arguments(std::string_view function, Arguments& arguments,
                             std::initializer_list<std::string_view> parameters);

}  // namespace fettle::jinja
