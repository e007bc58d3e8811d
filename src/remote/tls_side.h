#pragma once
/// The side of a connection that speaks TLS with a client: a process of its own, which may die alone
/// of what a stranger sends. It shakes hands and passes bytes on, between the client's socket and one
/// on which the session of the connection works as without TLS. It holds at most one piece of each
/// direction, so whoever is slow makes the other side wait. (It is a copy of the server, key included:
/// a crash, a leak or a circle ends here, a takeover would not.)

#include "base/time.h"
#include "base/tls.h"

namespace fettle {

struct TlsSideLimits {
  Duration handshake = 10s;
  Duration write = 30s;  ///< for a client that takes nothing when its session has ended
};

/// Until either side has ended. The exit code of the process, which opens no descriptor any more.
/// `handing`: by which the session asks for the client's socket (`handover.h`). It gets that as soon
/// as the client has ended TLS, for another process to shake hands again.
int serve_tls(Descriptor client, Descriptor session, const TlsIdentity& identity,
              const TlsSideLimits& limits, Descriptor handing = Descriptor());

}  // namespace fettle
