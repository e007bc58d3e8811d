#pragma once
/// A command in a container that is made for it and thrown away: kind `task`.

#include "drivers/engine/site.h"

namespace fettle {

Result<Outcome> run_task(const Site& site, const Act& act, const ProgressSink& progress,
                         std::stop_token stop);

/// Takes away the container of one that was interrupted; nothing when there is none.
Result<Outcome> drop_task(const Site& site, const Act& act, std::stop_token stop);

}  // namespace fettle
