#pragma once
/// The process of one connection: it finds out what the client wants, and is the parent of its
/// command. It has no threads; its command is made by `fork`.
///
/// A client may go at any moment. A command that only tells something, or that still waits for its
/// input, ends then; any other goes on, since its output goes to its run's files (`run_log.h`) and
/// no further than its client reads.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/time.h"
#include "base/tls_identity.h"
#include "remote/called_at.h"
#include "remote/oidc_sign_in.h"
#include "remote/request.h"
#include "remote/rights.h"
#include "remote/seats.h"
#include "remote/strangers.h"

namespace fettle {

/// What the program knows about a command line.
struct CommandLook {
  bool is_reader = false;  ///< it ends with whoever reads its output
  std::string shown;       ///< the words without secrets
  CommandNeeds needs{};
  Right watch = Right::read;  ///< what others need to see what it prints
  bool tells_drift = false;   ///< its exit code says whether something is due or has changed
};

struct PageService;

/// Who has a command run, and by which right it was let in.
struct Permit {
  Grant grant;
  Right needed = Right::admin;
  /// What a file of the client names, and where he is: text that he may read, no setting of ours.
  std::map<std::string, std::string> variables{};
  const PageService* page = nullptr;  ///< it serves the page to one session; null: it is a command
};

/// A command of a server, as it sees itself.
struct ServedCaller {
  const CommandRequest& request;
  const std::string& root;  ///< stands for `/` of the client
  const Grant& grant;
  const std::optional<std::string>& zone;  ///< `TZ` of the server
  const PageService* page = nullptr;       ///< as in its permit
};

/// What runs commands: the program.
struct CommandHost {
  /// Error (`Blame::user`): such a command is not run for others.
  std::function<Result<CommandLook>(const CommandRequest& request)> look;
  /// In a process of its own; `root` stands for `/` of the client. The exit code.
  std::function<int(const CommandRequest& request, const std::string& root, const Permit& permit)>
      run;
  /// Fetches a branch (none: the default one) of a repository of git; the folder with its files,
  /// whose name ends with `@` and the commit, in `folder`. Null: there is no git.
  std::function<Result<std::string>(const Path& folder, const std::string& url,
                                    const std::string& branch)>
      fetch{};
};

struct ServeSettings {
  std::string host = "127.0.0.1";  ///< an address or a name of this machine; empty: all addresses
  int port = 0;                    ///< 0: any that is free
  int inherited = -1;              ///< a socket that listens, to be taken over; -1: there is none
  std::string token{};             ///< its own, which may do everything
  std::string version{};
  Path home{};                                 ///< where its tokens are
  std::optional<TlsFiles> tls{};               ///< none: in clear text
  std::optional<ServerAddress> by_proxy{};     ///< where a reverse proxy brings clients from
  std::vector<std::string> trusted_proxies{};  ///< addresses that may say for whom they ask
  bool page = false;                           ///< browsers get the page
  std::optional<OidcSettings> oidc{};          ///< who names people at the page, beside tokens
  std::function<Time()> clock = now_from_clock;
  size_t connections = 64;  ///< at once, runs without a client among them
  StrangerLimits strangers{};
  size_t agents = 4'096;  ///< at once; they are none of the connections
  size_t views = 256;     ///< connections of the page at once, which are none of the others either
  Duration header_limit = 10s;
  Duration upload_limit = 30s;   ///< for the next bytes of what was asked for
  Duration idle_limit = 60s;     ///< for the next command of a connection
  Duration agent_silence = 30s;  ///< after which an agent counts as gone
  Duration write_limit = 30s;    ///< for a client that takes nothing, at the end of a command
  Duration sign_pause = 20s;     ///< between signs of life: what stands between cuts a silent line

  /// For mirrors, runs and the audit.
  Path folder() const { return home / "serve"; }
};

/// Who has connected, and how.
struct Caller {
  std::string from;  ///< the other end of the connection: `127.0.0.1:40000`
  CalledAt at;       ///< with TLS, the process at the other end speaks it
  Seats& seats;
  size_t seat = 0;   ///< his own
  int hub = -1;      ///< where agents are handed over
  int handing = -1;  ///< where the process that speaks TLS gives its client's socket
};

/// Talks with a client until all is said. The exit code of the process.
int serve_connection(Descriptor socket, const Caller& caller, const ServeSettings& settings,
                     const CommandHost& host);

}  // namespace fettle
