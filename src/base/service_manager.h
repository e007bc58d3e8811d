#pragma once
/// What a service manager (systemd) gives to a server that it starts, and wants to hear from it:
/// the protocols of `sd_listen_fds(3)` and `sd_notify(3)`, by variables alone.
///
/// Whoever takes what these say takes the variables away, so that no process of ours takes them for
/// its own. No thread may run.

#include <optional>

#include "base/file.h"

namespace fettle {

/// The socket that was made for us, from now on ours; it never blocks. None: none was made. Errors
/// (`Blame::user`): there are several, or it is no socket that takes connections.
Result<std::optional<Descriptor>> inherited_listener();

/// Says that connections are taken. Nothing happens if nobody wants to know.
void tell_ready();

}  // namespace fettle
