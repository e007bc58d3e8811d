#pragma once
/// Connects with the Kubernetes cluster that a command means.

#include "cli/cluster_request.h"
#include "documents/machine.h"
#include "drivers/kubernetes/cluster_health.h"

namespace fettle {

struct ClusterConnection {
  std::unique_ptr<ClusterLink> link;
  std::unique_ptr<ClusterHealth> health;  ///< ends first: it asks the link
};

Result<std::unique_ptr<kubernetes::Client>> make_cluster_client(const ClusterRequest& request);

/// Waits until this process may act there, and tells meanwhile how it fares. If it may act no more,
/// the interrupt of the workplace is asked to end what goes on.
Result<ClusterConnection> link_cluster(const ClusterRequest& request, const Workplace& place,
                                       const Build& build);

}  // namespace fettle
