#pragma once
/// Workloads, and the nodes that their pods run on.

#include "controller/workload_objects.h"
#include "verbs/fleet/nodes.h"

namespace fettle {

Value stored_value(const StoredObject& stored);
Value value_of(const NodeView& view);

}  // namespace fettle
