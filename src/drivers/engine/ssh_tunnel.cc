#include "drivers/engine/ssh_tunnel.h"

#include <array>
#include <cerrno>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/process.h"
#include "base/text.h"

namespace fettle {
namespace {

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

Result<std::unique_ptr<LocalSocket>> open_ssh_tunnel(const std::string& destination) {
  return LocalSocket::open(
      [command = ssh_command(destination)](int client, const std::stop_token& stop) {
        const auto dialogue = Dialogue::start({.arguments = command});
        if (dialogue)
          shuttle(client, dialogue->descriptor(), stop);
      });
}

}  // namespace fettle
