#pragma once
/// The node of a cluster whose images a daemon pulls, and how.

#include "cli/cluster_request.h"

namespace fettle {

struct NodeRequest {
  ClusterRequest cluster{};     ///< without a kubeconfig, that of the pod in which it runs
  std::string node{};           ///< its name; empty: that of `$NODE_NAME`
  std::string socket{};         ///< of the runtime, a path or a name in the folder of sockets
  size_t most_pulls = 0;        ///< at once; 0: as many as are ordered
  std::string probe_address{};  ///< empty: not told how it fares
};

/// Those of OpenKruise's daemon, and which cluster and node are meant.
const std::vector<CommandOption>& node_daemon_options();
/// Errors (`Blame::user`): numbers that make no sense.
Result<NodeRequest> node_asked(const CommandLine& parsed);

}  // namespace fettle
