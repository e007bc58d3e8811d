#include "drivers/engine/local_socket.h"

#include <cerrno>
#include <cstring>
#include <vector>

#include <sys/socket.h>
#include <sys/un.h>

#include "base/text.h"
#include "base/wait.h"

namespace fettle {

bool send_all(int to, std::string_view bytes, const std::stop_token& stop) {
  while (!bytes.empty()) {
    const ssize_t count = send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno == EAGAIN && await_descriptor(to, POLLOUT, for_ever, stop))
      continue;
    if (count < 0 && errno != EINTR)
      return false;
    bytes.remove_prefix(count > 0 ? static_cast<size_t>(count) : 0);
  }
  return true;
}

LocalSocket::LocalSocket(TemporaryDirectory folder, Descriptor listener, Serve serve)
    : folder_(std::move(folder)),
      listener_(std::move(listener)),
      serve_(std::move(serve)),
      thread_([this](const std::stop_token& stop) { accept_all(stop); }) {}

LocalSocket::~LocalSocket() {
  thread_.request_stop();
  shutdown(listener_.get(), SHUT_RDWR);  // wakes the thread that waits for connections
}

std::string LocalSocket::path() const { return (folder_.path() / "socket").string(); }

Result<std::unique_ptr<LocalSocket>> LocalSocket::open(Serve serve) {
  TemporaryDirectory folder = TRY(TemporaryDirectory::make());
  const std::string path = (folder.path() / "socket").string();
  Descriptor listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return world_error(cat("the path `", path, "` is too long for a socket"));
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  if (bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener.get(), 64) != 0)
    return world_error(cat("cannot listen at `", path, "`: ", std::strerror(errno)));
  return std::unique_ptr<LocalSocket>(
      new LocalSocket(std::move(folder), std::move(listener), std::move(serve)));
}

void LocalSocket::accept_all(const std::stop_token& stop) {
  std::vector<std::jthread> threads;
  Poller poller(stop);
  std::array<pollfd, 1> waited{{{listener_.get(), POLLIN, 0}}};
  while (poller.wait(waited, for_ever)) {
    const int client = accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0)
      continue;
    threads.emplace_back([this, client](const std::stop_token& end) {
      const Descriptor ours(client);
      serve_(client, end);
    });
  }
}

}  // namespace fettle
