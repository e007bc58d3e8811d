/// Modules that a program serves: a user's, or Python's.

#include <map>

#include "base/text.h"
#include "drivers/state/plugin.h"
#include "programs/program.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr Duration describe_limit = 60s;

Error problem_of(const Value& told) {
  Error error = user_error(std::string(told.text_at("text", "it is not a module")),
                           {std::string(told.text_at("file")), 0, 0});
  error.excerpt = told.text_at("trace");
  return error;
}

/// A sink that passes on whole lines, and the beginning of a line that is too long.
ByteSink in_lines(std::function<void(std::string_view)> tell) {
  constexpr size_t longest = 64 * 1024;
  return [tell = std::move(tell), begun = std::string()](std::string_view bytes) mutable -> Status {
    begun += bytes;
    for (size_t end = begun.find('\n'); end != begun.npos; end = begun.find('\n')) {
      tell(std::string_view(begun).substr(0, end));
      begun.erase(0, end + 1);
    }
    if (begun.size() > longest)
      tell(std::exchange(begun, {}));
    return {};
  };
}

class ProgramHost : public PluginHost {
 public:
  /// `file` is named in errors.
  ProgramHost(Invocation how, ServeMode serving, std::string file)
      : program_(std::move(how), serving), file_(std::move(file)) {}

  Result<PluginModules> describe(std::stop_token stop) override {
    return described(Value::dict({{"describe", true}}), stop);
  }

  Result<PluginModules> describe_packages(std::stop_token stop) override {
    return described(Value::dict({{"describe", true}, {"packages", true}}), stop);
  }

  Result<PluginAnswer> call(const PluginCall& call, std::stop_token stop) override {
    std::vector<Entry> request{
        {"call", call.path}, {"arguments", call.arguments}, {"context", call.context}};
    if (!call.positional.empty())
      request.push_back({"positional", Value::list(call.positional)});
    if (!call.run.is_null())
      request.push_back({"run", call.run});
    if (call.only_known)
      request.push_back({"only_known", true});
    const Value answer = TRY(good_answer(program_.call({.request = Value::dict(std::move(request)),
                                                        .time_limit = call.time_limit,
                                                        .on_log = call.on_log,
                                                        .on_ask = call.on_ask,
                                                        .may_repeat = may_repeat(call)},
                                                       stop)));
    return judge(answer);
  }

 private:
  Result<PluginModules> described(Value request, const std::stop_token& stop) {
    const Value answer = TRY(good_answer(
        program_.call({.request = std::move(request), .time_limit = describe_limit}, stop)));
    if (!answer.at("modules").is_list())
      return user_error(
          cat("its description needs a list `modules`, but is ", clipped(write_json(answer), 500)),
          {file_, 0, 0});
    PluginModules found;
    for (const Value& module : answer.at("modules").items()) {
      found.modules.push_back(module);
      modules_[std::string(module.text_at("path"))] = module;
    }
    if (answer.at("problems").is_list())
      for (const Value& problem : answer.at("problems").items())
        (problem.bool_at("hidden") ? found.hidden : found.problems).push_back(problem_of(problem));
    return found;
  }

  Result<PluginAnswer> judge(const Value& answer) const {
    using Verdict = PluginAnswer::Verdict;
    static constexpr std::pair<const char*, Verdict> verdicts[] = {
        {"not_ready", Verdict::not_ready},
        {"throttled", Verdict::throttled},
        {"skip", Verdict::skipped},
    };
    for (const auto& [key, verdict] : verdicts)
      if (answer.at(key).is_text())
        return PluginAnswer{
            .verdict = verdict, .why = answer.at(key).text().str(), .watch = answer.at("watch")};
    if (answer.find("result") == nullptr)
      return world_error(
          cat(file_, " returned no `result`, but ", clipped(write_json(answer), 500)));
    return PluginAnswer{.result = answer.at("result"),
                        .running = answer.at("running"),
                        .secrets = answer.at("secrets")};
  }

  /// Whether a call may be repeated. A function that may have effects is called once, and so is the
  /// state of a module that does not say that it may be called again. All others only find
  /// something out.
  bool may_repeat(const PluginCall& call) const {
    const std::string_view path = call.path;
    if (path.starts_with("exec.") || path.starts_with("tool."))
      return false;
    const size_t dot = path.rfind('.');
    const auto module = modules_.find(std::string(path.substr(0, dot)));
    if (!path.starts_with("states.") || path.ends_with(".is_pending") || module == modules_.end())
      return true;
    return module->second.bool_at("can_repeat") ||
           (call.context.bool_at("test") && module->second.bool_at("can_look"));
  }

  Program program_;
  std::map<std::string, Value> modules_;  ///< as described, by path
  std::string file_;
};

}  // namespace

std::unique_ptr<PluginHost> make_program_host(PluginFile file) {
  return std::make_unique<ProgramHost>(Invocation{.arguments = {file.file}}, ServeMode::once,
                                       file.file);
}

std::unique_ptr<PluginHost> make_python_host(const PythonOptions& options) {
  std::vector<Value> folders(options.folders.begin(), options.folders.end());
  const Value settings = Value::dict({{"folders", Value::list(std::move(folders))},
                                      {"functions", options.functions},
                                      {"options", options.options},
                                      {"packages", options.has_packages}});
  // Modules are looked for in the package, not in the working folder.
  constexpr const char* start =
      "import sys; sys.path[0] = sys.argv[1]; from fettle_plugins.serve import main; main()";
  Invocation how{
      .arguments = {options.interpreter, "-c", start, options.package, write_json(settings)}};
  if (options.on_log)
    how.on_errors = in_lines(options.on_log);
  return std::make_unique<ProgramHost>(std::move(how), ServeMode::together, "fettle_plugins");
}

}  // namespace fettle
