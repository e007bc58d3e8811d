#pragma once
/// The view of rules between fields: a manifest, and where to complain.

#include "workloads/read/checker.h"

namespace fettle::workloads {

struct RuleDocument {
  const TreeNode& root;
  std::string_view kind;
  bool is_alpha;       ///< of v1alpha1
  bool is_of_cluster;  ///< see `ReadOptions`
  Checker& checker;

  const TreeNode* find(std::string_view path) const { return Checker::find(root, path); }
  void refuse(std::string_view path, std::string message) const {
    checker.refuse_at(root, path, std::move(message));
  }
  Value value_at(std::string_view path) const {
    const TreeNode* node = find(path);
    return node == nullptr ? Value() : value_of(*node);
  }
};

/// The value of a node, if it is a plain one.
inline Value scalar_of(const TreeNode* node) {
  return node != nullptr && node->is_scalar() ? node->scalar() : Value();
}

/// Checks the rules between fields. Some fields may be wrong: errors that follow from these are not
/// reported.
void check_rules(const RuleDocument& document);

/// Checks the rules of pods, and of the containers in the list at a path.
void check_pod_rules(const RuleDocument& document, bool can_select);
void check_containers(const RuleDocument& document, const std::string& path, bool is_required);

}  // namespace fettle::workloads
