#pragma once
/// A unix socket on this machine behind which an engine on another one is reached: for each
/// connection one `ssh HOST docker system dial-stdio`, or Podman's where there is no Docker.

#include <vector>

#include "base/time.h"
#include "drivers/engine/local_socket.h"

namespace fettle {

/// `destination` is `host`, `user@host` or `user@host:port`.
Result<std::unique_ptr<LocalSocket>> open_ssh_tunnel(const std::string& destination,
                                                     const WaitLimits& limits);

/// The command that talks to the engine on the other machine.
std::vector<std::string> ssh_command(const std::string& destination, const WaitLimits& limits);

}  // namespace fettle
