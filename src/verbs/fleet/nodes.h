#pragma once
/// The nodes of a home: engines on other machines, or further ones on this one, on which pods may
/// run. They belong to the home and not to an environment.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "controller/node_specs.h"
#include "core/driver.h"
#include "workplace/edit.h"

namespace fettle {

/// Errors (`Blame::user`): a name, label or address that cannot be, or a node of that name.
Status add_node(const Workplace& place, const NodeSpec& node);
/// `is_lost`: what is known to be on it is forgotten, as nobody can remove it any more; where a
/// controller acts, it does that. Errors (`Blame::user`): there is no such node, or something is
/// known to be on it.
Status remove_node(const Workplace& place, const std::string& name, bool is_lost = false);
/// Whether it takes new pods. Error (`Blame::user`): there is no such node.
Status cordon_node(const Workplace& place, const std::string& name, bool is_cordoned);

/// What is known to be on a node, of all environments.
Result<std::vector<RecordPointer>> records_on(const Workplace& place, std::string_view node);
/// Waits until every controller has heard of the nodes as they are now, for a few seconds. Those
/// that have not, by environment.
Result<std::vector<Name>> await_controllers(const Workplace& place);

/// A node that is to have no pods.
struct Draining {
  /// Whose pods are on it, by environment. Their owners have to take them away.
  std::map<Name, std::set<Name>> owners;
  size_t blocked = 0;  ///< pods on a node that does not answer; nobody can take them away
};
/// The node takes no new pods any more, and is to have none. `is_forced`: pods go at once; else
/// when their owners can spare them. Error (`Blame::user`): there is no such node.
Result<Draining> drain_node(const Workplace& place, const std::string& name, bool is_forced);
/// Pods that are known to be on a node.
Result<std::vector<Key>> pods_on(const Workplace& place, const std::string& name);

struct NodeView {
  NodeSpec node;
  bool answers = false;
  std::string why;  ///< it does not
  size_t pods = 0;
};
/// Asks all of them at once.
Result<std::vector<NodeView>> look_at_nodes(const Workplace& place);

}  // namespace fettle
