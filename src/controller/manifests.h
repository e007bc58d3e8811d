#pragma once
/// Manifests of workloads as they stand in the versions of an environment, each a set of its own
/// with one item.

#include "workloads/fleet.h"
#include "workplace/workplace.h"

namespace fettle {

Piece piece_of_manifest(const Name& owner);
ContentPointer content_of_manifest(const workloads::Object& object);

/// In the order of their names.
Result<std::vector<workloads::Object>> manifests_in(const Snapshot& snapshot);
/// Those of the newest version.
Result<std::vector<workloads::Object>> stored_objects(const Workplace& place,
                                                      const Name& environment);

/// Whether a version with this detail holds manifests, and not the resources of a model. Earlier
/// ones say nothing of what they hold, as only those of models did.
bool is_of_fleet(const Value& detail);
/// The detail of one that does.
Value detail_of_fleet(const Value& before);

}  // namespace fettle
