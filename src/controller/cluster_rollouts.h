#pragma once
/// Edits of workloads that stand in a cluster, as people make them: whoever keeps the cluster
/// carries them out. A change is written in the version in which the spec was written last, since
/// the versions say the same in other places.

#include "controller/cluster_look.h"
#include "controller/workload_objects.h"

namespace fettle {

/// Writes the fields of the spec that a change makes differ. Errors (`Blame::user`): there is no such
/// workload, its kind is not kept in a cluster, or it cannot be changed like that.
Result<std::vector<StoredObject>> change_in_cluster(const ClusterLook& look, const Name& owner,
                                                    const ObjectChange& change);
/// Puts the template of a ControllerRevision in place of the present one, as it stands there:
/// OpenKruise compares templates byte by byte.
Result<std::vector<StoredObject>> return_in_cluster(const ClusterLook& look, const Name& owner,
                                                    const Name& revision);

}  // namespace fettle
