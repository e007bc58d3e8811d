#pragma once
/// A command at a server, at the client's side: what it types, sends and gets to see.

#include <functional>
#include <string>

#include "base/time.h"
#include "remote/contexts.h"
#include "remote/request.h"
#include "remote/run_log.h"

namespace fettle {

/// What the client takes from its own program.
struct ClientPlace {
  std::string version;
  /// Prints a line for people on standard error.
  std::function<void(const std::string&)> tell;
  bool is_quiet = false;
};

/// What a command at a server came to.
struct ClientEnd {
  int code = 0;
  bool lost_reader = false;  ///< nobody reads our standard output any more
};

/// Runs the command there, with our standard streams. `named`: the files that travel. `is_reader`:
/// it ends with whoever reads its output. Errors: the server cannot be reached, refuses, or goes in
/// the middle; a run that goes on without us is named.
Result<ClientEnd> run_at_server(const ServerChoice& server, CommandRequest request,
                                const NamedFiles& named, bool is_reader, const ClientPlace& place);

/// Follows a run (0: the last one) until it ends.
Result<ClientEnd> attach_to_run(const ServerChoice& server, int64_t number,
                                const ClientPlace& place);

/// The runs of a server, the oldest first.
Result<std::vector<RunView>> runs_of_server(const ServerChoice& server, const ClientPlace& place);
/// Asks a run to stop, and tells which one.
Result<RunView> cancel_run(const ServerChoice& server, int64_t number, const ClientPlace& place);

/// Our variables that say how we want to be answered.
std::map<std::string, std::string> client_variables();

}  // namespace fettle
