#pragma once
/// The Kubernetes cluster that a command means. Only its options choose one, never a file that
/// happens to be there: whoever has a kubeconfig does not always mean a cluster.

#include <optional>

#include "cli/command.h"

namespace fettle {

struct ClusterRequest {
  std::string kubeconfig{};  ///< empty: it runs in a pod of the cluster
  std::string context{};     ///< of the file; empty: the current one
  std::string space{};       ///< whose workloads are meant; empty: all
  std::string gates{};       ///< `NAME=BOOL,…`
  int64_t qps = 30, burst = 50;
  bool copies_secrets = false;  ///< for OpenKruise's daemon
  bool elects = true;           ///< it acts only while it has the lease
  std::string lease_space = "kruise-system", lease_name = "kruise-manager";
  /// Where it tells how it fares; empty: nowhere. In a pod both are open, as OpenKruise's are.
  std::string metrics_address{}, probe_address{};
};

/// OpenKruise's manager has the same, but for the first three and the last one.
const std::vector<CommandOption>& cluster_options();
/// None: no cluster is meant. Errors (`Blame::user`): options that do not fit together.
Result<std::optional<ClusterRequest>> cluster_asked(const CommandLine& parsed);

/// An address to listen at, in a flag; empty: none. Error (`Blame::user`): it is no address.
Result<std::string> address_asked(const CommandLine& parsed, const std::string& flag,
                                  const std::string& otherwise);

/// Those of a command that asks about the fleet of a home, or about a cluster. It has a namespace of
/// its own.
const std::vector<CommandOption>& cluster_look_options();
/// The same for such a command, which never acts. None: the fleet of a home is meant.
Result<std::optional<ClusterRequest>> cluster_looked_at(const CommandLine& parsed);
/// Whether a command is about a cluster, and not about what is kept on this machine.
bool is_about_cluster(const CommandLine& parsed);

}  // namespace fettle
