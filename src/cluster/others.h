#pragma once
/// Pods that others make (Deployments, Jobs, users) and that have sidecars: the record of one, and
/// the write that changes its sidecars.
///
/// Nothing about such a pod is a wish but its sidecars, so its record has little else: its labels,
/// by which SidecarSets select it, and the names and images of its own containers. What it has of a
/// set stands in `fettle/sidecars` if a policy of ours has written it (`admission_policy.h`), or we
/// have. If OpenKruise has put the sidecars in, or was the last to change them, its own annotations
/// say which revision they are of, and the PodSpec which images they have.
///
/// * A pod that nobody wants to be other than it is has a record all the same, for the counts in
///   the status of its sets. One that has nothing of a set that is kept has none.
/// * What is written is images of sidecars and annotations about them, both in one write.

#include "cluster/owners.h"
#include "cluster/pod_writes.h"

namespace fettle::cluster {

struct OthersContext {
  Name environment;
  Name driver;
  const Owners& owners;  ///< with the SidecarSets
};

/// Whether no workload of a kind that makes pods here manages a pod.
bool is_pod_of_others(const ObjectMeta& meta);
/// Whether a SidecarSet has put something into a pod, as its annotations say.
bool has_sidecars_of(const Value& object, std::string_view set);

/// None: it is another controller's matter, is being deleted, has ended, or has nothing of a
/// SidecarSet that is kept.
std::optional<ClusterPod> read_pod_of_others(const Value& object, const OthersContext& context);

/// Leads from what is known of one, as it was read from `object`, to what is wanted.
PodWrite write_of_others(const Attributes& known, const Attributes& wanted, const Value& object,
                         Time now, const HashesBySidecarSet& hashes);

}  // namespace fettle::cluster
