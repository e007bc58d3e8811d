#include "model/plugins/user_plugins.h"

#include <fcntl.h>
#include <sys/file.h>

#include "base/text.h"
#include "model/evaluate/plugin_context.h"
#include "model/plugins/failing.h"
#include "model/plugins/plugin_values.h"
#include "model/plugins/python.h"
#include "programs/program.h"
#include "starlark/scan.h"
#include "starlark/starlark.h"
#include "value/json.h"
#include "value/yaml.h"

namespace fettle::model {
namespace {

constexpr uint64_t most_steps = 200'000'000;
constexpr uint64_t most_memory = uint64_t{512} << 20;

Path plugin_folder(const Program& program, const Space& space) {
  if (space.module != nullptr)
    return space.module->plugins;
  return space.name == "__config__" ? program.folder / "plugins" : Path();
}

std::vector<Path> files_of(const Path& folder) {
  std::set<Path> files;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed))
    if (entry.is_regular_file(failed))
      files.insert(entry.path());
  return {files.begin(), files.end()};
}

/// The text between `def name` and the colon that ends it. Empty: the file has no such function.
std::string signature_in(std::string_view text, std::string_view name) {
  const std::string head = cat("def ", name, "(");
  size_t at = text.starts_with(head) ? 0 : text.find(cat("\n", head));
  if (at == text.npos)
    return {};
  const size_t start = text.find('(', at);
  int depth = 0;
  for (at = start; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      at = text.find(c, at + 1);
      if (at == text.npos)
        return {};
    }
    depth += c == '(' || c == '[' || c == '{';
    depth -= c == ')' || c == ']' || c == '}';
    if (depth == 0 && c == ':')
      break;
  }
  std::string made = replace_all(text.substr(start, at - start), "\n", " ");
  return replace_all(made, "'", "\"");
}

/// A file of Starlark, and its session.
struct StarFile {
  starlark::Session session{starlark::Dialect::of(starlark::Profile::go),
                            {.steps = most_steps, .memory = most_memory}};
  starlark::ModulePtr module;
  std::optional<Error> error;
  bool looks_by_name = false;  ///< asks for attributes whose names it computes
  /// The lock that the present call holds. There is at most one, so that no two calls wait for each
  /// other.
  Path locked;
  Descriptor lock;
};

/// A path below the project. Error: it leads out of it.
Result<Path> path_below(const Path& folder, const std::string& path) {
  for (const Path& step : Path(path))
    if (step == ".." || Path(path).is_absolute())
      return user_error(cat("`", path, "` leaves the folder of the project"));
  return folder / path;
}

void lend_files(StarFile& file, const Path& folder) {
  using starlark::Want;
  file.session.predeclare(
      "read_text",
      file.session.native("read_text", [folder](starlark::Call& call) -> Result<starlark::Value> {
        static const starlark::Signature signature("read_text",
                                                   {{"path", Want::text}, {"default?"}});
        const auto given = TRY(signature.bind(call));
        const Path path = TRY(path_below(folder, starlark::text_of(given[0])));
        if (!file_exists(path) && !given[1].is_unset())
          return given[1];
        return call.heap().text(TRY(read_file(path)));
      }));
  file.session.predeclare(
      "read_yaml",
      file.session.native("read_yaml", [folder](starlark::Call& call) -> Result<starlark::Value> {
        static const starlark::Signature signature("read_yaml",
                                                   {{"path", Want::text}, {"default?"}});
        const auto given = TRY(signature.bind(call));
        const Path path = TRY(path_below(folder, starlark::text_of(given[0])));
        if (!file_exists(path) && !given[1].is_unset())
          return given[1];
        const std::string text = TRY(read_file(path));
        return call.heap().value(TRY(read_yaml(text, path.string(), YamlSchema::pyyaml)));
      }));
  file.session.predeclare(
      "write_text",
      file.session.native("write_text", [folder](starlark::Call& call) -> Result<starlark::Value> {
        static const starlark::Signature signature("write_text",
                                                   {{"path", Want::text}, {"text", Want::text}});
        const auto given = TRY(signature.bind(call));
        const Path path = TRY(path_below(folder, starlark::text_of(given[0])));
        if (Status status = make_directories(path.parent_path()); !status)
          return status.error();
        if (Status status = write_file(path, starlark::text_of(given[1])); !status)
          return status.error();
        return starlark::Value::none();
      }));
}

/// Waits until no other process holds the lock of a file, `path.lock` beside it.
Result<Descriptor> locked(const Path& path) {
  if (Status status = make_directories(path.parent_path()); !status)
    return status.error();
  const Path beside = cat(path.string(), ".lock");
  Descriptor made(open(beside.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!made.is_open())
    return file_error("cannot open", beside);
  while (flock(made.get(), LOCK_EX) != 0)
    if (errno != EINTR)
      return file_error("cannot lock", beside);
  return made;
}

void lend_lock(StarFile& file, const Path& folder) {
  using starlark::Want;
  file.session.predeclare(
      "lock",
      file.session.native("lock", [&file, folder](starlark::Call& call) -> Result<starlark::Value> {
        static const starlark::Signature signature("lock", {{"path", Want::text}});
        const auto given = TRY(signature.bind(call));
        const Path path = TRY(path_below(folder, starlark::text_of(given[0])));
        if (file.lock.is_open() && file.locked != path)
          return user_error("a call of a plugin locks one file");
        if (!file.lock.is_open())
          file.lock = TRY(locked(path));
        file.locked = path;
        return starlark::Value::none();
      }));
}

std::shared_ptr<StarFile> load_star(const Program& program, const Path& path,
                                    const std::string& text) {
  auto file = std::make_shared<StarFile>();
  lend_files(*file, program.folder);
  lend_lock(*file, program.folder);
  Result<starlark::ModulePtr> module = file->session.run(path.string(), text);
  for (const std::string_view name : {"getattr", "hasattr", "dir"})
    file->looks_by_name |= text.find(name) != text.npos;
  if (module)
    file->module = *module;
  else
    file->error = module.error();
  file->lock.close();
  return file;
}

/// Whether a call failed because it asked for a withheld attribute. Then the result is unknown, or
/// the call waits for it, or it fails because of a reference.
bool asked_for(PluginCall& call, const std::vector<Withheld>& withheld,
               const std::string& message) {
  bool is_found = false;
  for (const Withheld& one : withheld)
    if (message.find(cat("struct has no .", one.name, " attribute")) != message.npos) {
      is_found = true;
      if (one.tag == Tag::unset)
        call.context.member(one.instance, one.slot);
      else if (one.tag == Tag::unknown)
        call.met_unknown = true;
      else
        call.exception = reference_text(one.name);
    }
  return is_found;
}

bool run_star(PluginCall& call, StarFile& file, const Plugin& plugin, const std::string& name) {
  if (file.error) {
    call.told = to_string(*file.error);
    return false;
  }
  starlark::Thread thread(file.session);
  std::vector<starlark::Value> positional;
  std::vector<starlark::NamedValue> named;
  std::deque<starlark::Handle> kept;
  PluginLoan lent;
  lent.withholds = !file.looks_by_name;
  const auto convert = [&](const Datum& datum) -> std::optional<starlark::Value> {
    if (datum.tag == Tag::reference) {
      call.exception = reference_text("a value");
      return std::nullopt;
    }
    Result<starlark::Value> value = to_starlark(call, thread, datum, lent);
    if (!value) {
      call.exception = value.error().message;
      return std::nullopt;
    }
    kept.emplace_back(thread, *value);
    return *value;
  };
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const auto value = convert(call.arguments[i]);
    if (!value)
      return false;
    if (plugin.parameters[i].is_named_only)
      named.push_back({plugin.parameters[i].name, *value});
    else
      positional.push_back(*value);
  }
  for (const Datum& datum : call.rest) {
    const auto value = convert(datum);
    if (!value)
      return false;
    positional.push_back(*value);
  }
  for (const DictEntry& entry : call.named_rest) {
    const auto value = convert(entry.value);
    if (!value)
      return false;
    named.push_back({entry.key->view, *value});
  }
  const Result<starlark::Value> result = thread.call(*file.module->get(name), positional, named);
  // A plugin locks what it keeps, and gives what it keeps to nobody else.
  const bool is_allocation = file.lock.is_open();
  file.lock.close();
  if (const Status looks = check_looks(call, lent); !looks)
    return call.fail(looks.error().message);
  if (!result) {
    const std::string& message = result.error().message;
    if (asked_for(call, lent.withheld, message))
      return false;
    if (message.starts_with("fail: "))
      call.told = message.substr(6);
    else
      call.exception = to_string(result.error());
    return false;
  }
  const Result<Datum> datum = from_starlark(call, thread, *result, lent);
  if (datum && is_allocation)
    call.context.allocate(*datum);
  return datum ? call.give(*datum) : call.fail(cat("TypeError: ", datum.error().message));
}

/// An executable, and its answer to the question of what it can do.
struct Executable {
  explicit Executable(const Path& path)
      : program({.arguments = {std::filesystem::absolute(path).string()}}) {}
  fettle::Program program;
  Result<Value> described{Value()};
};

/// Sends one line to an executable, and returns its answer, which has `wanted` or `error`.
Result<Value> ask(Executable& executable, const Path& path, const Value& request,
                  std::string_view wanted, Duration time_limit) {
  Value answer = TRY(executable.program.call({.request = request, .time_limit = time_limit}, {})
                         .context(path.string()));
  if (answer.find(wanted) == nullptr && answer.find("error") == nullptr)
    return user_error(
        cat(path.string(), " answered no `", wanted, "`, but ", clipped(write_json(answer), 500)));
  return answer;
}

/// The arguments by the names of the parameters; `*rest` is a list, `**more` a dict.
Result<Value> named_arguments(PluginCall& call, const Plugin& plugin) {
  std::vector<Entry> arguments;
  for (size_t i = 0; i < call.arguments.size(); ++i)
    arguments.push_back(
        {fettle::Name(plugin.parameters[i].name), TRY(to_value(call, call.arguments[i]))});
  if (plugin.rest) {
    std::vector<Value> rest;
    for (const Datum& datum : call.rest)
      rest.push_back(TRY(to_value(call, datum)));
    arguments.push_back({fettle::Name(plugin.rest->name), Value::list(std::move(rest))});
  }
  if (plugin.named_rest) {
    std::vector<Entry> more;
    for (const DictEntry& entry : call.named_rest)
      more.push_back({fettle::Name(entry.key->view), TRY(to_value(call, entry.value))});
    arguments.push_back({fettle::Name(plugin.named_rest->name), Value::dict(std::move(more))});
  }
  return Value::dict(std::move(arguments));
}

bool run_executable(PluginCall& call, Executable& executable, const Path& path,
                    const Plugin& plugin, const std::string& name) {
  const Result<Value> arguments = named_arguments(call, plugin);
  if (!arguments)
    return call.fail(arguments.error().message);
  if (call.is_waiting())
    return false;
  const Result<Value> answer =
      ask(executable, path, Value::dict({{"call", Value(name)}, {"arguments", *arguments}}),
          "result", call.context.program().plugin_time_limit);
  if (!answer) {
    call.told = to_string(answer.error());
    return false;
  }
  if (const Value* error = answer->find("error")) {
    call.told = to_text(*error);
    return false;
  }
  const Result<Datum> result = from_value(call, answer->at("result"));
  if (!result)
    return call.fail(cat("TypeError: ", result.error().message));
  if (answer->bool_at("allocated"))
    call.context.allocate(*result);
  return call.give(*result);
}

std::shared_ptr<Plugin> with_signature(Program& program, Space& space, const std::string& signature,
                                       const Path& file) {
  auto made = std::make_shared<Plugin>();
  if (!read_signature(program, space, signature, *made))
    return failing_plugin(cat("cannot read the signature `", signature, "` in ", file.string()));
  return made;
}

std::shared_ptr<Plugin> star_plugin(Program& program, Space& space, const Path& path,
                                    const std::string& name) {
  const Result<std::string> text = read_file(path);
  if (!text)
    return nullptr;
  // If a file cannot be read up to its function, loading it gives the reason.
  std::string signature =
      starlark::signature_of(*text, starlark::Dialect::of(starlark::Profile::go), name);
  if (signature.empty())
    signature = signature_in(*text, name);
  if (signature.empty())
    return nullptr;
  auto made = with_signature(program, space, signature, path);
  if (made->run)
    return made;
  auto& kept = program.plugin_files[path.string()];
  if (kept == nullptr)
    kept = load_star(program, path, *text);
  made->run = [file = std::static_pointer_cast<StarFile>(kept), plugin = made.get(),
               name](PluginCall& call) { return run_star(call, *file, *plugin, name); };
  return made;
}

std::shared_ptr<Plugin> executable_plugin(Program& program, Space& space, const Path& path,
                                          const std::string& name) {
  auto& kept = program.plugin_files[path.string()];
  const bool is_new = kept == nullptr;
  if (is_new)
    kept = std::make_shared<Executable>(path);
  const auto executable = std::static_pointer_cast<Executable>(kept);
  if (is_new)
    executable->described = ask(*executable, path, Value::dict({{"describe", Value(true)}}),
                                "plugins", program.plugin_time_limit);
  const Result<Value>& described = executable->described;
  if (!described)
    return failing_plugin(to_string(described.error()));
  const Value* signature = described->at("plugins").find(name);
  if (signature == nullptr || !signature->is_text())
    return nullptr;
  auto made = with_signature(program, space, to_text(*signature), path);
  if (!made->run)
    made->run = [executable, path, plugin = made.get(), name](PluginCall& call) {
      return run_executable(call, *executable, path, *plugin, name);
    };
  return made;
}

}  // namespace

std::shared_ptr<Plugin> failing_plugin(std::string reason) {
  auto made = std::make_shared<Plugin>();
  made->rest = PluginParameter{"args", {}, {}, false};
  made->named_rest = PluginParameter{"kwargs", {}, {}, false};
  made->run = [reason = std::move(reason)](PluginCall& call) {
    call.told = reason;
    return false;
  };
  return made;
}

std::shared_ptr<Plugin> find_user_plugin(Program& program, Space& space, std::string_view name) {
  const Path folder = plugin_folder(program, space);
  if (folder.empty() || name.starts_with('_'))
    return nullptr;
  const std::string wanted(name);
  const std::vector<Path> files = files_of(folder);
  for (const Path& file : files)
    if (file.extension() == ".star")
      if (auto made = star_plugin(program, space, file, wanted))
        return made;
  for (const Path& file : files)
    if (file.extension() != ".star" && file.extension() != ".py" && access(file.c_str(), X_OK) == 0)
      if (auto made = executable_plugin(program, space, file, wanted))
        return made;
  return find_python_plugin(program, space, folder, name);
}

}  // namespace fettle::model
