#pragma once
/// Commands in running containers.

#include <string>
#include <vector>

#include "base/http_connection.h"
#include "drivers/engine/containers.h"

namespace fettle {

/// Runs to the end, hands over the output as it comes, and answers the exit code. A program that
/// does not exist has 126 or 127, and its output says so. When nobody waits for the end any more
/// (a stop, a limit, a sink that refuses), the command is ended where that is possible: engines
/// would let it run on, so its processes must be of this machine and ours to signal.
Result<int64_t> run_exec(Engine& engine, const std::string& container, const ExecOptions& options,
                         const StreamSink& sink, std::stop_token stop);

/// Without the words of an engine about itself, which come in the midst of a command's output.
StreamSink without_engine_noise(StreamSink sink);

/// A command with input, or a terminal. The output comes in frames (`frame_sink`) without a tty.
struct OpenExec {
  std::string id;
  HttpConnection connection;
};
Result<OpenExec> open_exec(Engine& engine, const std::string& container, const ExecOptions& options,
                           std::stop_token stop);
/// Ends the session that a command leads, where that is possible: on this machine.
void end_exec(Engine& engine, const std::string& container, const std::string& id);
/// Of a command that has ended.
Result<int64_t> exec_code(Engine& engine, const std::string& id, std::stop_token stop);
Status resize_exec(Engine& engine, const std::string& id, int rows, int columns,
                   std::stop_token stop);

}  // namespace fettle
