#pragma once
/// The nodes of a home as they stand in the store. They belong to the home and not to an
/// environment.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace fettle {

struct NodeSpec {
  std::string name;
  std::string engine;  ///< its address, as for `--engine`
  std::map<std::string, std::string> labels{};
  int pulls = 2;             ///< images that it may pull at once
  bool is_cordoned = false;  ///< it takes no new pods
  bool is_draining = false;  ///< it shall have no pods
  bool is_lost = false;      ///< it never comes back: whatever was on it is to be forgotten
  bool operator==(const NodeSpec&) const = default;
};

/// Sorted by name.
Result<std::vector<NodeSpec>> nodes_of(Store& store);
/// A text that changes whenever something about the nodes changes.
std::string mark_of(const std::vector<NodeSpec>& nodes);
/// The note of an environment in which its controller says which nodes it has heard of last.
inline constexpr std::string_view heard_note = "nodes heard of";
/// None: there is no node of this name.
Result<std::optional<NodeSpec>> node_of(Store& store, std::string_view name);

/// The note, of no environment, that holds the nodes: a dict by name.
inline constexpr std::string_view nodes_note = "nodes";
Value value_of(const NodeSpec& node);
NodeSpec node_in(const Entry& entry);

}  // namespace fettle
