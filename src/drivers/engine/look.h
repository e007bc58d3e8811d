#pragma once
/// Observations: what an engine tells about the resources of an environment.

#include <span>
#include <stop_token>
#include <vector>

#include "core/driver.h"
#include "drivers/engine/site.h"

namespace fettle {

/// All is asked for at once: a list of containers when a service is a subject, one of volumes when
/// a directory is, and each image by its name, since a machine may have hundreds of others. A
/// network that a container runs on needs no question. `subjects` are of one environment.
Result<std::vector<Observation>> look_at(const Site& site, std::span<const Subject> subjects,
                                         const std::stop_token& stop);

}  // namespace fettle
