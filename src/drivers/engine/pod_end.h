#pragma once
/// The end of a pod: its containers are told, stopped and removed, then its holder, then the
/// volumes that belong to the pod alone.

#include <string>
#include <vector>

#include "drivers/engine/containers.h"
#include "drivers/engine/site.h"

namespace fettle {

/// Everything that carries the marks of a pod.
struct PodThere {
  std::vector<ContainerState> holders, containers;
};
Result<PodThere> pod_there(const Site& site, const Key& key, const std::stop_token& stop);

/// How often a container was started before, engines' own restarts not counted: as its label says,
/// or as the pod's outputs say if it was restored since.
int64_t pod_restarts(const Value& outputs, const ContainerState& state);

/// Has a container end: its hook first, which counts into the grace. `attributes` are the pod's as
/// they were when it was made.
Status end_pod_container(const Site& site, const ContainerState& state, const Value& attributes,
                         const std::string& address, const std::stop_token& stop);
/// Ends and removes what is there; containers before the holders that they stand on.
Status clear_pod(const Site& site, const PodThere& there, const Value& attributes,
                 const std::string& address, const std::stop_token& stop);
Status remove_pod_volumes(const Site& site, const Key& key, const std::stop_token& stop);

/// The attributes as they were when its containers were made, for those that are to go.
const Value& attributes_then(const Act& act);
/// Whose its address is.
std::string pod_owner(const Key& key);
/// The network of its namespace on its node.
Key pod_network(const Key& pod);

}  // namespace fettle
