#include "base/service_manager.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "base/text.h"

namespace fettle {
namespace {

/// The first of the descriptors that are handed over.
constexpr int first_given = 3;

std::string taken_variable(const char* name) {
  const char* const value = std::getenv(name);
  std::string text(value == nullptr ? "" : value);
  unsetenv(name);
  return text;
}

bool takes_connections(int descriptor) {
  int type = 0, listens = 0;
  socklen_t size = sizeof type;
  return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM &&
         getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens != 0;
}

}  // namespace

Result<std::optional<Descriptor>> inherited_listener() {
  const std::string process = taken_variable("LISTEN_PID"), count = taken_variable("LISTEN_FDS");
  unsetenv("LISTEN_FDNAMES");
  // They may be our parent's, which did not take them away.
  if (process != std::to_string(getpid()) || count.empty() || count == "0")
    return std::optional<Descriptor>();
  if (count != "1")
    return user_error(cat("the service manager gave ", printable(count),
                          " sockets; expected one `ListenStream=`"));
  if (!takes_connections(first_given))
    return user_error(
        "the service manager gave something that takes no connections; expected one "
        "`ListenStream=` with `Accept=no`");
  Descriptor given(first_given);
  fcntl(given.get(), F_SETFD, FD_CLOEXEC);
  fcntl(given.get(), F_SETFL, fcntl(given.get(), F_GETFL) | O_NONBLOCK);
  return std::optional(std::move(given));
}

void tell_ready() {
  const std::string path = taken_variable("NOTIFY_SOCKET");
  sockaddr_un address{};
  if (path.empty() || path.size() >= sizeof address.sun_path)
    return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  if (path.front() == '@')  // a name without a file
    address.sun_path[0] = '\0';
  const Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  constexpr std::string_view ready = "READY=1";
  static_cast<void>(
      ::sendto(socket.get(), ready.data(), ready.size(), MSG_NOSIGNAL,
               reinterpret_cast<const sockaddr*>(&address),
               static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size())));
}

}  // namespace fettle
