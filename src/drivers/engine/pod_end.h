#pragma once
/// Ends a pod: its containers are told, stopped and removed, then its holder, then the volumes that
/// belong to the pod alone.

#include <string>
#include <vector>

#include "drivers/engine/containers.h"
#include "drivers/engine/site.h"

namespace fettle {

/// Everything with the marks of a pod.
struct PodThere {
  std::vector<ContainerState> holders, containers;
};
Result<PodThere> pod_there(const Site& site, const Key& key, const std::stop_token& stop);

/// How often a container was started before, without restarts by the engine: as its label says, or
/// as the pod's outputs say if the pod was restored since.
int64_t pod_restarts(const Outputs& outputs, const ContainerState& state);

/// Ends a container: first its hook, which counts into the grace period. `attributes` are those
/// with which the pod was made.
Status end_pod_container(const Site& site, const ContainerState& state,
                         const Attributes& attributes, const std::string& address,
                         const std::stop_token& stop);
/// Ends and removes everything. Containers go before the holders that they join.
Status clear_pod(const Site& site, const PodThere& there, const Attributes& attributes,
                 const std::string& address, const std::stop_token& stop);
Status remove_pod_volumes(const Site& site, const Key& key, const std::stop_token& stop);

/// The attributes with which the containers were made that are to go.
const Attributes& attributes_then(const Act& act);
/// The owner of its address.
std::string pod_owner(const Key& key);
/// The network of its namespace on its node.
Key pod_network(const Key& pod);

}  // namespace fettle
