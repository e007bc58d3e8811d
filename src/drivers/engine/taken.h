#pragma once
/// Addresses and ports that were chosen here and turned out to be taken. fettle chooses both itself
/// and asks the engine for them, and somebody else may be quicker; whoever starts a container asks
/// here what to choose anew.

#include <string>

#include "drivers/engine/engine.h"

namespace fettle {

enum class Taken {
  nothing,  ///< it failed for another reason
  address,  ///< in its network. Podman keeps the lease of a container that died while it started
  port,     ///< of the engine's machine
};
/// By what an engine said. One that names neither means a port: engines tell little about these.
Taken what_is_taken(const Error& error);

/// Whether an engine refused because the machine changed while it looked, and did nothing: asked
/// again it answers otherwise. Podman lists the interfaces when it starts a container and when it
/// makes a network, and fails if one goes meanwhile, as those of another engine's containers do.
bool passes_by_itself(const EngineAnswer& answer);

/// The container that has the address, as Podman names it; empty: it is not about that.
std::string holder_of_address(std::string_view said);

}  // namespace fettle
