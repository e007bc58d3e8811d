#pragma once
/// Sockets that others connect to, and who did.

#include <string>
#include <string_view>

#include <sys/socket.h>

#include "base/file.h"

namespace fettle {

/// `HOST:PORT`, as it is written for a server; an empty host is every address of the machine.
struct ListenAddress {
  std::string host;
  std::string port;
};
/// Error (`Blame::user`): it is none. An IPv6 address stands in brackets.
Result<ListenAddress> parse_listen_address(std::string_view text);

/// A socket that never blocks. Port 0: any that is free. An address that stands for all takes
/// connections of both families. Errors: there is no such address (`Blame::user`), or it is not to
/// be had. `waiting`: how many connections may wait to be accepted.
Result<Descriptor> listen_at(const ListenAddress& address, int waiting);

/// The port at which a socket is.
int port_of(const Descriptor& socket);

/// `127.0.0.1:40000`, `[::1]:40000`; one of IPv4 that came by IPv6 as the former. Other than these: `?`.
std::string text_of_address(const sockaddr_storage& address);

}  // namespace fettle
