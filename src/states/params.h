#pragma once
/// The `params` of templates. Files of parameters are rendered like files of states. If there are
/// several, the later one counts, key by key, and a file counts more than those that it includes. A
/// parameter that is null or missing prints as a mark that becomes null in the YAML. In `validate`
/// nobody gives parameters, and all that templates ask for is noted.

#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "states/position.h"
#include "template/jinja/jinja.h"
#include "value/tree.h"

namespace fettle::states {

/// Stands in a file for a missing value: it becomes null, or nothing within a text.
inline constexpr std::string_view none_mark = "__PYTHON_NONE__";

/// The parameters that templates asked for, each with its default, and those below it.
struct ParameterRequest {
  std::string shown;  ///< the words that ask for it: `{{ params.get('a') }}`
  Value otherwise;    ///< an empty text: none was named
  std::vector<std::pair<std::string, std::unique_ptr<ParameterRequest>>> below;
  std::unordered_map<std::string, ParameterRequest*> known;  ///< those below, by name
  size_t number = 0;                                         ///< its place in `all`
  std::vector<const ParameterRequest*> all;                  ///< only in the outermost one
};

class Params {
 public:
  Params() = default;  ///< none
  /// `layers`: dictionaries, from the one that counts least to the one that counts most.
  static Params of(std::span<const TreeNode* const> layers);
  static Params of(const Value& values);
  /// For `validate`: each parameter prints as the words that ask for it.
  static Params asking();

  /// The value of `params` in a template.
  jinja::Value object() const;
  /// Null if it is not `asking`.
  const ParameterRequest* asked() const { return asked_.get(); }
  /// A parameter that was asked for prints as a mark, which every format takes for a word. This
  /// replaces the marks in a text by the words that ask.
  std::string with_words(std::string_view text) const;

 private:
  void keep();

  jinja::Value values_ = jinja::Value::dict();
  std::shared_ptr<jinja::Circles> kept_;  ///< shared by templates, which may put it into itself
  std::shared_ptr<ParameterRequest> asked_;
};

/// A part of a tree as templates see it, with keys in their order.
jinja::Value template_value(const TreeNode& node);

}  // namespace fettle::states
