#pragma once
/// `params` of templates. Files of parameters are rendered as files of states are; of several the
/// later one wins key by key, and what they include counts less than they do. A parameter that is
/// null, or not there, prints as a mark that becomes null in the YAML. In `validate` nobody gives
/// any, and what templates ask for is noted.

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

/// What a file says where there is nothing: it becomes null, or nothing inside of a text.
inline constexpr std::string_view none_mark = "__PYTHON_NONE__";

/// The parameters that templates asked for, each with its default, and what lies below it.
struct Asked {
  std::string shown;  ///< the words that ask for it: `{{ params.get('a') }}`
  Value otherwise;    ///< an empty text: none was named
  std::vector<std::pair<std::string, std::unique_ptr<Asked>>> below;
  std::unordered_map<std::string, Asked*> known;  ///< those below by name
  size_t number = 0;                              ///< in `all`
  std::vector<const Asked*> all;                  ///< of the outermost
};

class Params {
 public:
  Params() = default;  ///< none
  /// `layers`: from those that count least to those that count most; each a dictionary.
  static Params of(std::span<const TreeNode* const> layers);
  static Params of(const Value& values);
  /// For `validate`: each parameter prints as the words that ask for it.
  static Params asking();

  /// What `params` is in a template.
  jinja::Value object() const;
  /// Null unless it is `asking`.
  const Asked* asked() const { return asked_.get(); }
  /// What was asked for prints as a mark that every format takes for a word. The text with the
  /// words that ask instead of the marks.
  std::string with_words(std::string_view text) const;

 private:
  void keep();

  jinja::Value values_ = jinja::Value::dict();
  std::shared_ptr<jinja::Circles> kept_;  ///< what templates share and may put into itself
  std::shared_ptr<Asked> asked_;
};

/// Parts of a tree as templates see them, keys in their order.
jinja::Value template_value(const TreeNode& node);

}  // namespace fettle::states
