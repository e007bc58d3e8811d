#pragma once
/// The `status` of a workload: computed whenever somebody asks, never stored.

#include "workloads/fleet.h"

namespace fettle::workloads {

/// The status as OpenKruise shows it, and beside that `imagePulls`, how far each image of the
/// rollout is. Null: there is no such workload.
///
/// `phase` is for scripts: with `complete`, `partitioned` and `paused` all is as asked for,
/// `failed` has its reason in `reason`, and `progressing` is everything else.
Value status_of(const Fleet& fleet, const Name& owner, Time now);

/// The ImagePullJobs that pull ahead for rollouts, with their status and their owners. Nobody
/// stored them.
std::vector<Object> jobs_of_rollouts(const Fleet& fleet);
/// The status of such a job of a workload, by its name `NAMESPACE/NAME`. Null: there is none.
Value status_of_job(const Fleet& fleet, const Name& owner, const Name& job);
/// The workload for which such a job pulls. Empty: `job` is none of them.
Name owner_of_job(const Fleet& fleet, const Name& job);

/// Why a workload's pods are not as it wants them although nothing is under way, as its notices
/// say.
struct Obstruction {
  std::string text;       ///< about the first pod, and how many others there are
  bool is_final = false;  ///< only another wish ends it
};
std::optional<Obstruction> obstruction_of(const Fleet& fleet, const Name& owner);

/// Why a pod whose node is drained is still there: how many of its workload are available, and how
/// many may be missing.
std::string why_it_stays(const Fleet& fleet, const FleetPod& pod, Time now);

/// A NodeImage: the images on a node and those being pulled there, at most `most` of each.
Value node_image_of(const Fleet& fleet, const Name& node, size_t most = 256);

}  // namespace fettle::workloads
