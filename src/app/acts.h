#pragma once
/// `fettle __acts`: the process of an agent that acts on its machine for one run at the server. Its
/// standard input is the stream; it ends with it.

#include <span>

#include "cli/command.h"

namespace fettle {

/// `acts`: what the agent allows (`cli/acts_door.h`).
Result<int> act_for_server(Face& face, std::span<const std::string> acts);

}  // namespace fettle
