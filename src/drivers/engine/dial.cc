#include "drivers/engine/dial.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <memory>

#include "base/text.h"

namespace fettle {
namespace {

constexpr std::string_view clear_text = "http://";

Result<Descriptor> connecting_to(const sockaddr* address, socklen_t size,
                                 const std::string& shown) {
  Descriptor socket(::socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.is_open() && (::connect(socket.get(), address, size) == 0 || errno == EINPROGRESS))
    return socket;
  return world_error(cat("no engine answers at `", shown,
                         "`: ", lower_case(std::strerror(errno == EAGAIN ? EBUSY : errno))));
}

Result<Descriptor> dial_socket(const EngineAddress& engine) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (engine.unix_socket.size() >= sizeof address.sun_path)
    return user_error(cat("the path `", engine.unix_socket, "` is too long for a socket"));
  engine.unix_socket.copy(address.sun_path, sizeof address.sun_path - 1);
  return connecting_to(reinterpret_cast<const sockaddr*>(&address), sizeof address, engine.text);
}

struct DialedRelease {
  void operator()(addrinfo* found) const { freeaddrinfo(found); }
};

Result<Descriptor> dial_port(const EngineAddress& engine) {
  std::string place = engine.base.substr(clear_text.size());
  place = place.substr(0, place.find('/'));
  const size_t colon = place.rfind(':');
  const bool has_port = colon != place.npos && place.find(']', colon) == place.npos;
  const std::string port = has_port ? place.substr(colon + 1) : "80";
  std::string host = place.substr(0, has_port ? colon : place.npos);
  if (host.starts_with('[') && host.ends_with(']'))
    host = host.substr(1, host.size() - 2);
  addrinfo hints{}, *answer = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  const int failure = getaddrinfo(host.c_str(), port.c_str(), &hints, &answer);
  const std::unique_ptr<addrinfo, DialedRelease> found(answer);
  if (failure != 0)
    return world_error(
        cat("no engine answers at `", engine.text, "`: ", lower_case(gai_strerror(failure))));
  Descriptor socket =
      TRY(connecting_to(found->ai_addr, static_cast<socklen_t>(found->ai_addrlen), engine.text));
  const int yes = 1;
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return socket;
}

}  // namespace

Status check_dialled(const EngineAddress& address) {
  if (!address.agent.empty())
    return user_error("an agent brings the engine of its own machine, not that of another agent");
  if (!address.unix_socket.empty() || !address.ssh.empty() || address.base.starts_with(clear_text))
    return {};
  return user_error(cat("an agent passes on what its engine says in clear text, and the one at `",
                        address.text,
                        "` speaks TLS: name its socket (`unix:///PATH`), or run the agent on the "
                        "engine's machine"));
}

Result<Descriptor> dial_engine(const EngineAddress& address) {
  TRY(check_dialled(address));
  return address.unix_socket.empty() ? dial_port(address) : dial_socket(address);
}

}  // namespace fettle
