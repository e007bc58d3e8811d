#pragma once
/// Reports faults of a manifest: a field's path, with its place in the text.

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "value/tree.h"
#include "workloads/workload.h"

namespace fettle::workloads {

class Checker {
 public:
  Checker(std::string_view text, std::string_view file, std::vector<Error>& errors)
      : text_(text), file_(file), errors_(errors) {}

  void refuse(const TreeNode& at, std::string message);
  /// The node at a path such as `spec.template.metadata`. Null: there is none.
  static const TreeNode* find(const TreeNode& from, std::string_view path);
  /// The deepest part of a path that is there: the place where something is missing.
  static const TreeNode& nearest(const TreeNode& from, std::string_view path);
  /// Refuses the value at a path, or its absence.
  void refuse_at(const TreeNode& root, std::string_view path, std::string message);
  /// The place of the value at a path, or where it would be.
  FieldPlace place_of(const TreeNode& root, std::string_view path) const;
  /// Whether an error was reported about a node, or about something in it.
  bool has_error_in(const TreeNode& node) const;
  size_t count() const { return errors_.size(); }
  /// From now on, errors are passed over at places with an error, and in dicts with a wrong member:
  /// they may follow from the earlier one.
  void end_structure() { structure_ends_ = errors_.size(); }
  void begin_structure() { structure_ends_ = {}; }

 private:
  bool is_wrong(const TreeNode& node) const;
  bool follows(const TreeNode& at) const;

  std::string_view text_;
  std::string_view file_;
  std::vector<Error>& errors_;
  std::optional<size_t> structure_ends_;
};

/// Checks keys and values of labels, or the keys of annotations, as Kubernetes does.
void check_labels(const TreeNode& root, std::string_view path, Checker& checker);
void check_annotation_keys(const TreeNode& root, std::string_view path, Checker& checker);

/// Checks the fields of a document against the table of its kind and version: no field may be
/// unknown, of the wrong type or out of range.
void check_fields(const TreeNode& root, std::string_view kind, bool is_alpha, Checker& checker);

/// Checks a selector of labels. `others`: the fields that may stand beside `matchLabels` and
/// `matchExpressions`.
void check_selector(const TreeNode& selector, const std::string& path,
                    std::vector<std::string> others, std::string_view kind, Checker& checker);

/// Checks the fields of pod templates, and of what a SidecarSet puts into pods. `is_of_cluster`: see
/// `ReadOptions`.
void check_pod_fields(const TreeNode& root, std::string_view kind, bool is_of_cluster,
                      Checker& checker);

/// The table: each field, the kinds that have it (`CloneSet` …), and whether only v1alpha1 has it.
struct FieldRow {
  std::string path;
  std::vector<std::string_view> kinds;
  bool is_alpha_only = false;
  bool is_supported = true;
};
std::vector<FieldRow> field_rows();

/// Describes a node for people: `5`, a list.
std::string found_text(const TreeNode& node);

}  // namespace fettle::workloads
