#pragma once
/// Makes something of a tree from its leaves up, without recursion; what aliases share is made
/// once.
///
///   struct Maker {
///     Made scalar(const Value&);
///     Made list(std::vector<Made>);
///     Made dict(std::span<const TreeMember>, std::vector<Made>);  // the values, in order
///   };

#include <unordered_map>
#include <vector>

#include "value/tree.h"

namespace fettle {

/// Values, as they were written.
struct ValueMaker {
  static Value scalar(const Value& value) { return value; }
  static Value list(std::vector<Value> items) { return Value::list(std::move(items)); }
  static Value dict(std::span<const TreeMember> members, std::vector<Value> values) {
    std::vector<Entry> entries;
    entries.reserve(members.size());
    for (size_t i = 0; i < members.size(); ++i)
      entries.push_back({members[i].key->text(), std::move(values[i])});
    return Value::dict(std::move(entries));
  }
};

template <typename Product, typename Maker>
Product fold_tree(const TreeNode& top, Maker& maker,
                  std::unordered_map<const TreeNode*, Product>& shared) {
  struct OpenNode {
    const TreeNode* node;
    std::vector<Product> parts;
  };
  if (top.is_scalar())
    return maker.scalar(top.scalar());
  std::vector<OpenNode> open;
  Product made{};
  const auto begin = [&](const TreeNode& node) {
    if (node.is_scalar()) {
      made = maker.scalar(node.scalar());
      return true;
    }
    if (const auto known = shared.find(&node); known != shared.end()) {
      made = known->second;
      return true;
    }
    open.push_back({&node, {}});
    open.back().parts.reserve(node.is_list() ? node.items().size() : node.entries().size());
    return false;
  };
  bool is_made = begin(top);
  while (!open.empty()) {
    OpenNode& here = open.back();
    if (is_made)
      here.parts.push_back(std::move(made));
    const size_t next = here.parts.size();
    const bool is_list = here.node->is_list();
    if (next < (is_list ? here.node->items().size() : here.node->entries().size())) {
      is_made = begin(is_list ? *here.node->items()[next] : *here.node->entries()[next].value);
      continue;
    }
    made = is_list ? maker.list(std::move(here.parts))
                   : maker.dict(here.node->entries(), std::move(here.parts));
    if (here.node->is_shared())
      shared.emplace(here.node, made);
    open.pop_back();
    is_made = true;
  }
  return made;
}

}  // namespace fettle
