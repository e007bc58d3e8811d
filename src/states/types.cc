#include "states/types.h"

#include <algorithm>

#include "base/hash.h"
#include "base/text.h"
#include "base/time.h"
#include "base/words.h"
#include "kinds/container.h"
#include "kinds/kinds.h"
#include "states/builtins.h"
#include "value/hidden.h"
#include "value/json.h"

namespace fettle::states {
namespace {

const Value nothing;

const Value& argument(const Chunk& chunk, std::string_view name) {
  for (const auto& [known, value] : chunk.arguments)
    if (known == name)
      return value;
  return nothing;
}

/// The name, with its references.
Value name_of(const Chunk& chunk) {
  return chunk.bound_name.is_null() ? Value(chunk.name) : chunk.bound_name;
}

/// Arguments under other names. Missing ones and nulls are left out.
std::vector<Entry> renamed(const Chunk& chunk,
                           std::initializer_list<std::pair<const char*, const char*>> names) {
  std::vector<Entry> entries;
  for (const auto& [parameter, attribute] : names)
    if (const Value& value = argument(chunk, parameter); !value.is_null())
      entries.push_back({attribute, value});
  return entries;
}

Error not_a_dict(std::string_view parameter, const Value& given) {
  return user_error(
      cat("`", parameter, "` must be a dictionary, not ", clipped(write_json(given), 200)));
}

/// Environment variables or labels, whose values are texts: a dictionary, or a list of
/// dictionaries. If the argument is secret, all of them are.
Result<std::vector<Entry>> texts_of(const Chunk& chunk, std::string_view parameter) {
  const Value& given = argument(chunk, parameter);
  const Value& plain = given.is_secret() ? given.inside() : given;
  std::vector<Value> dicts;
  if (plain.is_list())
    dicts.assign(plain.items().begin(), plain.items().end());
  else if (!plain.is_null())
    dicts.push_back(plain);
  std::vector<Entry> entries;
  for (const Value& dict : dicts) {
    if (!dict.is_dict())
      return not_a_dict(parameter, given);
    for (const Entry& entry : dict.entries()) {
      const Value& value = entry.value;
      const bool stays = value.is_text() || value.is_secret() || value.is_deferred();
      const Value text = stays ? value : Value(to_text(value));
      entries.push_back(
          {entry.key, given.is_secret() && !text.is_secret() ? Value::secret(text) : text});
    }
  }
  return entries;
}

/// The text with a newline at its end.
Value with_newline(const Value& text) {
  if (text.is_secret())
    return Value::secret(with_newline(text.inside()));
  if (text.is_text())
    return text.text().view().ends_with('\n') ? text : Value(cat(text.text(), "\n"));
  if (!text.is_deferred())
    return text;
  std::vector<fettle::Part> parts(text.parts().begin(), text.parts().end());
  if (parts.back().is_hole() || !parts.back().text.view().ends_with('\n'))
    parts.emplace_back(Name("\n"));
  return Value::deferred(std::move(parts), text.text_form());
}

/// A content that is no short text stands beside the records, as a blob (`put_sources`).
Entry content_of(const SourceContent& content) {
  return content.text != nullptr ? Entry{"content", Value(*content.text)}
                                 : Entry{"digest", content.digest};
}

Result<Value> file_attributes(const Chunk& chunk) {
  std::vector<Entry> entries =
      renamed(chunk, {{"mode", "mode"}, {"user", "owner"}, {"group", "group"}});
  entries.push_back({"path", name_of(chunk)});
  const Value& contents = argument(chunk, "contents");
  const Value& newline = argument(chunk, "contents_newline");
  const bool ends_line = !newline.is_bool() || newline.boolean();
  if (!contents.is_null())
    entries.push_back({"content", ends_line ? with_newline(contents) : contents});
  else if (chunk.content != nullptr)
    entries.push_back(content_of(*chunk.content));
  const bool hides =
      chunk.settings != nullptr && std::ranges::find(chunk.settings->sensitive, Name("content")) !=
                                       chunk.settings->sensitive.end();
  if (hides && entries.back().key == "content")
    entries.back().value = hidden(entries.back().value);
  return Value::dict(std::move(entries));
}

Result<Value> folder_attributes(const Chunk& chunk) {
  std::vector<Entry> entries =
      renamed(chunk, {{"mode", "mode"}, {"user", "owner"}, {"group", "group"}});
  entries.push_back({"path", name_of(chunk)});
  return Value::dict(std::move(entries));
}

Result<Value> link_attributes(const Chunk& chunk) {
  return Value::dict({{"path", name_of(chunk)}, {"leads_to", argument(chunk, "target")}});
}

Result<Value> gone_attributes(const Chunk& chunk) {
  return Value::dict({{"path", name_of(chunk)}, {"purged", true}});
}

/// A word, quoted for a POSIX shell.
std::string in_quotes(std::string_view word) {
  return cat("'", replace_all(word, "'", "'\\''"), "'");
}

constexpr std::string_view shell = "/bin/sh -c ";

/// A command as the kind takes it: words, quoted. The values of holes are not quoted: they come
/// through the environment.
class Command {
 public:
  explicit Command(const Chunk& chunk) : chunk_(chunk) {}

  Result<Value> text() {
    const Value& given = argument(chunk_, "cmd");
    const Value command = given.is_null() ? name_of(chunk_) : given;
    const Value& uses_shell = argument(chunk_, "shell");
    if (command.is_list() && command.items().empty())
      return user_error("`cmd` must have at least one word");
    if (command.is_list())
      return words(command);
    if (!command.is_text() && !command.is_deferred() && !command.is_secret())
      return user_error(cat("`cmd` must be a string or a list of words, not ", to_text(command)));
    const std::string prefix = umask();
    if (!uses_shell.is_bool() || !uses_shell.boolean()) {
      if (command.is_text())
        TRY(split_command(command.text()).context("`cmd`"));
      if (prefix.empty())
        return command;
      if (!command.is_text())
        return user_error("`umask` and a reference in `cmd` need `shell: true`");
      return Value(cat(shell, in_quotes(cat(prefix, "exec ", command.text()))));
    }
    if (command.is_text())
      return Value(cat(shell, in_quotes(cat(prefix, command.text()))));
    return Value(cat(shell, in_quotes(cat(prefix, evaluated(command)))));
  }

  /// Joins commands to one that succeeds if all of them do.
  Value all_of(const std::vector<Value>& commands) {
    std::string text;
    for (const Value& command : commands)
      text += cat(text.empty() ? "" : " && ", "{ ",
                  command.is_text() ? command.text().str() : evaluated(command), "\n}");
    return Value(cat(shell, in_quotes(text)));
  }

  /// The variables for holes, beside those of the state.
  Result<Value> environment() const {
    std::vector<Entry> entries = TRY(texts_of(chunk_, "env"));
    entries.insert(entries.end(), environment_.begin(), environment_.end());
    return Value::dict(std::move(entries));
  }

 private:
  /// The variable of the command's environment that will hold the value.
  std::string variable_of(const Value& value) {
    const std::string name = cat("FETTLE_", environment_.size() + 1);
    environment_.push_back({name, value});
    return name;
  }

  std::string evaluated(const Value& command) {
    return cat("eval \"$", variable_of(command), "\"");
  }

  std::string umask() const {
    const Value& mask = argument(chunk_, "umask");
    return mask.is_null() ? "" : cat("umask ", in_quotes(to_text(mask)), "; ");
  }

  Value words(const Value& command) {
    const std::string prefix = umask();
    std::string text;
    for (const Value& word : command.items()) {
      const bool is_plain = !word.is_deferred() && !word.is_secret();
      const std::string shown =
          is_plain ? in_quotes(to_text(word)) : cat("\"$", variable_of(word), "\"");
      text += cat(text.empty() ? "" : " ", shown);
    }
    if (environment_.empty() && prefix.empty())
      return Value(text);
    return Value(cat(shell, in_quotes(cat(prefix, "exec ", text))));
  }

  const Chunk& chunk_;
  std::vector<Entry> environment_;
};

/// How the output becomes `state` of the new state.
Result<std::string> form_of_output(const Chunk& chunk) {
  const Value& is_text = argument(chunk, "is_string_output");
  if (is_text.is_bool() && is_text.boolean())
    return std::string("text");
  const Value& pipe = argument(chunk, "render_pipe");
  if (pipe.is_null() || (pipe.is_text() && pipe.text().empty()))
    return std::string();
  if (pipe.is_text() && (pipe.text() == "json" || pipe.text() == "yaml"))
    return pipe.text().str();
  return user_error(cat("`render_pipe` must be `json` or `yaml`, not ", to_text(pipe)));
}

Result<Value> told_of(const Chunk& chunk) {
  std::vector<Value> hidden;
  if (chunk.settings != nullptr)
    for (const Name& name : chunk.settings->sensitive)
      hidden.emplace_back(name);
  return Value::dict(
      {{"state", TRY(form_of_output(chunk))}, {"hidden", Value::list(std::move(hidden))}});
}

Result<Value> command_attributes(const Chunk& chunk) {
  Command command(chunk);
  std::vector<Entry> entries = renamed(chunk, {{"cwd", "cwd"},
                                               {"timeout", "timeout"},
                                               {"creates", "creates"},
                                               {"success_retcodes", "returns"}});
  entries.push_back({"command", TRY(command.text())});
  if (chunk.settings != nullptr) {
    if (!chunk.settings->unless.empty())
      entries.push_back({"unless", command.all_of(chunk.settings->unless)});
    if (!chunk.settings->onlyif.empty())
      entries.push_back({"onlyif", command.all_of(chunk.settings->onlyif)});
  }
  entries.push_back({"environment", TRY(command.environment())});
  entries.push_back({"told", TRY(told_of(chunk))});
  if (chunk.function == "wait")
    entries.push_back({"reload_only", true});
  return Value::dict(std::move(entries));
}

Result<Value> ports_of(const Chunk& chunk, std::string_view parameter, const Value& wait) {
  const Value& ports = argument(chunk, parameter);
  if (!ports.is_null() && !ports.is_dict())
    return not_a_dict(parameter, ports);
  return container_ports(ports, wait);
}

/// How long ports are awaited, as the kind takes it. A number means seconds.
Value wait_of(const Value& given) {
  if (given.is_null())
    return Value("2m");
  return given.is_integer() ? Value(cat(given.integer_digits(), "s"))
         : given.is_real()
             ? Value(fettle::to_string(Duration(static_cast<int64_t>(given.real() * 1e9))))
             : given;
}

Result<Value> container_attributes(const Chunk& chunk) {
  const Value wait = wait_of(argument(chunk, "wait"));
  std::vector<Entry> entries = renamed(chunk, {{"image", "image"},
                                               {"entrypoint", "entrypoint"},
                                               {"command", "cmd"},
                                               {"mounts", "bind_mounts"},
                                               {"memory", "memory_max"},
                                               {"cpu", "cpu_max"},
                                               {"restart", "restart"}});
  entries.push_back({"ports", TRY(ports_of(chunk, "ports", wait))});
  entries.push_back({"public_ports", TRY(ports_of(chunk, "public_ports", Value()))});
  entries.push_back({"env", Value::dict(TRY(texts_of(chunk, "env")))});
  entries.push_back({"labels", Value::dict(TRY(texts_of(chunk, "labels")))});
  return Value::dict(std::move(entries));
}

Result<Value> no_container(const Chunk&) { return Value::dict({{"image", ""}, {"purged", true}}); }

constexpr std::string_view of_path = "path content digest owner leads_to";
constexpr std::string_view of_command = "stdout stderr retcode state";

}  // namespace

ModuleRow file_module() {
  const ParameterRow mode{"mode", "null", "octal, in quotes: `'0644'`", Shape::mode},
      user{"user", "null", "the owner", Shape::user},
      group{"group", "null", "the group", Shape::user};
  return {"file",
          "Files, folders and links of this machine. The name is the path.",
          {{"managed",
            Rest::none,
            MappedState{file_kind, "host", false, false, false, file_attributes, of_path},
            "A file with this content.",
            would_change,
            {{"contents", "null", "the content"},
             {"source", "null", "a file of the sources with the content"},
             {"contents_newline", "true", "end `contents` with a newline"},
             mode,
             user,
             group}},
           {"directory",
            Rest::none,
            MappedState{folder_kind, "host", false, false, false, folder_attributes, of_path},
            "A folder.",
            would_change,
            {mode, user, group}},
           {"symlink",
            Rest::none,
            MappedState{link_kind, "host", false, false, false, link_attributes, of_path},
            "A symbolic link.",
            would_change,
            {{"target", "", "the target of the link"}}},
           {"absent", Rest::none,
            MappedState{file_kind, "host", true, false, false, gone_attributes, of_path},
            "Nothing at this path.", would_change}}};
}

ModuleRow cmd_module() {
  const std::vector<ParameterRow> parameters{
      {"cmd", "null", "the command, a string or a list of words (default: the name)"},
      {"cwd", "null", "the folder in which it runs"},
      {"shell", "false", "run it in a shell, with pipes and variables"},
      {"env", "null", "environment variables", Shape::variables},
      {"umask", "null", "octal", Shape::umask},
      {"timeout", "null", "seconds", Shape::time_limit},
      {"creates", "null", "a path: the command does not run while it exists"},
      {"success_retcodes", "null", "exit codes that mean success (default: 0)", Shape::exit_codes},
      {"render_pipe", "null",
       "`json` or `yaml`: how to parse the output into `state` of the new state"},
      {"is_string_output", "false", "`state` is the output as a string"}};
  return {"cmd",
          "Commands of this machine.",
          {{"run", Rest::none,
            MappedState{command_kind, "host", false, false, true, command_attributes, of_command},
            "Runs a command. The new state has `stdout`, `stderr`, `retcode` and `state`.",
            "None: it would run", parameters},
           {"wait", Rest::none,
            MappedState{command_kind, "host", false, false, true, command_attributes, of_command},
            "Runs a command when something that it watches has changed.", "None: it would run",
            parameters}}};
}

ModuleRow container_module() {
  return {
      "container",
      "Containers on an engine. The name is that of the container.",
      {{"running",
        Rest::none,
        MappedState{service_kind, "engine", false, true, false, container_attributes, {}},
        "A running container.",
        would_change,
        {{"image", "", "a reference such as `nginx:1.27`"},
         {"entrypoint", "null", "a list of words (default: that of the image)"},
         {"command", "null", "a list of words (default: that of the image)"},
         {"env", "null", "environment variables", Shape::variables},
         {"ports", "null", "ports by ID: 80 or `53/udp`"},
         {"public_ports", "null", "ports of this machine by ID"},
         {"mounts", "null", "paths in the container, and the paths of this machine they map to"},
         {"labels", "null", "labels"},
         {"memory", "null", "limit in MB", Shape::count},
         {"cpu", "null", "limit in thousandths of a CPU", Shape::count},
         {"restart", "null", "`always` or `no` (default)", Shape::restart},
         {"wait", "null", "how long its ports may take to open (default: `2m`)", Shape::duration}}},
       {"absent", Rest::none,
        MappedState{service_kind, "engine", true, true, false, no_container, {}},
        "No container with this name.", would_change}}};
}

const MappedState* find_mapped(const Name& state, const Name& function) {
  const FunctionRow* row = find_builtin(state.view(), function.view());
  return row == nullptr ? nullptr : std::get_if<MappedState>(&row->act);
}

std::vector<const Kind*> kinds_of(const Name& state) {
  std::vector<const Kind*> kinds;
  const ModuleRow* module = find_builtin(state.view());
  if (module == nullptr)
    return kinds;
  for (const FunctionRow& row : module->functions)
    if (const auto* mapped = std::get_if<MappedState>(&row.act);
        mapped != nullptr && !mapped->is_absent &&
        std::ranges::find(kinds, &mapped->kind()) == kinds.end())
      kinds.push_back(&mapped->kind());
  return kinds;
}

}  // namespace fettle::states
