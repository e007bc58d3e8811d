#pragma once
/// What would stand in a cluster if manifests were applied there: the server says it, by a dry run.
/// Its defaults, webhooks and refusals count then, and nothing is changed.
///
/// What would be sent is what `kubectl apply` sends: the three-way merge of the manifest that was
/// applied last (its annotation), the object as it stands, and the manifest, in the version in which
/// that was written. What is applied by server-side apply differs where fields go: those that only
/// another manager names stay here.
///
/// Who may read but not write gets the same merge, made here, and a warning.

#include "controller/cluster_look.h"
#include "controller/fleet_access.h"

namespace fettle {

/// `spaces`: that are read if there are no objects. Objects are read with their documents as they
/// were written. Errors (`Blame::user`): the server refuses an object, or its kind is not kept in a
/// cluster.
Result<Trial> try_in_cluster(const ClusterLook& look, std::set<std::string> spaces,
                             std::vector<workloads::Object> objects);

}  // namespace fettle
