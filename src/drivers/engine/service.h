#pragma once
/// The life of a service's container.
///
/// A container is always made in the same way, whether there was one before or not, and whether a
/// process died in the middle or not. The old container, if any, is renamed and kept. A new one is
/// created with the same uuid, address and ports, gets its files, and takes over. When its ports
/// answer, the old one goes. If anything fails, the new one goes and the old one runs again.
///
/// The name of a container follows from what the service is. So a container that an interrupted act
/// left is noticed when its name is taken; only then is the engine asked what there is.

#include "drivers/engine/site.h"

namespace fettle {

Result<Outcome> make_service(const Site& site, const Act& act, std::stop_token stop);
/// Starts a stopped container again and awaits its ports, or makes it if it is gone. A container
/// that was found by its marks is kept if it is as wanted, else recreated.
Result<Outcome> adopt_service(const Site& site, const Act& act, std::stop_token stop);
Result<Outcome> start_service(const Site& site, const Act& act, std::stop_token stop);
Result<Outcome> stop_service(const Site& site, const Act& act, std::stop_token stop);
Result<Outcome> remove_service(const Site& site, const Act& act, std::stop_token stop);

/// Transitions of a service within its history: kinds `start`, `stop` and `remove`.
Result<Outcome> transition_service(const Site& site, const Act& act, std::stop_token stop);

}  // namespace fettle
