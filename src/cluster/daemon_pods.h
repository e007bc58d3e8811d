#pragma once
/// Pods of a DaemonSet. The scheduler binds them as all others, so each asks for its node by an
/// affinity to that node's name, and tolerates what may be wrong with a node.

#include "value/value.h"

namespace fettle::cluster {

/// The PodSpec of a pod that shall run on a node, and nowhere else.
Value spec_on_node(const Value& spec, const Name& node);
/// The node for which a pod was made. Empty: for none.
Name node_of_spec(const Value& spec);

}  // namespace fettle::cluster
