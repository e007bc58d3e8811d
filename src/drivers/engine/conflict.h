#pragma once
/// Addresses and ports that were chosen here and turned out to be taken. fettle chooses both itself
/// and asks the engine for them, and somebody else may be quicker. This file says what a caller
/// that starts a container has to choose again.

#include <string>

#include "drivers/engine/engine.h"

namespace fettle {

enum class EngineConflict {
  nothing,  ///< it failed for another reason
  address,  ///< in its network. Podman keeps that of a container that died while it started
  port,     ///< one of the engine's machine
};
/// Judges by an engine's message. One that names neither means a port: engines say little about
/// these.
EngineConflict what_is_taken(const Error& error);

/// Whether an engine refused because the machine changed while it looked, and did nothing: it
/// answers otherwise if asked again. Podman lists the interfaces when it starts a container and
/// when it makes a network, and fails if one goes meanwhile, as those of another engine's
/// containers do.
bool passes_by_itself(const EngineAnswer& answer);

/// The container that has the address, as Podman names it. Empty: the message is about something
/// else.
std::string holder_of_address(std::string_view said);

}  // namespace fettle
