#pragma once
/// Observations: what an engine reports about the resources of an environment.

#include <span>
#include <stop_token>
#include <vector>

#include "core/driver.h"
#include "drivers/engine/site.h"

namespace fettle {

/// Asks for everything at once: a list of containers if a service is a subject, a list of volumes
/// if a directory is, and each image by its name, since a machine may have hundreds of others. A
/// network on which a container runs needs no question. All `subjects` must be of one environment.
Result<std::vector<Observation>> look_at(const Site& site, std::span<const Subject> subjects,
                                         const std::stop_token& stop);

}  // namespace fettle
