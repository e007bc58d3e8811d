#include "drivers/engine/ssh_tunnel.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/process.h"
#include "base/text.h"

namespace fettle {
namespace {

constexpr int stop_interval_ms = 100;

bool send_all(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno != EINTR)
      return false;
    bytes.remove_prefix(count > 0 ? static_cast<size_t>(count) : 0);
  }
  return true;
}

/// Carries bytes both ways until both sides have ended, or one of them broke.
void shuttle(int a, int b, const std::stop_token& stop) {
  std::array<int, 2> ends{a, b};
  std::array<bool, 2> open{true, true};
  std::vector<char> buffer(64 * 1024);
  while ((open[0] || open[1]) && !stop.stop_requested()) {
    std::array<pollfd, 2> waited{{{open[0] ? a : -1, POLLIN, 0}, {open[1] ? b : -1, POLLIN, 0}}};
    if (poll(waited.data(), waited.size(), stop_interval_ms) < 0 && errno != EINTR)
      return;
    for (size_t i = 0; i < 2; ++i) {
      if (waited[i].revents == 0)
        continue;
      const ssize_t count = read(ends[i], buffer.data(), buffer.size());
      if (count > 0 && !send_all(ends[1 - i], {buffer.data(), static_cast<size_t>(count)}))
        return;
      if (count <= 0) {
        open[i] = false;
        shutdown(ends[1 - i], SHUT_WR);
        if (i == 1)  // the engine ended: nothing more is to be said to it
          return;
      }
    }
  }
}

}  // namespace

std::vector<std::string> ssh_command(const std::string& destination) {
  std::vector<std::string> command{"ssh", "-o", "BatchMode=yes", "-T"};
  const size_t colon = destination.rfind(':');
  if (colon != destination.npos)
    command.insert(command.end(), {"-p", destination.substr(colon + 1)});
  command.insert(command.end(), {"--", destination.substr(0, colon),
                                 "if command -v docker >/dev/null; then exec docker system "
                                 "dial-stdio; else exec podman system dial-stdio; fi"});
  return command;
}

SshTunnel::SshTunnel(TemporaryDirectory folder, Descriptor listener, std::string destination)
    : folder_(std::move(folder)),
      listener_(std::move(listener)),
      destination_(std::move(destination)),
      thread_([this](const std::stop_token& stop) { accept_all(stop); }) {}

SshTunnel::~SshTunnel() = default;

std::string SshTunnel::socket() const { return (folder_.path() / "engine.sock").string(); }

Result<std::shared_ptr<SshTunnel>> SshTunnel::open(const std::string& destination) {
  TemporaryDirectory folder = TRY(TemporaryDirectory::make());
  const std::string path = (folder.path() / "engine.sock").string();
  Descriptor listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  if (bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener.get(), 64) != 0)
    return world_error(cat("cannot listen at `", path, "`: ", std::strerror(errno)));
  return std::shared_ptr<SshTunnel>(
      new SshTunnel(std::move(folder), std::move(listener), destination));
}

void SshTunnel::accept_all(const std::stop_token& stop) {
  std::vector<std::jthread> threads;
  while (!stop.stop_requested()) {
    pollfd waited{listener_.get(), POLLIN, 0};
    if (poll(&waited, 1, stop_interval_ms) <= 0)
      continue;
    const int client = accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0)
      continue;
    threads.emplace_back([this, client](const std::stop_token& end) {
      const Descriptor ours(client);
      const auto dialogue = Dialogue::start({.arguments = ssh_command(destination_)});
      if (dialogue)
        shuttle(client, dialogue->descriptor(), end);
    });
  }
}

}  // namespace fettle
