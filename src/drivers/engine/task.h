#pragma once
/// A command in a container that is made for it and thrown away afterwards: kind `task`.

#include "drivers/engine/site.h"

namespace fettle {

Result<Outcome> run_task(const Site& site, const Act& act, const ProgressSink& progress,
                         std::stop_token stop);

/// Removes the container of an interrupted task, if there is one.
Result<Outcome> drop_task(const Site& site, const Act& act, std::stop_token stop);

}  // namespace fettle
