#pragma once
/// Go's text/template: a text with actions between `{{` and `}}`, rendered with JSON-like data.
/// Actions, pipelines, variables, `define`, `template`, `block`, `range` with `break` and
/// `continue`, trimming of white space, comments, Go's functions and printf verbs.
///
/// Numbers compare by value whatever their types (Go refuses to compare an int with a float), and
/// with a text by what they look like (Kurtosis reads the numbers of data as texts).
/// Rendering is bounded: nesting, output and steps.

#include <map>
#include <memory>

#include "base/result.h"
#include "value/value.h"

namespace fettle::go_template {

struct Limits {
  size_t output = 256u << 20;   ///< bytes
  uint64_t steps = 50'000'000;  ///< nodes that are executed, and work of functions
  uint64_t made = 512u << 20;   ///< bytes that functions give
  int depth = 250;              ///< templates that call each other
};

struct Node;

class Template {
 public:
  /// Errors (`Blame::user`) have the line and column in the template: `template: name:3: …`.
  static Result<Template> parse(std::string name, std::string_view text);
  Result<std::string> render(const Value& data, const Limits& limits = {}) const;

  ~Template();
  Template(Template&&) noexcept;
  Template& operator=(Template&&) noexcept;

 private:
  Template();
  std::string name_;
  std::string text_;
  std::unique_ptr<Node> root_;
  std::map<std::string, std::unique_ptr<Node>> defined_;
};

}  // namespace fettle::go_template
