#pragma once
/// PersistentVolumeClaims of workloads. What a record says of one stands in an annotation: a server
/// fills in its spec, and a claim that outlives its StatefulSet has no owner that could say whose
/// it is.

#include <optional>

#include "cluster/objects.h"
#include "core/record.h"
#include "kinds/claim.h"

namespace fettle::cluster {

/// The object to be made for an owner that is stored in the cluster.
Value claim_object(const VolumeClaim& claim, const workloads::Object& owner);
/// What can change of it later: whether it is deleted with its owner (a merge patch). What it asks
/// for never does, since its data would be lost.
/// Owner references of others stay.
Value claim_change(const VolumeClaim& claim, const workloads::Object& owner, const Value& object);

/// One that OpenKruise has made is known by its owner. None: it is of no workload.
std::optional<VolumeClaim> read_claim(const Value& object);
/// What is known of it.
RecordPointer record_of(const VolumeClaim& claim, const ObjectMeta& meta, const Name& environment);

}  // namespace fettle::cluster
