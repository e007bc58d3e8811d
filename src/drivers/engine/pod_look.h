#pragma once
/// The observation of a pod, in the form of a Pod's `status` in Kubernetes.

#include <vector>

#include "drivers/engine/containers.h"
#include "drivers/engine/site.h"

namespace fettle {

/// `states` are those with the pod's marks, as a list of containers has them. If there are none,
/// there is no state. All running containers are probed. A container whose holder has ended has no
/// row: it cannot be reached and has to join the new holder.
Result<Observation> look_at_pod(const Site& site, const Subject& subject,
                                const std::vector<const ContainerState*>& states,
                                const std::stop_token& stop);

/// A moment that an engine reports, as Kubernetes writes it: in UTC, to the second. Empty: it never
/// happened.
std::string kubernetes_time(std::string_view text);

}  // namespace fettle
