/// A selector of labels as manifests have it, wherever it stands. Kubernetes refuses a value that
/// is no text: taken as a text, it would never match.

#include <algorithm>

#include "base/text.h"
#include "workloads/read/checker.h"
#include "workloads/read/label_syntax.h"

namespace fettle::workloads {
namespace {

class SelectorWalk {
 public:
  SelectorWalk(std::string_view kind, Checker& checker) : kind_(kind), checker_(checker) {}

  void check(const TreeNode& selector, const std::string& path, std::vector<std::string> others) {
    for (const TreeMember& entry : selector.entries()) {
      const std::string name = entry.key->text().str(), at = cat(path, ".", name);
      if (name == "matchLabels")
        check_labels(*entry.value, at);
      else if (name == "matchExpressions")
        check_expressions(*entry.value, at);
      else if (std::ranges::find(others, name) == others.end())
        refuse_unknown(*entry.key, path, [&] {
          others.insert(others.end(), {"matchLabels", "matchExpressions"});
          return std::move(others);
        }());
    }
  }

 private:
  void refuse_unknown(const TreeNode& key, const std::string& path,
                      const std::vector<std::string>& known) {
    checker_.refuse(key, cat("unknown field `", path, ".", printable(key.text()), "` of a ", kind_,
                             suggestion(key.text(), known)));
  }

  void refuse_type(const TreeNode& node, const std::string& at, std::string_view wanted) {
    const bool lacks_quotes = wanted == "a string" && node.is_scalar() && !node.is_null();
    checker_.refuse(node, cat("`", printable(at), "` must be ", wanted, ", not ", found_text(node),
                              lacks_quotes ? ": put quotes around it" : ""));
  }

  void check_key(const TreeNode& key) {
    if (!key.is_text() || !is_label_key(key.text().view()))
      checker_.refuse(key,
                      cat("`", key.is_text() ? clipped(printable(key.text()), 60) : found_text(key),
                          "` is not a key of a label: use ", label_value_words,
                          ", behind a domain and `/` or alone"));
  }

  void check_text(const TreeNode& value, const std::string& at) {
    if (!value.is_text())
      refuse_type(value, at, "a string");
    else if (!is_label_value(value.text().view()))
      checker_.refuse(value, cat("`", clipped(printable(value.text()), 60),
                                 "` is not a value of a label: use ", label_value_words));
  }

  void check_labels(const TreeNode& labels, const std::string& at) {
    if (labels.is_null())
      return;
    if (!labels.is_dict()) {
      refuse_type(labels, at, "a dict");
      return;
    }
    for (const TreeMember& label : labels.entries()) {
      check_key(*label.key);
      check_text(*label.value, cat(at, ".", label.key->text()));
    }
  }

  void check_expressions(const TreeNode& list, const std::string& at) {
    if (list.is_null())
      return;
    if (!list.is_list()) {
      refuse_type(list, at, "a list");
      return;
    }
    size_t number = 0;
    for (const TreeNode* item : list.items()) {
      const std::string one = cat(at, "[", number++, "]");
      if (item->is_dict())
        check_expression(*item, one);
      else
        refuse_type(*item, one, "a dict");
    }
  }

  void check_expression(const TreeNode& item, const std::string& at) {
    for (const TreeMember& entry : item.entries())
      if (const auto name = entry.key->text().view();
          name != "key" && name != "operator" && name != "values")
        refuse_unknown(*entry.key, at, {"key", "operator", "values"});
    if (const TreeNode* key = item.find("key"); key == nullptr || key->is_null())
      checker_.refuse(item, cat("`", at, ".key` is missing"));
    else
      check_key(*key);
    check_values(item, at, operator_of(item, at));
  }

  /// Empty: the operator is wrong.
  std::string operator_of(const TreeNode& item, const std::string& at) {
    static const std::vector<std::string> known{"In", "NotIn", "Exists", "DoesNotExist"};
    const TreeNode* node = item.find("operator");
    if (node != nullptr && node->is_text() &&
        std::ranges::find(known, node->text().view()) != known.end())
      return node->text().str();
    checker_.refuse(node == nullptr ? item : *node,
                    cat("`", at, ".operator` must be In, NotIn, Exists or DoesNotExist",
                        node == nullptr ? "" : cat(", not ", found_text(*node)),
                        node != nullptr && node->is_text() ? suggestion(node->text(), known) : ""));
    return {};
  }

  void check_values(const TreeNode& item, const std::string& at, std::string_view op) {
    const TreeNode* values = item.find("values");
    const bool is_none = values == nullptr || values->is_null();
    if (!is_none && !values->is_list()) {
      refuse_type(*values, cat(at, ".values"), "a list");
      return;
    }
    const bool has_any = !is_none && !values->items().empty(), needs = op == "In" || op == "NotIn";
    if (!op.empty() && needs != has_any)
      checker_.refuse(has_any ? *values : item, has_any ? cat("`", op, "` takes no `values`")
                                                        : cat("`", op, "` needs `values`"));
    size_t number = 0;
    if (has_any)
      for (const TreeNode* value : values->items())
        check_text(*value, cat(at, ".values[", number++, "]"));
  }

  std::string_view kind_;
  Checker& checker_;
};

}  // namespace

void check_selector(const TreeNode& selector, const std::string& path,
                    std::vector<std::string> others, std::string_view kind, Checker& checker) {
  SelectorWalk(kind, checker).check(selector, path, std::move(others));
}

}  // namespace fettle::workloads
