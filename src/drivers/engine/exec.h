#pragma once
/// Runs commands in running containers.

#include <string>
#include <vector>

#include "base/http_connection.h"
#include "drivers/engine/containers.h"

namespace fettle {

/// Runs a command to its end, passes its output on as it comes, and returns the exit code. A
/// program that does not exist has 126 or 127, and its output says so. If nobody waits for the end
/// any more (a stop, a limit, a sink that refuses), the command is ended if possible, since engines
/// would let it run on. For that, its processes must be on this machine, and we must be allowed to
/// signal them.
Result<int64_t> run_exec(Engine& engine, const std::string& container, const ExecOptions& options,
                         const StreamSink& sink, std::stop_token stop);

/// Drops the messages of an engine about itself, which come in the middle of a command's output.
StreamSink without_engine_noise(StreamSink sink);

/// A command with input, or with a terminal. Without a terminal, its output comes in frames
/// (`frame_sink`).
struct OpenExec {
  std::string id;
  HttpConnection connection;
};
Result<OpenExec> open_exec(Engine& engine, const std::string& container, const ExecOptions& options,
                           std::stop_token stop);
/// Ends the session that a command leads, if possible: it must be on this machine. The command may
/// be about to begin.
void end_exec(Engine& engine, const std::string& container, const std::string& id);
/// The exit code of a command that has ended.
Result<int64_t> exec_code(Engine& engine, const std::string& id, std::stop_token stop);
Status resize_exec(Engine& engine, const std::string& id, int rows, int columns,
                   std::stop_token stop);

}  // namespace fettle
