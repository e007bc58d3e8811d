#pragma once
/// Finds out whether somebody listens, and how long to pause before asking again.

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "drivers/engine/engine.h"

namespace fettle {

/// Whether a TCP connection to the address is accepted within `limit` and before a stop.
bool accepts_connections(const std::string& address, int port, Duration limit,
                         const std::stop_token& stop = {});

/// Whether a container's address can be reached from this machine: its engine runs here, and there
/// is a route that is not the default one. Rootless and remote engines have none.
bool is_reachable(const Engine& engine, const std::string& address);

/// The socket with which a service listens.
struct Socket {
  enum class Sort { tcp, udp } sort = Sort::tcp;
  int port = 0;
};

/// Whether a container on this machine has a socket for the datagrams of a port. A datagram would
/// not show it: a server that does not answer may be there, and refusals come at most once a
/// second. So the kernel's table for the container's network is read: here if its address is found
/// in that network, else inside.
Result<bool> serves_udp(Engine& engine, const std::string& container, const std::string& address,
                        int port, std::stop_token stop);

/// The question from inside the container, if its address cannot be reached: whether one of its
/// sockets listens. An image without `cat` cannot answer; then a running container counts.
Result<bool> listens_inside(Engine& engine, const std::string& container, const Socket& socket,
                            std::stop_token stop);
/// Whether the text of `/proc/net/tcp` or `/proc/net/tcp6`, or of their counterparts for UDP, has a
/// socket of that port that waits for anybody.
bool has_listener(std::string_view table, const Socket& socket);
/// Whether the text of `/proc/net/fib_trie` has an address of the machine itself.
bool has_address(std::string_view table, std::string_view address);

/// A tenth of the time waited so far, at least 5 ms and at most 250 ms. So a server that comes up
/// is noticed late by a tenth of its time, and one that does not costs little.
Duration probe_pause(Duration waited);

}  // namespace fettle
