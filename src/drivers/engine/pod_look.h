#pragma once
/// The observation of a pod, in the shape of a Pod's `status` in Kubernetes.

#include <vector>

#include "drivers/engine/containers.h"
#include "drivers/engine/site.h"

namespace fettle {

/// `states` carry the pod's marks, as a list of containers tells them. No state when there are
/// none. Probes are sent to whatever runs. A container whose holder has ended has no row: it cannot
/// be reached and has to join the holder anew.
Result<Observation> look_at_pod(const Site& site, const Subject& subject,
                                const std::vector<const ContainerState*>& states,
                                const std::stop_token& stop);

/// What an engine says of a moment, as Kubernetes writes it: in UTC, by the second. Empty of what
/// never was.
std::string kubernetes_time(std::string_view text);

}  // namespace fettle
