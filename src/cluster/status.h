#pragma once
/// The `status` of a workload as it is written to a cluster.

#include <set>

#include "workloads/fleet.h"

namespace fettle::cluster {

/// `before`: as the object has it now. A condition that is as before keeps its times, and so do
/// those that others wrote. `condition`: one more, without times; null: none. Null: there is no such
/// workload.
Value status_for(const workloads::Fleet& fleet, const Name& owner, const Value& before, Time now,
                 const Value& condition = {});

/// The status of a job that pulls ahead for a rollout, by its object. Null: it is none of ours.
Value status_for_job(const workloads::Fleet& fleet, const Value& object);

/// The write of it to the subresource `status` (a merge patch); null: it is as it should be. What is
/// no field of ours stays as it is. `dropped`: fields that the server has not kept before.
Value status_change(const Value& object, const Value& wanted, const std::set<Name>& dropped = {});

/// Fields of such a write that the object of the answer lacks, since the schema of its type, that of
/// OpenKruise for one, has none. To write them again changes nothing, and would do so for ever.
std::set<Name> dropped_fields(const Value& change, const Value& answer);

/// A Node object as the fleet sees it: its labels and taints. How much fits on it is the matter of the
/// scheduler. Whether it answers is that of the cluster, which says of each pod that it is not ready.
workloads::Node read_node(const Value& object);

}  // namespace fettle::cluster
