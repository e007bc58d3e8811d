#include "drivers/engine/exec.h"

#include <csignal>
#include <filesystem>

#include "base/file.h"
#include "base/shutdown_hold.h"
#include "base/text.h"
#include "base/wait.h"
#include "value/json.h"

namespace fettle {
namespace {

Value list_of(const std::vector<std::string>& texts) {
  return Value::list(std::vector<Value>(texts.begin(), texts.end()));
}

Result<std::string> create_exec(Engine& engine, const std::string& container,
                                const ExecOptions& options, std::stop_token stop) {
  std::vector<Entry> entries{{"AttachStdout", true},
                             {"AttachStderr", true},
                             {"AttachStdin", options.input},
                             {"Tty", options.tty},
                             {"Cmd", list_of(options.command)}};
  if (!options.environment.empty())
    entries.push_back({"Env", list_of(options.environment)});
  if (!options.user.empty())
    entries.push_back({"User", options.user});
  if (!options.directory.empty())
    entries.push_back({"WorkingDir", options.directory});
  const EngineAnswer answer = TRY(engine.ask({.method = "POST",
                                              .path = cat("/containers/", container, "/exec"),
                                              .body = Value::dict(std::move(entries))},
                                             stop));
  // Docker answers 409, Podman 500.
  if (answer.status == 409 ||
      answer.message().find("container state improper") != std::string::npos)
    return world_error("the service is not running");
  if (!answer.ok())
    return engine_error(answer);
  return std::string(answer.body.text_at("Id"));
}

EngineCall start_call(const std::string& id, const ExecOptions& options) {
  return {.method = "POST",
          .path = cat("/exec/", id, "/start"),
          .body = Value::dict({{"Detach", false}, {"Tty", options.tty}})};
}

/// A command may be silent for as long as it runs.
Status command_runs_still(Engine& engine, const std::string& id, const std::stop_token& stop) {
  const EngineAnswer answer = TRY(engine.ask({.path = cat("/exec/", id, "/json")}, stop));
  if (!answer.ok() || !answer.body.bool_at("Running"))
    return world_error("the engine does not end the output of the command");
  return {};
}

/// Podman writes into the output of a command that its own end of a socket was reset.
bool is_engine_noise(std::string_view bytes) {
  bytes = trim(bytes);
  return bytes.starts_with("Error: read unixpacket @->/proc/self/fd/") &&
         bytes.ends_with("/attach: read: connection reset by peer") &&
         bytes.find('\n') == bytes.npos;
}

Error took_longer(Duration limit, bool is_general = true) {
  return world_error(
      is_general ? cat("the command took longer than `--command-timeout` (", to_string(limit), ")")
                 : cat("the command took longer than ", to_string(limit)));
}

/// To end a command: as long as the engine answers, once it does not, and for one answer.
constexpr Duration limit_of_an_end = 5s, limit_of_silence = 2s, limit_of_look = 1s;
constexpr size_t full_id = 64;

std::string of_process(std::string_view process, std::string_view file) {
  return read_file(Path("/proc") / process / file).value_or("");
}

/// Finds processes of this machine. They may end meanwhile.
template <typename Matches>
std::string find_process(const Matches& matches) {
  std::error_code failed;
  for (std::filesystem::directory_iterator at("/proc", failed), end; !failed && at != end;
       at.increment(failed)) {
    const std::string name = at->path().filename();
    if (name.find_first_not_of("0123456789") == name.npos && matches(name))
      return name;
  }
  return {};
}

/// The process of a session that Podman counts as over because its other side has gone: the child
/// of the monitor that was started for it. 0: there is none.
int64_t child_of_monitor(const std::string& id) {
  const std::string monitor = find_process([&](const std::string& process) {
    const std::string words = of_process(process, "cmdline");
    return words.find("conmon") != words.npos && words.find(id) != words.npos;
  });
  if (monitor.empty())
    return 0;
  const std::string child = find_process([&](const std::string& process) {
    // `42 (name) S 7 …`: its parent is 7. The monitor has a child with the same program.
    const std::string stat = of_process(process, "stat");
    const size_t name = stat.rfind(')');
    return name != stat.npos && stat.find("(conmon)") == stat.npos && name + 4 <= stat.size() &&
           stat.substr(name + 4).starts_with(monitor + " ");
  });
  return child.empty() ? 0 : std::stoll(child);
}

}  // namespace

StreamSink without_engine_noise(StreamSink sink) {
  return [sink = std::move(sink)](OutputStream stream, std::string_view bytes) {
    return is_engine_noise(bytes) ? Status() : sink(stream, bytes);
  };
}

void end_exec(Engine& engine, const std::string& container, const std::string& id) {
  if (!engine.address().is_local() || container.size() < full_id)
    return;
  const ShutdownHold hold;
  // Output can arrive a moment before the engine has noted the process that writes it.
  const auto began = std::chrono::steady_clock::now();
  auto heard = began;
  for (Duration pause = 1ms; left_of(limit_of_an_end, began) > 0s;
       pause = std::min<Duration>(pause * 2, 100ms)) {
    if (!pause_for(pause, {}) || left_of(limit_of_silence, heard) == 0s)
      return;
    const auto answer =
        engine.ask({.path = cat("/exec/", id, "/json"), .time_limit = limit_of_look}, {});
    if (!answer || answer->status >= 500)
      continue;
    heard = std::chrono::steady_clock::now();
    if (!answer->ok())
      return;
    const bool runs = answer->body.bool_at("Running");
    const int64_t pid = answer->body.integer_at("Pid");
    const Value& code = answer->body.at("ExitCode");
    // Podman has the exit code 0 for a command that it has not noted as begun, too.
    const bool is_noted = pid > 0 || answer->body.bool_at("CanRemove");
    if (!runs && is_noted && code.is_integer() && code.integer() >= 0)
      return;
    const int64_t process = runs ? pid : child_of_monitor(id);
    // The number belongs to the engine's machine, and an engine behind a socket may be on another
    // one.
    if (process > 1 &&
        of_process(std::to_string(process), "cgroup").find(container) != std::string::npos) {
      kill(static_cast<pid_t>(-process), SIGKILL);
      return;
    }
  }
}

Result<int64_t> exec_code(Engine& engine, const std::string& id, std::stop_token stop) {
  const auto began = std::chrono::steady_clock::now();
  // The stream ends a moment before the engine has noted the exit code.
  for (Duration pause = 1ms;; pause = std::min<Duration>(pause * 2, 50ms)) {
    const EngineAnswer answer = TRY(engine.ask({.path = cat("/exec/", id, "/json")}, stop));
    if (!answer.ok())
      return engine_error(answer);
    if (!answer.body.bool_at("Running") && answer.body.at("ExitCode").is_integer())
      return answer.body.integer_at("ExitCode");
    if (left_of(engine.limits().command, began) == 0s)
      return took_longer(engine.limits().command);
    TRY(pause_for(pause, stop));
  }
}

Result<int64_t> run_exec(Engine& engine, const std::string& container, const ExecOptions& options,
                         const StreamSink& sink, std::stop_token stop) {
  const std::string id = TRY(create_exec(engine, container, options, stop));
  EngineCall call = start_call(id, options);
  const Duration limit = options.time_limit > 0s ? options.time_limit : engine.limits().command;
  call.time_limit = limit > 0s ? limit : for_ever;
  call.still_at_it = [&](const std::stop_token& end) {
    return command_runs_still(engine, id, end);
  };
  const StreamSink shown = without_engine_noise(sink);
  call.sink = options.tty
                  ? [shown](std::string_view bytes) { return shown(OutputStream::out, bytes); }
                  : frame_sink(shown);
  // Until this thread has ended the command, the program does not leave: on a busy machine, the stop
  // may be heard here last of all.
  const ShutdownHold hold;
  // From here on, if the engine falls silent, nobody knows whether the command ran.
  const auto begun = [](auto result) {
    if (!result)
      result.error().unknown_outcome = true;
    return result;
  };
  const Instant began = instant_from_clock();
  const Result<EngineAnswer> asked = begun(engine.ask(std::move(call), stop));
  if (!asked) {
    end_exec(engine, container, id);
    const bool is_over = limit > 0s && has_taken(began, limit);
    const bool is_general = options.time_limit <= 0s;
    return is_over && !is_cancelled(asked.error())
               ? begun(Result<int64_t>(took_longer(limit, is_general)))
               : begun(Result<int64_t>(asked.error()));
  }
  const EngineAnswer& answer = *asked;
  // Docker refuses to start a program that is not there; then the exit code says so, too.
  if (!answer.ok() && answer.message().find("executable file not found") == std::string::npos)
    return engine_error(answer);
  if (!answer.ok())
    TRY(sink(OutputStream::errors, answer.message()));
  return begun(exec_code(engine, id, stop));
}

Result<OpenExec> open_exec(Engine& engine, const std::string& container, const ExecOptions& options,
                           std::stop_token stop) {
  const std::string id = TRY(create_exec(engine, container, options, stop));
  Result<HttpConnection> connection =
      HttpConnection::upgrade(engine.request(start_call(id, options)), stop);
  if (connection)
    return OpenExec{id, *std::move(connection)};
  // The engine may have said that it begins, and nobody would end it.
  if (stop.stop_requested())
    end_exec(engine, container, id);
  return std::move(connection).error();
}

Status resize_exec(Engine& engine, const std::string& id, int rows, int columns,
                   std::stop_token stop) {
  const EngineAnswer answer =
      TRY(engine.ask({.method = "POST",
                      .path = cat("/exec/", id, "/resize"),
                      .query = {{"h", std::to_string(rows)}, {"w", std::to_string(columns)}}},
                     stop));
  if (!answer.ok())
    return engine_error(answer);
  return {};
}

}  // namespace fettle
