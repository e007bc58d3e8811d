#pragma once
/// Where a manifest is wrong: a field's path with the place where it stands.

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
  /// The node at a path such as `spec.template.metadata`, or none.
  static const TreeNode* find(const TreeNode& from, std::string_view path);
  /// The deepest part of a path that is there: where something is missing.
  static const TreeNode& nearest(const TreeNode& from, std::string_view path);
  /// Refuses what stands at a path, or would stand there.
  void refuse_at(const TreeNode& root, std::string_view path, std::string message);
  /// Where what stands at a path stands, or would stand.
  FieldPlace place_of(const TreeNode& root, std::string_view path) const;
  size_t count() const { return errors_.size(); }

 private:
  std::string_view text_;
  std::string_view file_;
  std::vector<Error>& errors_;
};

/// Checks the fields of a document against the table of its kind and version: none unknown, none of
/// the wrong type or out of range.
void check_fields(const TreeNode& root, std::string_view kind, bool is_alpha, Checker& checker);

/// The same of pod templates, and of what a SidecarSet puts into pods.
void check_pod_fields(const TreeNode& root, std::string_view kind, Checker& checker);

/// What stands there, for people: `5`, a list.
std::string found_text(const TreeNode& node);

/// The rules between fields. Called when the fields are right.
void check_rules(const TreeNode& root, std::string_view kind, bool is_alpha, Checker& checker);

}  // namespace fettle::workloads
