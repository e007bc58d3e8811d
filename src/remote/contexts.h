#pragma once
/// Servers by name, with their tokens: `FETTLE_HOME/contexts.json`, for its owner alone.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"

namespace fettle {

struct Context {
  std::string name, url, token;
  /// The certificates that its server's is signed by, as PEM; empty: those that the system knows.
  std::string authorities{};
};

struct Contexts {
  std::vector<Context> all;  ///< by name
  std::string used;          ///< the one that counts where none is named; empty: none

  const Context* find(std::string_view name) const;
};

/// None is there: no contexts. Errors (`Blame::user`): it is damaged, or others can read it.
Result<Contexts> read_contexts(const Path& file);
Status write_contexts(const Path& file, const Contexts& contexts);
/// Reads them, changes and writes them, while others who change them wait. What `change` refuses is
/// not written.
Status change_contexts(const Path& file, const std::function<Status(Contexts&)>& change);

/// Where a server listens.
struct ServerAddress {
  std::string host;  ///< an address of IPv6 without brackets
  int port = 0;
  bool is_secured = false;
  std::string path{};  ///< `/fettle`, behind which the server's paths are; empty: none
  /// `HOST:PORT`, as in a URL.
  std::string text() const;
};
/// Of `https://fettle.example:9790`, `http://127.0.0.1:9790`, or `https://example.org:443/fettle`. Errors (`Blame::user`): it is no such
/// URL, or it is in clear text and not on this machine.
Result<ServerAddress> parse_server_url(std::string_view url);

struct ServerChoice {
  std::string url, token;
  ServerAddress address;
  std::string authorities{};  ///< as in a context
};
/// What a command line and its surroundings say of a server.
struct ServerWords {
  std::string flag;           ///< `--server`: a URL, or the name of a context; empty: not given
  std::string variable;       ///< `$FETTLE_SERVER`, the same
  std::string token;          ///< `$FETTLE_TOKEN`, of the server that `variable` names, if it does
  std::string authorities{};  ///< `$FETTLE_TLS_CA`, a file: the same
};
/// The certificates of a file, as a context keeps them. Error (`Blame::user`): it has none.
Result<std::string> read_authorities(const Path& file);

/// Error (`Blame::user`): no header of a request can carry it. `what`: `the token`.
Status check_token(std::string_view token, std::string_view what);
/// The server that is meant: the flag, else the variable, else the context in use; `local` means
/// none. Errors (`Blame::user`): no context has the name, no token is known.
Result<std::optional<ServerChoice>> choose_server(const ServerWords& words, const Path& file);

}  // namespace fettle
