#pragma once
/// The command that `schedule add` has a server run: its words are those behind the name.

#include "cli/command.h"
#include "cli/named_files.h"

namespace fettle {

struct ScheduledCommand {
  const Command* command = nullptr;
  CommandLine parsed;
  std::vector<std::string> words;
};

/// `parsed`: of `schedule add`. Errors (`Blame::user`): there is no such command, or it is none that
/// a server runs by itself.
Result<ScheduledCommand> scheduled_command(const CommandLine& parsed);

/// The files that travel with it.
void name_scheduled_files(const CommandLine& parsed, NamedFiles& named);

/// For a server, in the place of its client's files (`root`): the request for it that is kept.
/// Error (`Blame::user`): it reads its input or leaves something behind for its client, who is not
/// there.
Result<CommandRequest> request_of_schedule(const CommandLine& parsed, const CommandRequest& request,
                                           const std::string& root);

}  // namespace fettle
