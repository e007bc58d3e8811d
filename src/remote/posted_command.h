#pragma once
/// `POST /api/commands`: a command of a program that speaks HTTP and JSON, and `POST
/// /api/runs/N/cancel`.
///
/// The obvious way runs it here, as documents are made (`api_answers.h`). Then it would end with
/// whoever waits for it, and runs would be made in two places. So the process of the connection does
/// what it does for any client, and a process between is that client: it sends what was posted in
/// frames, collects what comes, and answers by JSON. A command that takes longer than its caller
/// waits goes on, as a run whose client has gone.

#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "remote/posted_request.h"
#include "remote/session.h"
#include "remote/visit.h"

namespace fettle {

/// The largest body, in bytes.
constexpr size_t most_posted_bytes = 16 << 20;
/// How long a caller waits at most for the end of a command.
constexpr Duration longest_posted_wait = 600s;

struct PostedCommand {
  CommandRequest request;
  std::map<std::string, std::string> contents{};  ///< of its files, by their absolute paths
  std::string input{};
  Duration wait = 60s;
  bool is_reader = false;  ///< it only tells something, so it is no run
};

/// Errors (`Blame::user`): it is no JSON object, or a member is missing, unknown or of another type.
Result<PostedCommand> posted_command_of(std::string_view json);

/// The run of `/api/runs/N/cancel`. None: the path is another one.
std::optional<int64_t> run_to_cancel(std::string_view target);
bool is_posted_command(const UpgradeRequest& request);

/// Reads a request of somebody who has been let in, whose first `bytes` have come, and starts a process
/// that has `socket` and is its client. The other end of that client's line, or a reply that ends
/// the connection.
std::variant<Descriptor, std::string> take_posted(const Descriptor& socket, std::string bytes,
                                                  const Caller& caller,
                                                  const ServeSettings& settings,
                                                  const CommandHost& host, Visit& visit);

}  // namespace fettle
