#pragma once
/// Runs the daemon of a node that a command means.

#include <functional>
#include <stop_token>

#include "cli/node_request.h"
#include "documents/machine.h"

namespace fettle {

/// Runs until a stop is asked for; `tell` says what happens. Errors (`Blame::user`): nobody says
/// which node or which cluster is meant.
Result<PullTally> serve_node_until(const NodeRequest& request,
                                   const std::function<void(const std::string&)>& tell,
                                   const std::stop_token& stop);

}  // namespace fettle
