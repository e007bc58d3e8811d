#include "drivers/engine/ssh_tunnel.h"

#include <algorithm>
#include <array>

#include <sys/socket.h>
#include <unistd.h>

#include "base/process.h"
#include "base/shell_word.h"
#include "base/text.h"
#include "base/wait.h"

namespace fettle {
namespace {

/// Reads its messages. False: there will be no more.
bool hear(int errors, SshWords& words) {
  std::array<char, 4096> buffer;
  const ssize_t count = ::read(errors, buffer.data(), buffer.size());
  if (count > 0)
    words.add({buffer.data(), static_cast<size_t>(count)});
  return count > 0;
}

/// Carries bytes both ways until both sides have ended, or one of them broke.
void shuttle(int a, int b, int errors, SshWords& words, const std::stop_token& stop) {
  std::array<int, 2> ends{a, b};
  std::array<bool, 3> open{true, true, true};
  std::vector<char> buffer(64 * 1024);
  Poller poller(stop);
  while (open[0] || open[1]) {
    std::array<pollfd, 3> waited{{{open[0] ? a : -1, POLLIN, 0},
                                  {open[1] ? b : -1, POLLIN, 0},
                                  {open[2] ? errors : -1, POLLIN, 0}}};
    if (!poller.wait(waited, for_ever))
      return;
    if (waited[2].revents != 0)
      open[2] = hear(errors, words);
    for (size_t i = 0; i < 2; ++i) {
      if (waited[i].revents == 0)
        continue;
      const ssize_t count = ::read(ends[i], buffer.data(), buffer.size());
      if (count > 0 && !send_all(ends[1 - i], {buffer.data(), static_cast<size_t>(count)}, stop))
        return;
      if (count <= 0) {
        open[i] = false;
        shutdown(ends[1 - i], SHUT_WR);
        if (i == 1)  // the engine ended: there is nothing more to say to it
          return;
      }
    }
  }
}

/// `unix:///PATH` for the shell there, behind a flag of its program. Empty: there is no path.
std::string flag_of_socket(std::string_view flag, std::string_view path) {
  return path.empty() ? std::string() : cat(" ", flag, " ", quoted_for_shell(cat("unix://", path)));
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
  const size_t slash = destination.find('/');
  const std::string place = destination.substr(0, slash);
  const std::string path = slash == destination.npos ? std::string() : destination.substr(slash);
  const size_t colon = place.rfind(':');
  if (colon != place.npos)
    command.insert(command.end(), {"-p", place.substr(colon + 1)});
  command.insert(command.end(),
                 {"--", place.substr(0, colon),
                  cat("if command -v docker >/dev/null; then exec docker",
                      flag_of_socket("--host", path), " system dial-stdio; else exec podman",
                      flag_of_socket("--url", path), " system dial-stdio; fi")});
  return command;
}

void SshWords::add(std::string_view text) {
  constexpr size_t most = 2000;
  const std::lock_guard lock(mutex_);
  said_ += text;
  if (said_.size() > most)
    said_.erase(0, said_.size() - most);
}

std::string SshWords::last() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> lines;
  for (const std::string_view line : split(said_, '\n'))
    if (const std::string_view words = trim(line);
        !words.empty() && std::ranges::find(lines, words) == lines.end())
      lines.push_back(printable(words));
  return join(lines, "; ");
}

Result<SshTunnel> open_ssh_tunnel(const std::string& destination, const WaitLimits& limits) {
  SshTunnel tunnel;
  tunnel.words = std::make_shared<SshWords>();
  tunnel.socket =
      TRY(LocalSocket::open([command = ssh_command(destination, limits), words = tunnel.words](
                                int client, const std::stop_token& stop) {
        auto dialogue = Dialogue::start({.arguments = command, .session = true, .is_own = true},
                                        Dialogue::Errors::kept);
        if (!dialogue) {
          words->add(to_string(dialogue.error()));
          return;
        }
        shuttle(client, dialogue->descriptor(), dialogue->errors(), *words, stop);
        dialogue->end(0s);
        while (hear(dialogue->errors(), *words)) {
        }
      }));
  return tunnel;
}

}  // namespace fettle
