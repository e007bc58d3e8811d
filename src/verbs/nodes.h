#pragma once
/// The nodes of a home: engines on other machines, or further ones on this one, on which pods may
/// run. They belong to the home and not to an environment.

#include <map>
#include <string>
#include <vector>

#include "core/driver.h"
#include "verbs/edit.h"

namespace fettle {

struct NodeSpec {
  std::string name;
  std::string engine;  ///< address, as for `--engine`
  std::map<std::string, std::string> labels{};
  int pulls = 2;             ///< images that it pulls at once
  bool is_cordoned = false;  ///< takes no new pods
  bool is_draining = false;  ///< is to have none
  bool operator==(const NodeSpec&) const = default;
};

/// In the order of their names.
Result<std::vector<NodeSpec>> nodes_of(Store& store);
/// None when there is none of this name.
Result<std::optional<NodeSpec>> node_of(Store& store, std::string_view name);

/// Errors (`Blame::user`): a name, label or address that cannot be, or a node of that name.
Status add_node(const Workplace& place, const NodeSpec& node);
/// `is_lost`: what is known to be on it is forgotten, as nobody can remove it any more. Errors
/// (`Blame::user`): there is no such node, or something is known to be on it.
Status remove_node(const Workplace& place, const std::string& name, bool is_lost = false);
/// Whether it takes new pods. Error (`Blame::user`): there is no such node.
Status cordon_node(const Workplace& place, const std::string& name, bool is_cordoned);

/// What is known to be on a node, of all environments.
Result<std::vector<RecordPointer>> records_on(const Workplace& place, std::string_view node);
/// Takes no new pods any more, and has those that are there end and go; where a controller acts, it
/// is asked to replace them. Those of a node that does not answer stay, and count as blocked.
Result<Summary> drain_node(const Workplace& place, const std::string& name, bool wait);

struct NodeView {
  NodeSpec node;
  bool answers = false;
  std::string why;  ///< it does not
  size_t pods = 0;
};
/// Asks all of them at once.
Result<std::vector<NodeView>> look_at_nodes(const Workplace& place);

}  // namespace fettle
