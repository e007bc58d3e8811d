#pragma once
/// Nodes: the engines that pods may run on.

#include "documents/parts.h"
#include "verbs/fleet/nodes.h"

namespace fettle {

/// `name`, `engine`, `ready`, `schedulable`, `pods`, `pulls`, `labels`; of one that does not answer
/// also `why`.
Value value_of(const NodeView& view);

}  // namespace fettle
