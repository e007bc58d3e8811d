#pragma once
/// Connects with the Kubernetes cluster that a command means.

#include "cli/cluster_request.h"
#include "documents/machine.h"
#include "drivers/kubernetes/cluster_health.h"
#include "kubernetes/config.h"

namespace fettle {

/// How to reach it, and as whom.
Result<kubernetes::Config> config_of_cluster(const ClusterRequest& request);

struct ClusterConnection {
  std::unique_ptr<ClusterLink> link;
  std::unique_ptr<ClusterHealth> health;  ///< ends first: it asks the link
};

/// Waits until this process may act there, and tells meanwhile how it fares. If it may act no more,
/// the interrupt of the workplace is asked to end what goes on.
Result<ClusterConnection> link_cluster(const ClusterRequest& request, const Workplace& place,
                                       const Build& build);

/// A cluster about which a command asks.
struct ReachedCluster {
  std::unique_ptr<kubernetes::Client> client{};
  std::string space{};  ///< the namespace that the context of its kubeconfig names
};
Result<ReachedCluster> reach_cluster(const ClusterRequest& request);

}  // namespace fettle
