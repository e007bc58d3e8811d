#pragma once
/// The `status` of a workload as it is written to a cluster.

#include "workloads/fleet.h"

namespace fettle::cluster {

/// `before`: as the object has it now. A condition that is as before keeps its times, and so do
/// those that others wrote. Null: there is no such workload.
Value status_for(const workloads::Fleet& fleet, const Name& owner, const Value& before, Time now);

/// The write of it to the subresource `status` (a merge patch); null: it is as it should be.
Value status_change(const Value& object, const Value& wanted);

/// A Node object as the fleet sees it: its labels, and whether it is ready. How much fits on it, and
/// whether it takes pods, is the matter of the scheduler.
workloads::Node read_node(const Value& object);

}  // namespace fettle::cluster
