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
  std::string engine;  ///< address, as for `--engine`
  std::map<std::string, std::string> labels{};
  int pulls = 2;             ///< images that it pulls at once
  bool is_cordoned = false;  ///< takes no new pods
  bool is_draining = false;  ///< is to have none
  bool is_lost = false;      ///< never comes back: what was on it is to be forgotten
  bool operator==(const NodeSpec&) const = default;
};

/// In the order of their names.
Result<std::vector<NodeSpec>> nodes_of(Store& store);
/// Another text when something about the nodes is another.
std::string mark_of(const std::vector<NodeSpec>& nodes);
/// The note of an environment in which its controller says which nodes it has heard of last.
inline constexpr std::string_view heard_note = "nodes heard of";
/// None when there is none of this name.
Result<std::optional<NodeSpec>> node_of(Store& store, std::string_view name);

/// The note of no environment in which they stand: a dict by name.
inline constexpr std::string_view nodes_note = "nodes";
Value value_of(const NodeSpec& node);
NodeSpec node_in(const Entry& entry);

}  // namespace fettle
