#pragma once
/// A unix socket on this machine behind which there is an engine on another one. Each connection
/// runs `ssh HOST docker system dial-stdio`, or Podman's command if there is no Docker.

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/time.h"
#include "drivers/engine/local_socket.h"

namespace fettle {

/// The last complaints of `ssh` and of the program that it starts. Safe to use from many threads.
class SshWords {
 public:
  void add(std::string_view text);
  std::string last() const;  ///< its lines as one; empty: there are none

 private:
  mutable std::mutex mutex_;
  std::string said_;
};

struct SshTunnel {
  std::unique_ptr<LocalSocket> socket;
  std::shared_ptr<SshWords> words;
};

/// `destination` is `host`, `user@host` or `user@host:port`, perhaps with a path behind it: that of
/// the engine's socket there.
Result<SshTunnel> open_ssh_tunnel(const std::string& destination, const WaitLimits& limits);

/// The command that talks to the engine on the other machine.
std::vector<std::string> ssh_command(const std::string& destination, const WaitLimits& limits);

}  // namespace fettle
