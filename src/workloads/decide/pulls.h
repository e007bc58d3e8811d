#pragma once
/// An image that is to be on some nodes, in an order and so many at once. A tag means the same
/// everywhere: what the pull that ends first finds is what the others get. Those that begin later
/// ask for its digest; where one that went on meanwhile found something else, the digest is pulled
/// as well, and until then the image does not count as there.

#include "workloads/rollout.h"

#include "kinds/pull_job.h"

namespace fettle::workloads {

struct PullTask {
  Name job;    ///< its name
  Name space;  ///< its namespace; empty: the workload's
  PullSpec spec;
  std::vector<Name> nodes;    ///< the first to be pulled on first
  Value labels, annotations;  ///< of the job
  Value document;             ///< its spec as it is shown
  Value revision;             ///< the update revision, or null
  bool may_start = true;      ///< else what runs goes on, and no more
};

/// How far it has come.
struct PullCounts {
  int64_t desired = 0, active = 0, succeeded = 0, failed = 0;
  std::vector<Name> failed_nodes;
  std::string error;  ///< of one that failed
  Name digest;
  Time started;
};

/// Where a pull happens, for people: `node n1`, or this machine where there are no nodes.
std::string place_text(std::string_view node);

/// Where an image of a job could not be pulled, and why.
struct PullFailure {
  Name node;
  std::string error;
};
/// Of a job by what is remembered of it; those that it has not written down yet included.
std::vector<PullFailure> pull_failures(const Fleet& fleet, const Name& owner, const PullJob& job);
/// `image IMAGE cannot be pulled on node n1: …`
std::string failure_text(std::string_view image, const PullFailure& failure);

/// What a pull on a node is called.
Name pull_key(const Name& node, const Name& image);

/// Emits the job and its pulls. `known`: what is remembered of it, or none.
PullCounts pull(Rollout& rollout, const PullTask& task, const Memory* known);

/// How far a job of an owner is, from what is remembered.
PullCounts pull_counts(const Fleet& fleet, const Name& owner, const PullSpec& spec,
                       const std::vector<Name>& nodes, const PullJobState& state);

/// The nodes that an ImagePullJob asks for, and the order: that of the pods' owners where it names
/// pods, else by name.
std::vector<Name> nodes_of(const Fleet& fleet, const Workload& job);

Wanted want_pull_job(const Fleet& fleet, const Workload& workload, Time now);

}  // namespace fettle::workloads
