#pragma once
/// A unix socket on this machine behind which an engine on another one is reached: for each
/// connection one `ssh HOST docker system dial-stdio`, or Podman's where there is no Docker.

#include <memory>
#include <string>
#include <thread>

#include "base/file.h"
#include "base/result.h"

namespace fettle {

class SshTunnel {
 public:
  /// `destination` is `host`, `user@host` or `user@host:port`.
  static Result<std::shared_ptr<SshTunnel>> open(const std::string& destination);
  ~SshTunnel();
  SshTunnel(const SshTunnel&) = delete;
  SshTunnel& operator=(const SshTunnel&) = delete;
  std::string socket() const;

 private:
  SshTunnel(TemporaryDirectory folder, Descriptor listener, std::string destination);
  void accept_all(const std::stop_token& stop);
  TemporaryDirectory folder_;
  Descriptor listener_;
  std::string destination_;
  std::jthread thread_;
};

/// The command that talks to the engine on the other machine.
std::vector<std::string> ssh_command(const std::string& destination);

}  // namespace fettle
