#pragma once
/// Manifests of workloads as they stand in the versions of an environment: each is a set of its own
/// with one item.

#include "workloads/fleet.h"
#include "workplace/workplace.h"

namespace fettle {

Piece piece_of_manifest(const Name& owner);
ContentPointer content_of_manifest(const workloads::Object& object);

/// Sorted by name.
Result<std::vector<workloads::Object>> manifests_in(const Snapshot& snapshot);
/// The manifests of the newest version.
Result<std::vector<workloads::Object>> stored_objects(const Workplace& place,
                                                      const Name& environment);

/// Whether a version with this detail holds manifests, and not the resources of a model. Earlier
/// versions do not say what they hold, since only models had versions.
bool is_of_fleet(const Value& detail);
/// The detail of a version that holds manifests.
Value detail_of_fleet(const Value& before);

}  // namespace fettle
