#include "drivers/host/commands.h"

#include <algorithm>

#include <unistd.h>

#include "base/http.h"
#include "base/process.h"
#include "base/tail.h"
#include "base/text.h"
#include "base/words.h"
#include "core/open_payload.h"
#include "value/hidden.h"
#include "value/json.h"
#include "value/mask.h"
#include "value/yaml.h"

namespace fettle {
namespace {

Duration time_limit_of(const HostCommand& wanted) {
  const Value& timeout = wanted.timeout;
  const double seconds =
      timeout.is_real() ? timeout.real() : static_cast<double>(Hole<int64_t>(timeout).get());
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

/// The path of a program in the given folders. Empty: it is in none.
std::string find_in(std::string_view folders, const std::string& program) {
  if (folders.empty() || program.find('/') != program.npos)
    return find_program(program).string();
  for (const std::string_view folder : split(folders, ':'))
    if (const Path candidate = Path(folder) / program;
        !folder.empty() && access(candidate.c_str(), X_OK) == 0)
      return candidate.string();
  return {};
}

/// Bytes of an output, and thus a limit for its lines.
constexpr size_t most_told = 64 * 1024;

struct CommandRun {
  bool found = true;  ///< else there is no such program
  int code = 0;
  std::string lines;  ///< the last ones of both streams
  std::string output{}, errors{};
};

bool is_hidden(const OutputRequest& told, std::string_view name) {
  const auto hidden = told.hidden.items();
  return std::ranges::find(hidden, Value(name)) != hidden.end();
}

/// Whether nobody may read what it prints.
bool hides_output(const HostCommand& wanted) {
  return wanted.told && (is_hidden(*wanted.told, "stdout") || is_hidden(*wanted.told, "stderr"));
}

Result<CommandRun> run_words(const HostCommand& wanted, std::string_view command,
                             const std::stop_token& stop) {
  Invocation invocation;
  invocation.arguments = TRY(split_command(command));
  const std::string_view path = wanted.path.view();
  const std::string program = find_in(path, invocation.arguments[0]);
  if (program.empty())
    return CommandRun{false, 127, cat("the program `", invocation.arguments[0], "` is not found")};
  invocation.arguments[0] = program;
  if (!path.empty())
    invocation.environment.emplace_back("PATH", path);
  for (const Entry& variable : wanted.environment.entries()) {
    const Value& value = variable.value;
    invocation.environment.emplace_back(variable.key.str(),
                                        to_text(value.is_secret() ? value.inside() : value));
  }
  invocation.directory = Path(wanted.cwd.view());
  invocation.time_limit = time_limit_of(wanted);
  Tail tail, output(most_told), errors(most_told);
  const auto into_both = [&tail](Tail& own) -> ByteSink {
    return [&tail, &own](std::string_view bytes) -> Status {
      tail.add(bytes);
      own.add(bytes);
      return {};
    };
  };
  invocation.on_output = into_both(output);
  invocation.on_errors = into_both(errors);
  Result<ProcessResult> finished = run_process(invocation, stop);
  if (!finished) {
    Error error = std::move(finished).error();
    if (!is_cancelled(error) && !tail.lines().empty() && !hides_output(wanted))
      error.message += cat("; its last lines:\n", tail.lines());
    return error;
  }
  return CommandRun{true, finished->code, tail.lines(), output.lines(most_told),
                    errors.lines(most_told)};
}

bool is_guarded(const HostCommand& wanted) {
  return !wanted.creates.empty() || !wanted.unless.empty() || !wanted.onlyif.empty();
}

/// Why the command has to run; empty: its conditions say that it has not.
Result<std::string> why_due(const HostCommand& wanted, const std::stop_token& stop) {
  std::string why = "no condition prevents it";
  if (const std::string creates = wanted.creates.get().str(); !creates.empty()) {
    if (access(creates.c_str(), F_OK) == 0)
      return std::string();
    why = cat("`", creates, "` does not exist");
  }
  if (const std::string_view unless = wanted.unless.view(); !unless.empty()) {
    const CommandRun ran = TRY(run_words(wanted, unless, stop).context("running `unless`"));
    if (ran.found && ran.code == 0)
      return std::string();
    why = cat("`", unless, "` exited with code ", ran.code);
  }
  if (const std::string_view onlyif = wanted.onlyif.view(); !onlyif.empty()) {
    const CommandRun ran = TRY(run_words(wanted, onlyif, stop).context("running `onlyif`"));
    if (!ran.found || ran.code != 0)
      return std::string();
    why = cat("`", onlyif, "` exited with code 0");
  }
  return why;
}

Result<CommandRun> run_checked(const HostCommand& wanted, std::string_view command,
                               const std::stop_token& stop) {
  CommandRun ran = TRY(run_words(wanted, command, stop));
  if (!ran.found)
    return world_error(ran.lines);
  const auto codes = wanted.returns.items();
  if (std::find(codes.begin(), codes.end(), Value(ran.code)) == codes.end())
    return world_error(cat(
        "`", command, "` exited with code ", ran.code,
        ran.lines.empty() || hides_output(wanted) ? "" : cat("; its last lines:\n", ran.lines)));
  return ran;
}

/// If a command prints a secret that it was given, its output is one.
Value marked(Value value, const Mask& mask) {
  return mask.value(value) == value ? value : Value::secret(std::move(value));
}

/// The output of a command as a value; null: there is none. Error: it does not have the form.
Result<Value> read_output(std::string_view form, const std::string& output) {
  if (form == "text")
    return Value(output);
  if (form.empty() || trim(output).empty())
    return Value();
  Result<Value> read =
      form == "json" ? read_json(output) : read_yaml(output, {}, YamlSchema::pyyaml);
  if (!read)
    return world_error(cat("the command has run, but its output cannot be read as `render_pipe: ",
                           form, "` says: ", to_string(read.error())));
  return read;
}

/// What goes to either stream by itself, and what it says.
Result<ToldOutputs> told_outputs(const OutputRequest& told, const CommandRun& ran,
                                 const Mask& mask) {
  const auto as_told = [&](const char* name, Value value) {
    return is_hidden(told, name) ? hidden(value) : marked(std::move(value), mask);
  };
  Result<Value> state = read_output(told.form, ran.output);
  if (!state && (is_hidden(told, "stdout") || is_hidden(told, "state")))
    return world_error("the command has run, but its output is not what `render_pipe` says");
  return ToldOutputs{as_told("stdout", ran.output), as_told("stderr", ran.errors),
                     as_told("state", TRY(std::move(state)))};
}

Result<Outcome> run_what_is_due(const Act& act, const ProgressSink& progress,
                                const std::stop_token& stop) {
  const HostCommand wanted = read<HostCommand>(reveal(act.attributes));
  Mask mask;
  mask.add_marked(dict_of(act.attributes));
  for (const RecordPointer& need : act.needs)  // a part of them may be embedded
    mask.add_marked(dict_of(need->outputs));
  const std::string_view command = wanted.command.view(), reload = wanted.reload.view();
  const bool was_done = act.known != nullptr && act.known->applied && !act.known->attempt &&
                        act.known->applied->attributes == act.attributes;
  const bool event_only = was_done && !act.events.empty();
  bool runs = !wanted.purged.get() && !wanted.reload_only.get();
  if (runs && (!event_only || is_guarded(wanted)))
    runs = !TRY(why_due(wanted, stop)).empty();
  else
    runs = false;
  const bool reloads = !act.events.empty() && !wanted.purged.get() && !(runs && reload.empty());
  CommandRun last;
  for (const auto& [is_due, text] :
       {std::pair(runs, command), std::pair(reloads, reload.empty() ? command : reload)})
    if (is_due) {
      progress({.text = mask.text(text)});
      last = TRY(run_checked(wanted, text, stop));
    }
  CommandOutputs outputs{last.code, runs || reloads, marked(Value(last.lines), mask)};
  if (!wanted.told)
    return Done{write(outputs), {}, outputs.has_run};
  const ToldOutputs told = TRY(told_outputs(*wanted.told, last, mask));
  if (hides_output(wanted))
    outputs.output = hidden(outputs.output);
  return Done{with_members(write(outputs), told), {}, outputs.has_run};
}

}  // namespace

CommandSeen look_at_command(const HostCommand& wanted, const std::stop_token& stop) {
  if (!is_guarded(wanted) || wanted.reload_only.get() || wanted.purged.get())
    return {};
  const Result<std::string> why = why_due(wanted, stop);
  if (!why)
    return {true, to_string(why.error())};
  return {!why->empty(), *why};
}

Result<Outcome> run_command_act(const Act& act, const ProgressSink& progress,
                                const std::stop_token& stop) {
  Result<Outcome> outcome = run_what_is_due(act, progress, stop);
  if (!outcome && read<HostCommand>(act.attributes).skip_on_fail.get() &&
      !is_cancelled(outcome.error()))
    return Skipped{to_string(outcome.error())};
  return outcome;
}

}  // namespace fettle
