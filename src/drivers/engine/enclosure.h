#pragma once
/// A mount namespace with a `/run` of its own, in which a private engine lives. Engines keep
/// addresses, name servers and network namespaces in `/run`, by names that would clash with those
/// of others. A process that sleeps holds the namespace, so that it outlives a crash of the engine;
/// with the last process in it the namespace ends, and with it all of the engine's mounts.
///
/// Whatever is started for an engine has `FETTLE_ENGINE=<root>` in its environment. A process id in
/// a file counts only if that process has it, too, since ids are used again.

#include <optional>
#include <stop_token>
#include <string>

#include "base/file.h"
#include "base/process.h"
#include "base/result.h"

namespace fettle {

class Enclosure {
 public:
  explicit Enclosure(Path root) : root_(std::move(root)) {}

  /// Lets only one process start or stop an engine at a time: locked until the descriptor is
  /// closed. Waits at most a minute for another process.
  Result<Descriptor> lock(const std::stop_token& stop) const;
  /// The process in `<root>/<name>.pid`, if it lives and is ours.
  std::optional<pid_t> process(std::string_view name) const;
  Status remember(std::string_view name, pid_t pid) const;

  bool is_alive() const { return process("holder").has_value(); }
  Status start();
  /// Runs a command in the namespace to its end.
  Result<ProcessResult> run(Invocation command, std::stop_token stop) const;
  /// Starts a command in the namespace that outlives us. Its output is appended to `log`.
  Result<pid_t> start_inside(Invocation command, const Path& log) const;
  /// Ends everything in the namespace, including the holder: TERM, after 2 s KILL. If there is no
  /// namespace, ends everything with the mark.
  Status end();

 private:
  bool is_ours(pid_t pid) const;
  Result<Invocation> inside(Invocation command) const;
  Path root_;
};

}  // namespace fettle
