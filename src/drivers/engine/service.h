#pragma once
/// The life of a service's container.
///
/// Making one is the same whether there was one before or not, and whether a process died in the
/// middle or not: the old container, if any, is renamed and kept, a new one is created with the
/// same uuid, address and ports, gets its files, takes over, and when its ports answer the old one
/// goes. When anything fails, the new one goes and the old one runs again.
///
/// The name of a container follows from what the service is. So one that is left of an interrupted
/// act is met when its name is taken; only then is anybody asked what there is.

#include "drivers/engine/site.h"

namespace fettle {

Result<Outcome> make_service(const Site& site, const Act& act, std::stop_token stop);
/// Starts a stopped one again and awaits its ports; makes it when it is gone.
/// Keeps the container that was found by its marks when it is as wanted, else makes it anew.
Result<Outcome> adopt_service(const Site& site, const Act& act, std::stop_token stop);
Result<Outcome> start_service(const Site& site, const Act& act, std::stop_token stop);
Result<Outcome> stop_service(const Site& site, const Act& act, std::stop_token stop);
Result<Outcome> remove_service(const Site& site, const Act& act, std::stop_token stop);

/// What happens to a service within its history: kinds `start`, `stop` and `remove`.
Result<Outcome> transition_service(const Site& site, const Act& act, std::stop_token stop);

}  // namespace fettle
