#pragma once
/// Jinja2 templates: values in, text out. Undefined names are errors (StrictUndefined), attributes
/// of Python's objects that would lead out of the template do not exist, and steps, output and
/// depth are bounded.
///
///   Engine engine(environment);
///   const std::string text = TRY(engine.render_text("greeting", "hello {{ name }}", names));
///
/// Messages are those of Jinja2 with the class in front (`jinja2.exceptions.UndefinedError: 'x' is
/// undefined`); `where` has the template and the line.

#include <functional>
#include <map>
#include <string>

#include "template/jinja/lexer.h"
#include "template/jinja/value.h"

namespace fettle::jinja {

using Function = std::function<Result<Value>(Arguments&)>;
/// A name of the context; nothing: not defined.
using Lookup = std::function<Result<std::optional<Value>>(std::string_view name)>;

/// A step is about 20 ns of work.
struct Limits {
  uint64_t steps = 50'000'000;
  uint64_t memory = 0;  ///< of values, in bytes; 0: `Budget::default_bytes()`
  size_t output = size_t{1} << 26;
  int64_t range = 100'000;
};

struct Environment {
  Syntax syntax;
  /// The text of a template by its name. None: there is no such template.
  std::function<Result<std::optional<std::string>>(const std::string& name)> load;
  /// A filter or test that the language lacks, by name, asked once for each use; null: none.
  std::function<Function(const std::string& name)> find_filter;
  std::function<Function(const std::string& name)> find_test;
  std::map<std::string, Value, std::less<>> globals;
  /// Draws a number for the filter `random`; none: what is random is an error.
  std::function<uint64_t()> draw;
  Limits limits;
  const std::atomic<bool>* cancelled = nullptr;
};

struct Tree;

/// The origin of a piece of the output. It ends where the next one begins.
struct Origin {
  size_t offset = 0;  ///< of its first byte in the output
  uint32_t file = 0;  ///< in `TracedText::files`
  int line = 1;
  int column = 1;
  /// The template's own text: what follows stands behind it in the template, too. Else all of it
  /// was computed by the tag at the place.
  bool is_literal = false;
};

struct TracedText {
  std::string text;
  std::vector<std::string> files;
  std::vector<Origin> origins;  ///< by offset
};

/// Keeps what it parsed, so that a template is read once.
class Engine {
 public:
  explicit Engine(Environment environment)
      : budget_({.steps = environment.limits.steps,
                 .bytes = environment.limits.memory == 0 ? Budget::default_bytes()
                                                         : environment.limits.memory,
                 .cancelled = environment.cancelled}),
        environment_(std::move(environment)) {}
  Result<std::string> render(const std::string& name, const Lookup& names);
  /// The same, with the place of everything in the output. An error has a column, too.
  Result<TracedText> trace_text(const std::string& name, std::string_view source,
                                const Lookup& names);
  Result<std::string> render_text(const std::string& name, std::string_view source,
                                  const Lookup& names);

  const Environment& environment() const { return environment_; }
  Budget& budget() { return budget_; }
  /// The parsed template; nothing: there is none.
  Result<std::shared_ptr<const Tree>> find(const std::string& name);

 private:
  Budget budget_;  ///< of one rendering; constants of trees count in it, too
  Environment environment_;
  std::map<std::string, std::shared_ptr<const Tree>> trees_;
};

/// Looks names up in a dict.
Lookup names_of(const Value& dict);

/// A function as a value.
Value function_value(std::string name, Function function);

}  // namespace fettle::jinja
