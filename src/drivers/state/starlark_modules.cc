/// Modules in Starlark: every public function of a file. Functions that reach the world are lent
/// for each call (`drivers/handler/lent.h`); those of the host are called through `starlark_hub.h`.

#include <deque>
#include <map>

#include "base/file.h"
#include "base/tail.h"
#include "base/text.h"
#include "drivers/handler/lent.h"
#include "drivers/state/plugin.h"
#include "drivers/state/starlark_hub.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr uint64_t most_memory = 256 << 20;
constexpr Duration load_limit = 10s;
/// The limit of a call that has none.
constexpr Duration longest_call = 24h;

starlark::Dialect dialect() {
  starlark::Dialect made = starlark::Dialect::of(starlark::Profile::go);
  made.while_loops = true;
  return made;
}

/// An error of names or of the run, in one line, with everything else below it. Starlark lists all
/// errors of names, and the first one is among them.
Error told_once(Error error) {
  std::erase(error.trace, cat(to_string(error.where), ": ", error.message));
  for (const std::string& line : error.trace)
    error.excerpt += cat(error.excerpt.empty() ? "" : "\n", line);
  error.trace.clear();
  return error;
}

/// A file that was run: its functions, and what they may use. One call at a time.
class Instance {
 public:
  Instance(const PluginFile& file, HttpClient& http, Duration time_limit)
      : file_(file),
        time_limit_(time_limit),
        session_(dialect(), {.memory = most_memory, .wall_time = time_limit}) {
    loan_.http = &http;
    lend(session_, loan_);
    lend_host(session_, asking_);
    session_.print = [this](starlark::Thread&, std::string_view line) {
      said_.add(cat(line, "\n"));
      if (asking_.call != nullptr && asking_.call->on_log)
        asking_.call->on_log(line);
    };
  }

  Result<Value> described();
  Status run() {
    const std::string text = TRY(read_file(file_.file));
    loan_.ends = std::chrono::steady_clock::now() + time_limit_;
    Result<starlark::ModulePtr> module = session_.run(file_.file, text);
    if (!module)
      return told_once(std::move(module).error());
    module_ = std::move(*module);
    return {};
  }

  const starlark::Module& module() const { return *module_; }
  Duration time_limit() const { return time_limit_; }

  Result<PluginAnswer> call(const PluginCall& call, std::string_view function,
                            const std::stop_token& stop);

 private:
  Result<starlark::Value> given(starlark::Thread& thread, const Value& value) {
    return thread.heap().json(write_json(value, {.show_secrets = true}));
  }
  Result<PluginAnswer> judge(starlark::Thread& thread, Result<starlark::Value> result,
                             const std::stop_token& stop) const;

  PluginFile file_;
  Duration time_limit_;
  Loan loan_;
  HubCall asking_;
  Tail said_;
  starlark::Session session_;
  starlark::ModulePtr module_;
};

Result<PluginAnswer> Instance::call(const PluginCall& call, std::string_view function,
                                    const std::stop_token& stop) {
  const std::optional<starlark::Value> callee = module_->get(function);
  if (!callee || starlark::type_of(*callee) != starlark::Type::function)
    return user_error(cat("`", file_.path, "` has no function `", function, "`"));
  loan_.stop = stop;
  loan_.skipped.clear();
  loan_.ends = std::chrono::steady_clock::now() + time_limit_;
  asking_ = {&call, PluginAnswer::Verdict::answered, {}, {}, call.run.at("running")};
  session_.cancelled = false;
  const std::stop_callback on_stop(stop, [this] { session_.cancelled = true; });
  starlark::Thread thread(session_);
  std::deque<starlark::Handle> kept;
  std::vector<starlark::Value> positional;
  std::vector<starlark::NamedValue> named;
  const auto keep = [&](starlark::Value value) { return kept.emplace_back(thread, value).get(); };
  bool takes_rest = false;
  std::set<std::string> known;
  for (const starlark::ParameterInfo& parameter : starlark::parameters_of(*callee)) {
    takes_rest |= parameter.named_rest;
    known.insert(parameter.name);
    const bool is_hub = parameter.name == "hub";
    if ((!is_hub && parameter.name != "ctx") || parameter.rest || parameter.named_rest)
      continue;
    const starlark::Value value =
        keep(is_hub ? hub_of(thread, asking_) : TRY(context_of(thread, call.context)));
    if (positional.size() + named.size() + 1 == known.size() && !parameter.keyword_only)
      positional.push_back(value);
    else
      named.push_back({is_hub ? "hub" : "ctx", value});
  }
  for (const Value& value : call.positional)
    positional.push_back(keep(TRY(given(thread, value))));
  for (const Entry& entry : call.arguments.entries())
    if (!call.only_known || takes_rest || known.contains(entry.key.str()))
      named.push_back({entry.key.view(), keep(TRY(given(thread, entry.value)))});
  const Value& name = call.context.at("state_name");
  if (name.is_text() && known.contains("name") && call.positional.empty() &&
      call.arguments.find("name") == nullptr)
    named.push_back({"name", keep(TRY(given(thread, name)))});
  return judge(thread, thread.call(*callee, positional, named), stop);
}

Result<PluginAnswer> Instance::judge(starlark::Thread& thread, Result<starlark::Value> result,
                                     const std::stop_token& stop) const {
  if (stop.stop_requested())
    return cancelled_error();
  if (!result && !loan_.skipped.empty())
    return PluginAnswer{.verdict = PluginAnswer::Verdict::skipped, .why = loan_.skipped};
  if (!result && asking_.verdict != PluginAnswer::Verdict::answered)
    return PluginAnswer{.verdict = asking_.verdict, .why = asking_.why, .watch = asking_.watch};
  if (!result) {
    Error told = std::move(result).error();
    std::string message =
        told.where.file.empty() ? told.message : cat(to_string(told.where), ": ", told.message);
    if (const std::string lines = said_.lines(); !lines.empty())
      message += cat("; its last lines:\n", lines);
    Error error = world_error(std::move(message));
    error.excerpt = join(told.trace, "\n");
    return error;
  }
  return PluginAnswer{.result =
                          TRY(starlark::to_value(thread, *result).context("its return value"))};
}

Value described(starlark::Thread& thread, const std::string& name, starlark::Value function) {
  std::vector<Value> parameters;
  for (const starlark::ParameterInfo& parameter : starlark::parameters_of(function)) {
    if (parameter.name == "ctx" || parameter.name == "hub")
      continue;
    std::vector<Entry> entries{{"name", parameter.name},
                               {"kind", parameter.rest           ? "rest"
                                        : parameter.named_rest   ? "named_rest"
                                        : parameter.keyword_only ? "named"
                                                                 : "any"}};
    if (parameter.otherwise)
      entries.push_back(
          {"default", starlark::to_value(thread, *parameter.otherwise).value_or(Value())});
    parameters.push_back(Value::dict(std::move(entries)));
  }
  return Value::dict({{"name", name},
                      {"text", starlark::docstring_of(function)},
                      {"async", false},
                      {"parameters", Value::list(std::move(parameters))}});
}

Result<Value> described(starlark::Thread& thread, const PluginFile& file,
                        const starlark::Module& module) {
  std::vector<Value> functions;
  std::vector<Entry> entries{{"path", file.path}, {"file", file.file}};
  for (const auto& [name, value] : module.globals()) {
    static const std::map<std::string_view, Name> told{{"__reconcile_wait__", "wait"},
                                                       {"TREQ", "implied"},
                                                       {"SKIP_ESM", "skips_memory"},
                                                       {"CAN_LOOK", "can_look"},
                                                       {"CAN_REPEAT", "can_repeat"}};
    if (const auto key = told.find(name); key != told.end())
      entries.push_back(
          {key->second, TRY(starlark::to_value(thread, value).context(cat("`", name, "`")))});
    if (!name.starts_with('_') && starlark::type_of(value) == starlark::Type::function)
      functions.push_back(described(thread, name, value));
  }
  entries.push_back({"functions", Value::list(std::move(functions))});
  return Value::dict(std::move(entries));
}

/// The module in the form that a catalogue reads.
Result<Value> Instance::described() {
  starlark::Thread thread(session_);
  return fettle::described(thread, file_, module());
}

class StarlarkHost : public PluginHost {
 public:
  StarlarkHost(std::vector<PluginFile> files, HttpClient& http) : http_(http) {
    for (PluginFile& file : files)
      files_.emplace(file.path, std::move(file));
  }

  Result<PluginModules> describe(std::stop_token) override {
    PluginModules found;
    for (const auto& [path, file] : files_) {
      Instance instance(file, http_, load_limit);
      Status status = instance.run();
      Result<Value> told = status ? instance.described() : Result<Value>(std::move(status).error());
      if (told)
        found.modules.push_back(*told);
      else
        found.problems.push_back(std::move(told).error());
    }
    return found;
  }

  Result<PluginAnswer> call(const PluginCall& call, std::stop_token stop) override {
    const size_t dot = std::min(call.path.rfind('.'), call.path.size());
    const auto file = files_.find(call.path.substr(0, dot));
    if (file == files_.end() || dot == call.path.size())
      return user_error(cat("there is no function `", call.path, "`"));
    const Duration limit = call.time_limit > 0s ? call.time_limit : longest_call;
    std::unique_ptr<Instance> instance = TRY(take(file->second, limit));
    Result<PluginAnswer> answer = instance->call(call, call.path.substr(dot + 1), stop);
    if (answer && answer->verdict == PluginAnswer::Verdict::answered) {
      const std::lock_guard lock(mutex_);
      idle_[file->first].push_back(std::move(instance));
    }
    return answer;
  }

 private:
  Result<std::unique_ptr<Instance>> take(const PluginFile& file, Duration limit) {
    {
      const std::lock_guard lock(mutex_);
      std::vector<std::unique_ptr<Instance>>& idle = idle_[file.path];
      const auto found = std::find_if(idle.begin(), idle.end(), [&](const auto& instance) {
        return instance->time_limit() == limit;
      });
      if (found != idle.end()) {
        std::unique_ptr<Instance> instance = std::move(*found);
        idle.erase(found);
        return instance;
      }
    }
    auto made = std::make_unique<Instance>(file, http_, limit);
    TRY(made->run());
    return made;
  }

  HttpClient& http_;
  std::map<std::string, PluginFile, std::less<>> files_;
  std::mutex mutex_;
  std::map<std::string, std::vector<std::unique_ptr<Instance>>> idle_;
};

}  // namespace

std::unique_ptr<PluginHost> make_starlark_host(std::vector<PluginFile> files, HttpClient& http) {
  return std::make_unique<StarlarkHost>(std::move(files), http);
}

}  // namespace fettle
