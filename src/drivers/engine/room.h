#pragma once
/// Whether the machine of an engine has the memory and processors that services ask for at least.

#include <span>

#include "core/container_engine.h"
#include "core/resource.h"
#include "drivers/engine/engine.h"

namespace fettle {

Result<EngineRoom> room_of(Engine& engine, std::stop_token stop);

/// Asks the engine only if a service states a minimum. Errors (`Blame::user`): the first service
/// with which the sum of all minima exceeds what the machine has.
Status check_room(Engine& engine, std::span<const Resource* const> wanted, std::stop_token stop);

}  // namespace fettle
