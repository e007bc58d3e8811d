#pragma once
/// Which objects of a cluster are part of a fleet, and a fleet that is made of all of them
/// (`cluster_source.h`).

#include "controller/cluster_access.h"
#include "controller/fleet_view.h"
#include "kinds/claim.h"

namespace fettle {

/// Fills a view with all that there is.
void read_cluster(const Workplace& place, const ClusterAccess& access, FleetView& view);

kubernetes::ObjectName name_of_object(const cluster::ObjectMeta& meta);
/// A namespace as the fleet sees it: its labels.
workloads::Object space_object(const cluster::ObjectMeta& meta, const Value& object);
/// Whether its owner is part of the fleet.
bool is_part(const workloads::Fleet& fleet, const cluster::ObjectMeta& meta);
/// A claim that goes with its owner has a reference to it; one that outlives it has none.
bool is_part(const workloads::Fleet& fleet, const cluster::ObjectMeta& meta,
             const VolumeClaim& claim);
/// Whether it is one for the fleet. A job may belong to one.
bool is_workload(const Value& object, const kubernetes::ResourceType& type);

}  // namespace fettle
