#pragma once
/// `fettle serve`: commands of others, in this home.
///
/// A server that has threads and runs commands in process has to mend everything that a process has
/// only once: signals, streams, the folder in which it is, variables, what is hidden in its output.
/// So this one has none of it: it accepts, and forks a process for each connection (`session.h`),
/// which forks its command. What a client sends is parsed in a process that may die alone, limits of
/// time are alarms, and the program that runs a command is the same that runs it without a server.

#include <memory>

#include "remote/session.h"

namespace fettle {

class CommandServer {
 public:
  /// Listens at 127.0.0.1. Error: the port is not to be had.
  static Result<std::unique_ptr<CommandServer>> open(ServeSettings settings);

  int port() const { return port_; }
  /// Until SIGINT, SIGTERM or SIGHUP: then no connection is taken any more, each command is asked to
  /// stop, and those that change something finish that; a second signal ends them at once. The
  /// signal that came first. No thread may run. `told`: for people.
  int serve(const CommandHost& host, const std::function<void(const std::string&)>& told);

 private:
  CommandServer(ServeSettings settings, Descriptor listener, int port);
  void accept(const CommandHost& host);
  void reap();
  void signal_all(int number) const;

  const ServeSettings settings_;
  Descriptor listener_;
  const int port_;
  std::vector<pid_t> sessions_;
};

}  // namespace fettle
