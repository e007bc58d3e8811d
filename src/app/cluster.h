#pragma once
/// Connects with the Kubernetes cluster that a command means.

#include "cli/cluster_request.h"
#include "drivers/kubernetes/cluster_link.h"
#include "kubernetes/config.h"

namespace fettle {

/// How to reach it, and as whom.
Result<kubernetes::Config> config_of_cluster(const ClusterRequest& request);

/// Waits until this process may act there. If it may no more, the interrupt of the workplace is
/// asked to end what goes on.
Result<std::unique_ptr<ClusterLink>> link_cluster(const ClusterRequest& request,
                                                  const Workplace& place);

/// A cluster about which a command asks.
struct ReachedCluster {
  std::unique_ptr<kubernetes::Client> client{};
  std::string space{};  ///< the namespace that the context of its kubeconfig names
};
Result<ReachedCluster> reach_cluster(const ClusterRequest& request);

}  // namespace fettle
