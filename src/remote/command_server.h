#pragma once
/// `fettle serve`: commands of others, in this home.
///
/// A server that has threads and runs commands in process has to mend everything that a process has
/// only once: signals, streams, the folder in which it is, variables, what is hidden in its output.
/// So this one has none of it: it accepts, and forks a process for each connection (`session.h`),
/// which forks its command. What a client sends is parsed in a process that may die alone, limits of
/// time are alarms, and the program that runs a command is the same that runs it without a server.
/// With TLS, a connection has a second process (`tls_side.h`), between its client and the first one.

#include <array>
#include <deque>
#include <memory>

#include "remote/session.h"

namespace fettle {

class CommandServer {
 public:
  /// Listens. Errors: the address is not to be had; the files of TLS are wrong (`Blame::user`).
  static Result<std::unique_ptr<CommandServer>> open(ServeSettings settings);

  int port() const { return port_; }
  /// For clients: `http://127.0.0.1:9790`; with TLS, under a name that the certificate has.
  std::string address() const;
  /// Until SIGINT, SIGTERM or SIGHUP: then no connection is taken any more, each command is asked to
  /// stop, and those that change something finish that; a second signal ends them at once. The
  /// signal that came first. No thread may run. `told`: for people.
  int serve(const CommandHost& host, const std::function<void(const std::string&)>& told);

 private:
  using Teller = std::function<void(const std::string&)>;

  CommandServer(ServeSettings settings, Descriptor listener,
                std::optional<RenewedIdentity> identity, std::array<Descriptor, 2> arrivals,
                Seats seats);
  /// Somebody at the door.
  struct Knock {
    Descriptor socket;
    std::string from;
    Stranger who;
  };
  struct Connection {
    size_t seat = 0;
    pid_t session = -1, tls = -1;
    Stranger who{};
    bool has_to_leave = false;
  };

  void accept();
  /// Those who wait, as far as there is room.
  void admit(const CommandHost& host, const Teller& told);
  void begin_connection(Knock knock, const CommandHost& host, const Teller& told);
  bool is_proxy(const std::string& address) const;
  std::vector<size_t> strangers() const;
  /// The client's side of a connection gets a process; what its session talks to. Closed: there is
  /// no room for one.
  Descriptor begin_tls(Descriptor client, Descriptor handing, const Teller& told);
  void begin_hub();
  void end_hub(int number) const;
  /// A process that ends with the server, and that it waits for.
  pid_t begin_session(const std::function<int()>& work, Connection connection);
  pid_t begin_process(const std::function<int()>& work);
  void reap();

  const ServeSettings settings_;
  Descriptor listener_;
  std::optional<RenewedIdentity> identity_;
  const int port_;
  Seats seats_;
  std::vector<pid_t> sessions_, tls_sides_;
  std::vector<Connection> connections_;  ///< and runs of schedules
  std::deque<Knock> waiting_;            ///< at the door, without a process
  std::array<Descriptor, 2>
      arrivals_;    ///< of agents: where the hub takes them, and where sessions hand them over
  pid_t hub_ = -1;  ///< ends when all others have
};

}  // namespace fettle
