#include "drivers/state/plugins.h"

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "drivers/state/installed_packages.h"
#include "drivers/state/python_package.h"
#include "value/mask.h"

namespace fettle {
namespace {

constexpr std::array<std::string_view, 5> parts{"states", "exec", "reconcile", "tool", "acct"};
constexpr size_t most_files = 10'000;

/// The files below a part of a folder, sorted, without hidden ones and links to folders. A part
/// that is not there has none.
Result<std::vector<Path>> files_below(const Path& root) {
  std::vector<Path> files;
  std::error_code failed, ignored;
  if (!std::filesystem::is_directory(root, ignored))
    return files;
  std::filesystem::recursive_directory_iterator at(root, failed), end;
  for (; !failed && at != end; at.increment(failed)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with('.') || name == "__pycache__")
      at.disable_recursion_pending();
    else if (at->is_regular_file(ignored))
      files.push_back(at->path());
    if (files.size() > most_files)
      return user_error(cat("`", root.string(), "` has too many files for a plugin folder"));
  }
  if (failed)
    return user_error(cat("cannot read the plugins in `", root.string(), "`: ", failed.message()));
  std::sort(files.begin(), files.end());
  return files;
}

/// The path `states.cloud.vm` of `…/states/cloud/vm.star`.
std::string path_of(const Path& folder, const Path& file) {
  Path inside = std::filesystem::relative(file, folder);
  return replace_all(inside.replace_extension().string(), "/", ".");
}

/// The secrets that were given to the code.
Mask secrets_of(const PluginCall& call) {
  Mask mask;
  for (const Value* told : {&call.arguments, &call.context, &call.run})
    mask.add_marked(*told);
  for (const Value& value : call.positional)
    mask.add_marked(value);
  return mask;
}

/// The code's answer has no marks. A text that contains a secret, or a number that is one, is
/// marked again, and secrets are removed from comments.
Value marked(const Value& value, const Mask& mask) {
  if (mask.secrets().empty())
    return value;
  if (value.is_integer() || value.is_real())
    return mask.value(value) == value ? value : Value::secret(value);
  if (value.is_text())
    return mask.text(value.text()) == value.text().view() ? value : Value::secret(value);
  if (value.is_list()) {
    std::vector<Value> items;
    for (const Value& item : value.items())
      items.push_back(marked(item, mask));
    return Value::list(std::move(items));
  }
  if (!value.is_dict())
    return value;
  std::vector<Entry> entries;
  for (const Entry& entry : value.entries())
    entries.push_back(
        {entry.key, entry.key == "comment" ? mask.value(entry.value) : marked(entry.value, mask)});
  return Value::dict(std::move(entries));
}

Value dict_or_empty(const Value& value) { return value.is_dict() ? value : Value::dict({}); }

}  // namespace

/// The files of all folders, by what runs them.
struct Plugins::Found {
  std::vector<PluginFile> starlark, programs;
  bool has_python = false;

  Status look(const Path& folder, std::set<std::string>& known) {
    for (const std::string_view part : parts)
      for (const Path& file : TRY(files_below(folder / part))) {
        const std::string extension = file.extension().string();
        has_python |= extension == ".py";
        if (extension != ".star" && extension != ".plugin")
          continue;
        const std::string path = path_of(folder, file);
        if (known.insert(path).second)
          (extension == ".star" ? starlark : programs).push_back({path, file.string()});
      }
    return {};
  }
};

Plugins::Plugins(PluginOptions options, HttpClient& http)
    : options_(std::move(options)), http_(http) {}
Plugins::~Plugins() = default;

Status Plugins::open(std::stop_token stop) {
  Found found;
  std::set<std::string> known;
  std::vector<std::string> folders;
  for (const Path& folder : options_.folders) {
    const std::string absolute = std::filesystem::absolute(folder).lexically_normal().string();
    if (std::find(folders.begin(), folders.end(), absolute) != folders.end())
      continue;
    TRY(found.look(absolute, known));
    folders.push_back(absolute);
  }
  if (!found.starlark.empty())
    TRY(add(make_starlark_host(std::move(found.starlark), http_), stop));
  for (PluginFile& file : found.programs) {
    const std::string name = file.file;
    Status status = add(make_program_host(std::move(file)), stop);
    if (!status && stop.stop_requested())
      return status;
    if (!status)
      problems_.push_back(std::move(status).context(name).error());
  }
  folders_ = std::move(folders);
  return found.has_python ? start_python(stop) : Status();
}

Status Plugins::start_python(std::stop_token stop) {
  PythonOptions python{options_.python,  TRY(unpack_python(options_.home)).string(),
                       folders_,         functions_for_python(),
                       options_.options, options_.looks_for_packages,
                       options_.on_log};
  std::unique_ptr<PluginHost> host = make_python_host(python);
  python_ = host.get();
  return add(std::move(host), stop).context("loading plugins in Python");
}

Result<bool> Plugins::open_packages(std::stop_token stop) {
  if (!options_.looks_for_packages || has_packages_ || !has_installed_packages(options_.python))
    return false;
  has_packages_ = true;
  if (python_ == nullptr)
    TRY(start_python(stop));
  take(python_, TRY(python_->describe_packages(stop).context("loading installed packages")));
  return true;
}

Status Plugins::add(std::unique_ptr<PluginHost> host, std::stop_token stop) {
  take(host.get(), TRY(host->describe(stop)));
  hosts_.push_back(std::move(host));
  return {};
}

void Plugins::take(PluginHost* host, PluginModules found) {
  for (Error& problem : found.problems)
    problems_.push_back(std::move(problem));
  for (Error& problem : found.hidden)
    hidden_problems_.push_back(std::move(problem));
  for (const Value& module : found.modules) {
    const std::string path(module.text_at("path"));
    const std::string file(module.text_at("file"));
    if (module.bool_at("dynamic")) {
      modules_.push_back(module);
      dynamic_.emplace(path, host);
      continue;
    }
    if (module.bool_at("packaged") && is_own(path))
      continue;
    const auto [other, is_new] = files_.emplace(path, file);
    if (!is_new) {
      if (module.bool_at("packaged"))
        continue;
      problems_.push_back(
          user_error(cat("`", path, "` already exists: ", other->second), {file, 0, 0}));
      continue;
    }
    modules_.push_back(module);
    if (const Value& functions = module.at("functions"); functions.is_list())
      for (const Value& function : functions.items())
        functions_.emplace(cat(path, ".", function.text_at("name")), host);
  }
}

Value Plugins::functions_for_python() const {
  const std::span<const Entry> given = options_.functions.entries();
  std::vector<Entry> entries(given.begin(), given.end());
  for (const auto& [path, host] : functions_)
    if (path.starts_with("exec."))
      entries.push_back({path, false});
  return Value::dict(std::move(entries));
}

bool Plugins::is_own(std::string_view module) const {
  const std::string before = cat(module, ".");
  return std::ranges::any_of(options_.functions.entries(), [&](const Entry& function) {
    return function.key.view().starts_with(before);
  });
}

PluginHost* Plugins::host_of(std::string_view path) const {
  if (const auto found = functions_.find(path); found != functions_.end())
    return found->second;
  for (const auto& [before, host] : dynamic_)
    if (path.size() > before.size() + 1 && path.starts_with(before) && path[before.size()] == '.')
      return host;
  return nullptr;
}

bool Plugins::has(std::string_view path) const { return host_of(path) != nullptr; }

std::vector<std::string> Plugins::names(std::string_view before, std::string_view after) const {
  std::vector<std::string> found;
  for (const auto& [path, host] : functions_) {
    if (!path.starts_with(before) || !path.ends_with(after) ||
        path.size() <= before.size() + after.size())
      continue;
    const std::string_view name =
        std::string_view(path).substr(before.size(), path.size() - before.size() - after.size());
    if (name.find('.') == name.npos)
      found.emplace_back(name);
  }
  return found;
}

Result<Value> Plugins::answer(const Value& asked, const PluginCall& call,
                              const std::stop_token& stop) {
  const std::string_view path = asked.text_at("call");
  if (!has(path)) {
    if (!call.on_ask)
      return user_error(cat("there is no function `", path, "`"));
    return call.on_ask(asked);
  }
  PluginCall next = call;
  next.path = path;
  next.arguments = dict_or_empty(asked.at("arguments"));
  next.context = dict_or_empty(asked.at("context"));
  next.run = Value();
  next.only_known = false;
  next.positional.clear();
  if (const Value& positional = asked.at("positional"); positional.is_list())
    next.positional.assign(positional.items().begin(), positional.items().end());
  const PluginAnswer answered = TRY(this->call(next, stop));
  if (answered.verdict != PluginAnswer::Verdict::answered)
    return world_error(answered.why);
  return answered.result;
}

namespace {

/// Functions that call functions, on this thread.
class NestedCall {
 public:
  NestedCall() { ++depth_; }
  ~NestedCall() { --depth_; }
  NestedCall(const NestedCall&) = delete;
  NestedCall& operator=(const NestedCall&) = delete;
  static bool is_too_deep() { return depth_ > deepest; }
  static constexpr int deepest = 32;

 private:
  static thread_local int depth_;
};

thread_local int NestedCall::depth_ = 0;

}  // namespace

Result<PluginAnswer> Plugins::call(const PluginCall& call, std::stop_token stop) {
  PluginHost* const host = host_of(call.path);
  if (host == nullptr)
    return user_error(cat("there is no function `", call.path, "`"));
  const NestedCall nested;
  if (NestedCall::is_too_deep())
    return user_error(cat("functions call each other more than ", NestedCall::deepest, " deep"));
  Mask mask = secrets_of(call);
  PluginCall guarded = call;
  guarded.on_ask = [&](const Value& asked) -> Result<Value> {
    Value told = TRY(answer(marked(asked, mask), call, stop));
    mask.add_marked(told);  // on the thread of this call, as everything that the code says
    return told;
  };
  const auto& on_log = call.on_log ? call.on_log : options_.on_log;
  if (on_log)
    guarded.on_log = [&](std::string_view text) { on_log(mask.text(text)); };
  Result<PluginAnswer> answer = host->call(guarded, stop);
  if (!answer)
    return mask.error(std::move(answer).error()).context(cat("`", call.path, "`"));
  if (answer->secrets.is_list())
    for (const Value& secret : answer->secrets.items())
      if (secret.is_text())
        mask.add(secret.text());
  answer->why = mask.text(answer->why);
  answer->result = marked(answer->result, mask);
  answer->running = marked(answer->running, mask);
  return answer;
}

}  // namespace fettle
