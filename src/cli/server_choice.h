#pragma once
/// The server that a command line means, and what its client needs of this program.

#include "cli/command.h"
#include "remote/client.h"

namespace fettle {

/// By `--server`, `$FETTLE_SERVER`, or the context in use. None: the command runs here.
Result<std::optional<ServerChoice>> server_meant(Face& face);

ClientPlace client_place(const Face& face);

/// Runs the command at the server that is meant, with these words. None: it runs here. Errors
/// (`Blame::user`): it cannot run there; those of the server.
Result<std::optional<ClientEnd>> run_elsewhere(const Command& command,
                                               const std::vector<std::string>& words, Face& face);

/// Prints what may stand in place of the last word, as the server that is meant knows it. False: none
/// is meant.
bool complete_elsewhere(const std::vector<std::string>& words, Face& face);

/// Why a command, as it was called, is not run for others. None: it may be.
std::optional<Error> refusal_at_server(const Command& command, const CommandLine& parsed = {});

}  // namespace fettle
