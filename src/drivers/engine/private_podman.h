#pragma once
/// A Podman of our own, for machines where no engine answers: started below a folder, found again
/// while it lives, ended with all that it runs. Nothing outside its folder is changed, several may
/// live on one machine, and it works where systemd, CAP_SYS_RESOURCE or a pure cgroup hierarchy are
/// missing:
///
///   * `/run` is private (see enclosure.h), also locks, temporary files and the default network,
///   * limits stay below ours, for raising them needs CAP_SYS_RESOURCE,
///   * `runc`, since crun refuses hybrid cgroups; cgroups without systemd,
///   * networks come from a range that this machine does not use.
///
/// Without root only containers without a network or on the host's can run.

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/process.h"
#include "base/result.h"

namespace fettle {

struct PrivatePodmanOptions {
  Path root;  ///< a folder for this engine alone, not below `/run`
  /// Registries `host:port` that speak plain HTTP. Those on port 5000 of this machine always do.
  std::vector<std::string> plain_registries{};
};

class PrivatePodman {
 public:
  explicit PrivatePodman(PrivatePodmanOptions options) : options_(std::move(options)) {}

  /// The path of the socket of an engine that answers: one that runs already, or a new one.
  Result<std::string> start(std::stop_token stop);
  bool is_running(const std::stop_token& stop) const;
  /// Stops its containers and its processes. `wipe` also deletes its folder, with containers,
  /// images and volumes.
  Status stop(bool wipe, std::stop_token stop);
  Path socket() const { return options_.root / "engine.sock"; }

  /// The Debian packages that are missing on this machine.
  static std::vector<std::string> missing_packages();

 private:
  Result<std::string> choose_pool() const;
  Status write_settings(const std::string& pool) const;
  Invocation podman(const std::vector<std::string>& arguments) const;
  Status await_answer(pid_t service, std::stop_token stop) const;
  PrivatePodmanOptions options_;
};

}  // namespace fettle
