#pragma once
/// Whether somebody listens, and how long to pause before asking again.

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "drivers/engine/engine.h"

namespace fettle {

/// Whether a TCP connection to the address is accepted within `limit`, and before a stop.
bool accepts_connections(const std::string& address, int port, Duration limit,
                         const std::stop_token& stop = {});

/// Whether a container's address can be reached from this machine: its engine runs here and there
/// is a route that is not the default one. Rootless engines and remote ones have none.
bool is_reachable(const Engine& engine, const std::string& address);

/// The same question asked inside the container, where its address cannot be reached: whether one
/// of its sockets listens. An image without `cat` cannot answer; then a running container counts.
Result<bool> listens_inside(Engine& engine, const std::string& container, int port,
                            std::stop_token stop);
/// Whether the text of `/proc/net/tcp` and `/proc/net/tcp6` has a listening socket of that port.
bool has_listener(std::string_view table, int port);

/// A tenth of what was waited already, at least 5 ms and at most 250 ms: who comes up is noticed
/// late by a tenth of its time, and who does not costs little.
Duration probe_pause(Duration waited);

}  // namespace fettle
