#pragma once
/// What must hold between an intent and the world after a run that ended well.

#include <optional>
#include <string>

#include "sim/world.h"

namespace fettle::sim {

/// The first thing in which the world is not what the intent of the set `p` says: something is not
/// there, is there and should not be, has other attributes, missed an event of what refreshes it,
/// or what happened in a host is not its history, each act once.
std::optional<std::string> first_flaw(const Intent& intent, const Known& known, const World& world);

}  // namespace fettle::sim
