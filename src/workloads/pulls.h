#pragma once
/// An image that is to be on some nodes, in an order and so many at once. A tag means the same
/// everywhere: what the first pull finds is what the others get.

#include "workloads/rollout.h"

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

/// Emits the job and its pulls. `known`: what is remembered of it, or none.
PullCounts pull(Rollout& rollout, const PullTask& task, const Memory* known);

/// How far a job is, from what is remembered.
PullCounts pull_counts(const Fleet& fleet, const PullSpec& spec, const std::vector<Name>& nodes,
                       const Value& state);

/// The nodes that an ImagePullJob asks for, and the order: that of the pods' owners where it names
/// pods, else by name.
std::vector<Name> nodes_of(const Fleet& fleet, const Workload& job);

Wanted want_pull_job(const Fleet& fleet, const Workload& workload, Time now);

}  // namespace fettle::workloads
