#pragma once
/// Brings an image to some nodes, in an order, with a limit on how many pull at once. A tag means
/// the same on all nodes: the others get the image that the first finished pull has found. Pulls
/// that begin later ask for its digest. If one that was under way meanwhile found something else,
/// the digest is pulled as well, and until then the image does not count as present.

#include "workloads/rollout.h"

#include "kinds/pull_job.h"

namespace fettle::workloads {

struct PullTask {
  Name job;    ///< its name
  Name space;  ///< its namespace; empty: the workload's
  PullSpec spec;
  std::vector<Name> nodes;    ///< the one to be pulled on first comes first
  Value labels, annotations;  ///< of the job
  Value document;             ///< the job's spec as it is shown
  Value revision;             ///< the update revision, or null
  bool may_start = true;      ///< if not, only what runs goes on
};

/// How far it has come.
struct PullCounts {
  int64_t desired = 0, active = 0, succeeded = 0, failed = 0;
  std::vector<Name> failed_nodes;
  std::string error;  ///< why one failed
  Name digest;
  Time started;
};

/// The place of a pull, for people: `node n1`, or this machine if there are no nodes.
std::string place_text(std::string_view node);

/// The node on which an image of a job could not be pulled, and the reason.
struct PullFailure {
  Name node;
  std::string error;
};
/// Of a job by what is remembered of it; those that it has not written down yet included.
std::vector<PullFailure> pull_failures(const Fleet& fleet, const Name& owner, const PullJob& job);
/// `image IMAGE cannot be pulled on node n1: …`
std::string failure_text(std::string_view image, const PullFailure& failure);

/// In a cluster, nodes are told what to pull, so many of them at once. Pods change meanwhile.
inline constexpr int orders_at_once = 8;
inline const Name order_pool = "orders";

/// The key of a pull on a node.
Name pull_key(const Name& node, const Name& image);

/// Emits the job and its pulls. `known`: what is remembered of it, or null.
PullCounts pull(Rollout& rollout, const PullTask& task, const Memory* known);

/// How far a job of an owner is, by what is remembered.
PullCounts pull_counts(const Fleet& fleet, const Name& owner, const PullSpec& spec,
                       const std::vector<Name>& nodes, const PullJobState& state);

/// The nodes that an ImagePullJob asks for, in their order: that of the pods' owners if it names
/// pods, else by name.
std::vector<Name> nodes_of(const Fleet& fleet, const Workload& job);

Wanted want_pull_job(const Fleet& fleet, const Workload& workload, Time now);
/// A list has a job for each of its images. One that is asked for in another way is another job.
Wanted want_list_job(const Fleet& fleet, const Workload& workload, Time now);

}  // namespace fettle::workloads
