#pragma once
/// The nodes of a home: engines on other machines, or further engines on this machine, on which
/// pods may run. They belong to the home and not to an environment.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "controller/node_specs.h"
#include "core/driver.h"
#include "workplace/edit.h"

namespace fettle {

/// Errors (`Blame::user`): a name, label or address is not valid, or there is a node of that name.
Status add_node(const Workplace& place, const NodeSpec& node);
/// `is_lost`: forgets what is known to be on the node, since nobody can remove it any more. Where a
/// controller acts, the controller does that. Errors (`Blame::user`): there is no such node, or
/// something is known to be on it.
Status remove_node(const Workplace& place, const std::string& name, bool is_lost = false);
/// Sets whether the node takes new pods. Error (`Blame::user`): there is no such node.
Status cordon_node(const Workplace& place, const std::string& name, bool is_cordoned);

/// The things that are known to be on a node, in all environments.
Result<std::vector<RecordPointer>> records_on(const Workplace& place, std::string_view node);
/// Waits a few seconds for every controller to learn of the nodes as they are now. Returns the
/// environments whose controllers have not.
Result<std::vector<Name>> await_controllers(const Workplace& place);

/// A node that shall have no pods.
struct Drain {
  /// The owners of the pods on it, by environment. They have to remove the pods.
  std::map<Name, std::set<Name>> owners;
  size_t blocked = 0;  ///< pods on a node that does not answer; nobody can remove them
};
/// From now on the node takes no new pods, and its pods have to go: at once with `is_forced`, else
/// when their owners can spare them. Error (`Blame::user`): there is no such node.
Result<Drain> drain_node(const Workplace& place, const std::string& name, bool is_forced);
/// The pods that are known to be on a node.
Result<std::vector<Key>> pods_on(const Workplace& place, const std::string& name);

struct NodeView {
  NodeSpec node;
  bool answers = false;
  std::string why;  ///< why it does not answer
  size_t pods = 0;
};
/// Asks all nodes at once.
Result<std::vector<NodeView>> look_at_nodes(const Workplace& place);

}  // namespace fettle
