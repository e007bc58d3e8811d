#include "drivers/host/commands.h"

#include <algorithm>

#include <unistd.h>

#include "base/http.h"
#include "base/process.h"
#include "base/tail.h"
#include "base/text.h"
#include "base/words.h"
#include "value/hidden.h"
#include "value/json.h"
#include "value/mask.h"
#include "value/yaml.h"

namespace fettle {
namespace {

Duration time_limit_of(const Value& attributes) {
  const Value& timeout = attributes.at("timeout");
  const double seconds = timeout.is_real()
                             ? timeout.real()
                             : static_cast<double>(attributes.integer_at("timeout", 300));
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

struct Ran {
  bool found = true;  ///< else there is no such program
  int code = 0;
  std::string lines;  ///< the last ones of both streams
  std::string output{}, errors{};
};

bool is_hidden(const Value& told, std::string_view name) {
  const Value& hidden = told.at("hidden");
  return hidden.is_list() && std::ranges::find(hidden.items(), Value(name)) != hidden.items().end();
}

/// Whether its output is hidden.
bool hides_output(const Value& attributes) {
  const Value& told = attributes.at("told");
  return is_hidden(told, "stdout") || is_hidden(told, "stderr");
}

Result<Ran> run_words(const Value& attributes, std::string_view command,
                      const std::stop_token& stop) {
  Invocation invocation;
  invocation.arguments = TRY(split_command(command));
  const std::string_view path = attributes.text_at("path");
  const std::string program = find_in(path, invocation.arguments[0]);
  if (program.empty())
    return Ran{false, 127, cat("the program `", invocation.arguments[0], "` is not found")};
  invocation.arguments[0] = program;
  if (!path.empty())
    invocation.environment.emplace_back("PATH", path);
  for (const Entry& variable : attributes.at("environment").entries()) {
    const Value& value = variable.value;
    invocation.environment.emplace_back(variable.key.str(),
                                        to_text(value.is_secret() ? value.inside() : value));
  }
  invocation.directory = Path(attributes.text_at("cwd"));
  invocation.time_limit = time_limit_of(attributes);
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
  Result<Finished> finished = run_process(invocation, stop);
  if (!finished) {
    Error error = std::move(finished).error();
    if (!is_cancelled(error) && !tail.lines().empty() && !hides_output(attributes))
      error.message += cat("; its last lines:\n", tail.lines());
    return error;
  }
  return Ran{true, finished->code, tail.lines(), output.lines(most_told), errors.lines(most_told)};
}

bool is_guarded(const Value& attributes) {
  return !attributes.text_at("creates").empty() || !attributes.text_at("unless").empty() ||
         !attributes.text_at("onlyif").empty();
}

/// Why the command has to run. Empty: its conditions say that it need not.
Result<std::string> why_due(const Value& attributes, const std::stop_token& stop) {
  std::string why = "no condition prevents it";
  if (const std::string creates(attributes.text_at("creates")); !creates.empty()) {
    if (access(creates.c_str(), F_OK) == 0)
      return std::string();
    why = cat("`", creates, "` does not exist");
  }
  if (const std::string_view unless = attributes.text_at("unless"); !unless.empty()) {
    const Ran ran = TRY(run_words(attributes, unless, stop).context("running `unless`"));
    if (ran.found && ran.code == 0)
      return std::string();
    why = cat("`", unless, "` exited with code ", ran.code);
  }
  if (const std::string_view onlyif = attributes.text_at("onlyif"); !onlyif.empty()) {
    const Ran ran = TRY(run_words(attributes, onlyif, stop).context("running `onlyif`"));
    if (!ran.found || ran.code != 0)
      return std::string();
    why = cat("`", onlyif, "` exited with code 0");
  }
  return why;
}

Result<Ran> run_checked(const Value& attributes, std::string_view command,
                        const std::stop_token& stop) {
  Ran ran = TRY(run_words(attributes, command, stop));
  if (!ran.found)
    return world_error(ran.lines);
  const auto codes = attributes.at("returns").items();
  if (std::find(codes.begin(), codes.end(), Value(ran.code)) == codes.end())
    return world_error(cat("`", command, "` exited with code ", ran.code,
                           ran.lines.empty() || hides_output(attributes)
                               ? ""
                               : cat("; its last lines:\n", ran.lines)));
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

/// Adds the output of each stream separately, and its value.
Status add_told(const Value& told, const Ran& ran, const Mask& mask, std::vector<Entry>& outputs) {
  const auto add = [&](const char* name, Value value) {
    value = is_hidden(told, name) ? hidden(value) : marked(std::move(value), mask);
    outputs.push_back({name, std::move(value)});
  };
  add("stdout", Value(ran.output));
  add("stderr", Value(ran.errors));
  Result<Value> state = read_output(told.text_at("state"), ran.output);
  if (!state && (is_hidden(told, "stdout") || is_hidden(told, "state")))
    return world_error("the command has run, but its output is not what `render_pipe` says");
  add("state", TRY(std::move(state)));
  if (is_hidden(told, "stdout") || is_hidden(told, "stderr"))
    for (Entry& entry : outputs)
      if (entry.key == "output")
        entry.value = hidden(entry.value);
  return {};
}

Result<Outcome> run_what_is_due(const Act& act, const ProgressSink& progress,
                                const std::stop_token& stop) {
  const Value attributes = reveal(act.attributes);
  Mask mask;
  mask.add_marked(act.attributes);
  for (const RecordPointer& need : act.needs)  // a part of them may be embedded
    mask.add_marked(need->outputs);
  const std::string_view command = attributes.text_at("command");
  const std::string_view reload = attributes.text_at("reload");
  const bool was_done = act.known != nullptr && act.known->applied && !act.known->attempt &&
                        act.known->applied->attributes == act.attributes;
  const bool event_only = was_done && !act.events.empty();
  bool runs = !attributes.bool_at("purged") && !attributes.bool_at("reload_only");
  if (runs && (!event_only || is_guarded(attributes)))
    runs = !TRY(why_due(attributes, stop)).empty();
  else
    runs = false;
  const bool reloads =
      !act.events.empty() && !attributes.bool_at("purged") && !(runs && reload.empty());
  Ran last;
  for (const auto& [wanted, text] :
       {std::pair(runs, command), std::pair(reloads, reload.empty() ? command : reload)})
    if (wanted) {
      progress({.text = mask.text(text)});
      last = TRY(run_checked(attributes, text, stop));
    }
  std::vector<Entry> outputs{
      {"code", last.code}, {"ran", runs || reloads}, {"output", marked(Value(last.lines), mask)}};
  if (const Value& told = attributes.at("told"); told.is_dict())
    TRY(add_told(told, last, mask, outputs));
  return Done{Value::dict(std::move(outputs)), {}, runs || reloads};
}

}  // namespace

Value look_at_command(const Value& attributes, const std::stop_token& stop) {
  const auto seen = [](bool due, std::string_view why) {
    return Value::dict({{"due", due}, {"why", why}});
  };
  if (!is_guarded(attributes) || attributes.bool_at("reload_only") || attributes.bool_at("purged"))
    return seen(false, "");
  const Result<std::string> why = why_due(attributes, stop);
  if (!why)
    return seen(true, to_string(why.error()));
  return seen(!why->empty(), *why);
}

Result<Outcome> run_command_act(const Act& act, const ProgressSink& progress,
                                const std::stop_token& stop) {
  Result<Outcome> outcome = run_what_is_due(act, progress, stop);
  if (!outcome && act.attributes.bool_at("skip_on_fail") && !is_cancelled(outcome.error()))
    return Skipped{to_string(outcome.error())};
  return outcome;
}

}  // namespace fettle
