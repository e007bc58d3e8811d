#pragma once
/// TLS with all agents of a server, in one process: who has proved to be one, in a connection with a
/// process of its own (`tls_side.h`), shakes hands once more with this one, in the same connection.
/// So what strangers send is never read by what holds the connections of others, and an agent at
/// rest needs some kilobytes instead of a process.
///
/// That the second handshake is by the same agent is seen by a secret, which it was told in the first
/// one and says before anything else (`agent_hub.h` looks at it).

#include "base/file.h"
#include "base/tls_identity.h"

namespace fettle {

/// Of `clients`, pairs come: first what the hub reads of a client (`line`), then its socket
/// (`client`). Until the other end is closed and all clients have gone. The exit code.
int serve_tls_of_agents(Descriptor clients, RenewedIdentity& identity);

}  // namespace fettle
