#include "drivers/engine/ssh_tunnel.h"

#include <array>

#include <sys/socket.h>
#include <unistd.h>

#include "base/process.h"
#include "base/text.h"
#include "base/wait.h"

namespace fettle {
namespace {

/// Carries bytes both ways until both sides have ended, or one of them broke.
void shuttle(int a, int b, const std::stop_token& stop) {
  std::array<int, 2> ends{a, b};
  std::array<bool, 2> open{true, true};
  std::vector<char> buffer(64 * 1024);
  Poller poller(stop);
  while (open[0] || open[1]) {
    std::array<pollfd, 2> waited{{{open[0] ? a : -1, POLLIN, 0}, {open[1] ? b : -1, POLLIN, 0}}};
    if (!poller.wait(waited, for_ever))
      return;
    for (size_t i = 0; i < 2; ++i) {
      if (waited[i].revents == 0)
        continue;
      const ssize_t count = read(ends[i], buffer.data(), buffer.size());
      if (count > 0 && !send_all(ends[1 - i], {buffer.data(), static_cast<size_t>(count)}, stop))
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

std::vector<std::string> ssh_command(const std::string& destination, const WaitLimits& limits) {
  std::vector<std::string> command{"ssh", "-o", "BatchMode=yes", "-T"};
  const auto seconds = [](Duration limit) {
    return std::chrono::ceil<std::chrono::seconds>(limit).count();
  };
  if (limits.connect > 0s)
    command.insert(command.end(), {"-o", cat("ConnectTimeout=", seconds(limits.connect))});
  if (limits.silence > 0s)  // the other side is asked three times
    command.insert(command.end(), {"-o", cat("ServerAliveInterval=", seconds(limits.silence / 3)),
                                   "-o", "ServerAliveCountMax=3"});
  const size_t colon = destination.rfind(':');
  if (colon != destination.npos)
    command.insert(command.end(), {"-p", destination.substr(colon + 1)});
  command.insert(command.end(), {"--", destination.substr(0, colon),
                                 "if command -v docker >/dev/null; then exec docker system "
                                 "dial-stdio; else exec podman system dial-stdio; fi"});
  return command;
}

Result<std::unique_ptr<LocalSocket>> open_ssh_tunnel(const std::string& destination,
                                                     const WaitLimits& limits) {
  return LocalSocket::open(
      [command = ssh_command(destination, limits)](int client, const std::stop_token& stop) {
        const auto dialogue = Dialogue::start({.arguments = command, .session = true});
        if (dialogue)
          shuttle(client, dialogue->descriptor(), stop);
      });
}

}  // namespace fettle
