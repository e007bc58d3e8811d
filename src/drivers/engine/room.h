#pragma once
/// Whether the machine of an engine has what services ask for at least.

#include <span>

#include "core/resource.h"
#include "drivers/engine/engine.h"

namespace fettle {

/// What an engine's machine has; 0: it does not say.
struct EngineRoom {
  int64_t millicores = 0;
  int64_t bytes = 0;
};
Result<EngineRoom> room_of(Engine& engine, std::stop_token stop);

/// Asks the engine only when a service states a minimum. Errors (`Blame::user`): the first service
/// with which the minima together exceed what the machine has.
Status check_room(Engine& engine, std::span<const Resource* const> wanted, std::stop_token stop);

}  // namespace fettle
