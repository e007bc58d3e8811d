#include "verbs/states/state_functions.h"

#include <algorithm>

#include "base/text.h"
#include "base/wait.h"
#include "core/state_tag.h"
#include "drivers/state/guards.h"
#include "drivers/state/installed_packages.h"
#include "states/described.h"
#include "states/settings.h"
#include "value/changes.h"
#include "value/empty.h"
#include "value/with.h"

namespace fettle {
namespace {

/// Our functions that Python may call, and whether each must be awaited.
Value own_functions() {
  std::vector<Entry> made{{"exec.test.ping", false}, {"exec.state.run", true}};
  for (const std::string& ref : states::builtin_states().refs())
    for (const states::Function& function : states::builtin_states().find(ref)->functions)
      made.push_back({cat("states.", ref, ".", function.name), ref != "test"});
  return Value::dict(std::move(made));
}

/// The profile of the run.
const std::string& usual_profile(const FunctionOptions& options) {
  return options.acct_profile.empty() ? options.credentials.default_profile : options.acct_profile;
}

PluginOptions plugin_options(const Workplace& place, const FunctionOptions& options) {
  PluginOptions made;
  made.folders = options.folders;
  made.home = place.home;
  made.functions = own_functions();
  made.options = with(options.options, "acct_profile", usual_profile(options));
  made.python = python_of_environment();
  made.looks_for_packages = !options.is_away;
  // Whatever it prints goes to people at once, and does not become part of its answer.
  made.on_log = [&place](std::string_view text) { place.tell(place.mask->text(text)); };
  return made;
}

/// The path by which plugins know a function of a state.
std::string plugin_path(std::string_view state, std::string_view function) {
  return cat("states.", state, ".", function);
}

/// The waits whose file `reconcile/wait/NAME.…` could not be loaded.
states::Waits broken_waits(std::span<const Error> problems) {
  constexpr std::string_view folder = "/reconcile/wait/";
  states::Waits broken;
  for (const Error& problem : problems) {
    const std::string_view file = problem.where.file;
    const size_t at = file.rfind(folder);
    const std::string_view name = at == file.npos ? "" : file.substr(at + folder.size());
    if (const size_t dot = name.find('.'); dot != name.npos && name.find('/') == name.npos)
      broken.emplace(name.substr(0, dot), to_string(problem));
  }
  return broken;
}

}  // namespace

RunFunctions::RunFunctions(const Workplace& place, FunctionOptions options)
    : place_(place),
      options_(std::move(options)),
      plugins_(plugin_options(place, options_), http_) {}

Status RunFunctions::open(bool with_packages) {
  TRY(plugins_.open(place_.interrupt->acts_token()));
  if (with_packages)
    TRY(plugins_.open_packages(place_.interrupt->acts_token()));
  read_modules();
  return {};
}

Result<bool> RunFunctions::open_packages() {
  if (!TRY(plugins_.open_packages(place_.interrupt->acts_token())))
    return false;
  read_modules();
  return true;
}

bool RunFunctions::lacks_functions_of(const states::CompiledStates& compiled) const {
  return std::ranges::any_of(compiled.chunks, [&](const states::Chunk& chunk) {
    if (chunk.state != "exec")
      return false;
    return std::ranges::any_of(chunk.arguments, [&](const auto& argument) {
      const auto& [name, value] = argument;
      if (name != "path" || !value.is_text())
        return false;
      const Name path = value.text();
      const std::string_view first = path.view().substr(0, path.view().find('.'));
      return first != "test" && first != "esm" && first != "state" &&
             !plugins_.has(cat("exec.", path));
    });
  });
}

/// What the plugins are by now.
void RunFunctions::read_modules() {
  gathering_.clear();
  exec_providers_.clear();
  problems_ = plugins_.problems();
  states::DescribedModules described =
      states::read_described(plugins_.modules(), broken_waits(problems_));
  problems_.insert(problems_.end(), described.problems.begin(), described.problems.end());
  for (const Value& module : plugins_.modules()) {
    const std::string_view path = module.text_at("path");
    if (module.bool_at("gathers"))
      gathering_.emplace(path);
    if (const Value& names = module.at("acct"); path.starts_with("exec.") && names.is_list())
      for (const Value& name : names.items())
        if (name.is_text())
          exec_providers_[std::string(path)].push_back(name.text());
  }
  own_ = states::catalogue_of(std::move(described.modules), std::move(described.waits));
  catalogue_ = states::joined({own_.get(), &states::builtin_states()});
}

Status RunFunctions::check_profile() const {
  // Code that makes profiles knows further ones.
  return options_.wants_profile && gathering_.empty()
             ? options_.credentials.check_profile(options_.acct_profile)
             : Status();
}

std::vector<Error> RunFunctions::hidden_problems(std::span<const Error> errors) const {
  std::vector<Error> found;
  for (const Error& problem : plugins_.hidden_problems()) {
    const std::string& file = problem.where.file;
    for (const std::string_view part : {"/states/", "/exec/"}) {
      const size_t at = file.rfind(part);
      if (at == file.npos || !file.ends_with(".py"))
        continue;
      const size_t from = at + part.size();
      const std::string ref = replace_all(file.substr(from, file.size() - from - 3), "/", ".");
      if (std::ranges::any_of(errors, [&](const Error& error) {
            return error.message.find(ref) != std::string::npos;
          })) {
        found.push_back(problem);
        break;
      }
    }
  }
  return found;
}

const Error* RunFunctions::problem_of(std::string_view module) const {
  const std::string inside = cat("/", replace_all(module, ".", "/"), ".");
  const auto found = std::ranges::find_if(problems_, [&](const Error& problem) {
    const size_t at = problem.where.file.rfind(inside);
    return at != std::string::npos &&
           problem.where.file.find('/', at + inside.size()) == std::string::npos;
  });
  return found == problems_.end() ? nullptr : &*found;
}

bool RunFunctions::has(std::string_view state, std::string_view function) const {
  const states::Module* module = catalogue_->find(state);
  return module != nullptr && module->find(function) != nullptr;
}

bool RunFunctions::has_module(std::string_view state) const {
  return catalogue_->find(state) != nullptr;
}

bool RunFunctions::can_look(std::string_view state) const {
  const states::Module* module = catalogue_->find(state);
  return module == nullptr || module->can_look;
}

bool RunFunctions::can_repeat(std::string_view state) const {
  const states::Module* module = catalogue_->find(state);
  return module == nullptr || module->can_repeat;
}

bool RunFunctions::skips_memory(std::string_view state) const {
  const states::Module* module = catalogue_->find(state);
  return module != nullptr && module->skips_memory;
}

/// The credentials of the providers that a function's module names, or, if it names none, of the
/// first word of its path. Error: there are credentials, and none has the name that the state asks for.
Result<Value> RunFunctions::acct_of(const std::string& path, const std::string& profile) const {
  const std::string state = path.substr(path.find('.') + 1);
  const states::Module* module = path.starts_with("states.") ? catalogue_->find(state) : nullptr;
  std::vector<Name> providers;
  if (module != nullptr)
    providers = module->providers;
  else if (const auto known = exec_providers_.find(path.substr(0, path.rfind('.')));
           known != exec_providers_.end())
    providers = known->second;
  if (providers.empty())
    providers.emplace_back(state.substr(0, state.find('.')));
  const std::lock_guard lock(mutex_);
  // Without any credentials, files that name a profile run as they do with Idem.
  if (!options_.credentials.is_empty() && !gathers(path))
    TRY(options_.credentials.check_profile(profile));
  return options_.credentials.profile(providers, profile_of(profile));
}

/// The profile that is asked for, else the one of the run.
const std::string& RunFunctions::profile_of(const std::string& profile) const {
  return profile.empty() ? usual_profile(options_) : profile;
}

/// Whether the code of a module, or of a part that it is in, makes profiles.
bool RunFunctions::gathers(std::string_view path) const {
  for (; !path.empty();
       path = path.substr(0, path.find_last_of('.') == path.npos ? 0 : path.find_last_of('.')))
    if (gathering_.contains(path))
      return true;
  return false;
}

Result<StateAnswer> RunFunctions::call(const StateCall& call, std::stop_token stop) {
  if (options_.is_away)
    return user_error(cat("`", call.state, ".", call.function,
                          "` is called on another machine, and not while its files are read"));
  const Value acct = TRY(acct_of(cat("states.", call.state), call.acct_profile));
  if (plugins_.has(plugin_path(call.state, call.function)))
    return call_plugin(call, acct, std::move(stop));
  return call_builtin(call, acct, std::move(stop));
}

/// If a file leaves a parameter out, or gives it as null, a resource keeps the remembered value. A
/// parameter that is ignored is null, whatever is remembered.
Value RunFunctions::completed(const StateCall& call) const {
  std::vector<Entry> arguments(call.arguments.entries().begin(), call.arguments.entries().end());
  const states::Module* const module = catalogue_->find(call.state);
  const states::Function* const function =
      module == nullptr ? nullptr : module->find(call.function);
  // By the names of the parameters: what is known, too, may have another one.
  const auto name_of = [&](const Name& key) {
    const states::Parameter* const parameter = function == nullptr ? nullptr : function->find(key);
    return parameter == nullptr ? key : parameter->name;
  };
  for (Entry& argument : arguments)
    argument.key = name_of(argument.key);
  const auto add = [&](const Name& key, const Value& value) {
    const Name name = name_of(key);
    const auto given = std::ranges::find(arguments, name, &Entry::key);
    if (given == arguments.end())
      arguments.push_back({name, value});
    else if (given->value.is_null())
      given->value = value;
  };
  if (function != nullptr && call.old_state.is_dict())
    for (const Entry& known : call.old_state.entries())
      if (known.key != "name" && !known.value.is_null() && function->remembers(known.key))
        add(known.key, known.value);
  // Null gives way to the remembered value, and to the default.
  std::erase_if(arguments, [&](const Entry& argument) {
    const states::Parameter* const parameter =
        function == nullptr ? nullptr : function->find(argument.key);
    return argument.value.is_null() && parameter != nullptr && parameter->otherwise;
  });
  // A parameter that is ignored is null instead of its default, too.
  if (function != nullptr && call.ignored.is_list())
    for (const Value& path : call.ignored.items())
      if (path.is_text() && function->find(path.text()) != nullptr)
        add(path.text(), {});
  return with_ignored(Value::dict(std::move(arguments)), call.ignored);
}

Result<StateAnswer> RunFunctions::call_plugin(const StateCall& call, const Value& acct,
                                              std::stop_token stop) {
  PluginCall made;
  made.path = plugin_path(call.state, call.function);
  const Value completed_arguments = completed(call);
  std::vector<Entry> arguments(completed_arguments.entries().begin(),
                               completed_arguments.entries().end());
  arguments.push_back({"name", call.name});
  made.arguments = Value::dict(std::move(arguments));
  made.only_known = call.function == "absent";  // an undone state has the arguments that made it
  made.context =
      Value::dict({{"test", call.is_test},
                   {"old_state", call.old_state},
                   {"rerun_data", call.rerun_data},
                   {"acct", acct},
                   {"acct_profile", profile_of(call.acct_profile)},
                   {"run_name", options_.run_name},
                   {"tag", StateTag{call.state, call.id, call.entry, call.function}.tag()}});
  made.on_ask = [this](const Value& asked) { return answer(asked); };
  made.on_log = [&](std::string_view text) {
    place_.tell(place_.mask->text(text));
    if (call.on_log)
      call.on_log(text);
  };
  PluginAnswer answer = TRY(plugins_.call(made, std::move(stop)));
  StateAnswer found;
  found.verdict = answer.verdict;
  found.why = std::move(answer.why);
  found.watch = std::move(answer.watch);
  if (answer.verdict != PluginAnswer::Verdict::answered)
    return found;
  if (!answer.result.is_dict() || answer.result.find("result") == nullptr)
    return world_error(cat("`", made.path,
                           "` must return a dict with `result`, `comment` and "
                           "`changes`, not ",
                           to_text(answer.result).substr(0, 200)));
  found.ret = std::move(answer.result);
  if (const Value& result = found.ret.at("result"); !result.is_null() && !result.is_bool())
    return world_error(cat("`", made.path, "` must return a `result` of True, False or None, not ",
                           to_text(result).substr(0, 200)));
  if (found.ret.at("changes").is_null())
    found.ret = with(found.ret, "changes",
                     changes_between(found.ret.at("old_state"), found.ret.at("new_state"),
                                     computed(call.state, call.function)));
  return found;
}

states::World RunFunctions::world(const std::string& profile, std::stop_token stop) {
  states::World world;
  world.read = [](const std::string& path) -> Result<std::optional<std::string>> {
    if (!file_exists(path))
      return std::optional<std::string>();
    return std::optional(TRY(read_file(path)));
  };
  world.write = [](const std::string& path, std::string_view text) {
    return write_file(path, text);
  };
  world.exec = [this, profile](states::ExecCall call) {
    call.acct_profile = profile;
    return exec_function(call);
  };
  world.request = [this, stop](HttpRequest request) {
    return http_.send(std::move(request), stop);
  };
  world.draw = place_.random;
  world.pause = [stop](Duration time) { return pause_for(time, stop); };
  return world;
}

Result<StateAnswer> RunFunctions::call_builtin(const StateCall& call, const Value& acct,
                                               std::stop_token stop) {
  const states::World lent = world(call.acct_profile, std::move(stop));
  states::ModuleCall made;
  made.name = call.name;
  made.arguments = completed(call);
  made.is_test = call.is_test;
  made.old_state = call.old_state;
  made.rerun_data = call.rerun_data;
  made.acct = acct;
  made.so_far = call.so_far;
  made.world = &lent;
  states::ModuleAnswer answer = TRY(states::run_module(call.state, call.function, made));
  const std::lock_guard lock(mutex_);
  if (!answer.adds.is_null() && !call.is_test)
    additions_.push_back({StateTag{call.state, call.id, call.entry, {}}.key(), answer.adds});
  if (!answer.profile.is_null())
    TRY(options_.credentials.add_made(answer.profile));
  StateAnswer found;
  found.ret = std::move(answer.ret);
  found.again = answer.again;
  found.so_far = std::move(answer.so_far);
  return found;
}

Value RunFunctions::computed(std::string_view state, std::string_view function) const {
  const states::Module* const module = catalogue_->find(state);
  const states::Function* const found = module == nullptr ? nullptr : module->find(function);
  return found == nullptr ? Value() : found->computed;
}

/// The wait of a state or of its module may be a user's: `{NAME: {…}}` calls
/// `reconcile.wait.NAME.get`.
Result<std::optional<Duration>> RunFunctions::wait(const std::string& state, const Value& own,
                                                   int calls, std::stop_token stop) {
  const states::Module* module = catalogue().find(state);
  const Value& wait = !own.is_null() || module == nullptr ? own : module->wait;
  if (!TRY(states::is_own_wait(wait, catalogue().waits())))
    return std::optional<Duration>();
  const Entry& entry = wait.entries()[0];
  PluginCall call;
  call.path = cat("reconcile.wait.", entry.key, ".get");
  std::vector<Entry> arguments;
  if (entry.value.is_dict())
    arguments.assign(entry.value.entries().begin(), entry.value.entries().end());
  arguments.push_back({"run_count", calls});
  call.arguments = Value::dict(std::move(arguments));
  const PluginAnswer answer = TRY(plugins_.call(call, std::move(stop)));
  return std::optional(TRY(states::read_seconds(answer.result).context(cat("`", call.path, "`"))));
}

Result<std::optional<bool>> RunFunctions::is_pending(const std::string& state, const Value& ret,
                                                     const PendingCounts& reruns,
                                                     std::stop_token stop) {
  const std::string path = plugin_path(state, "is_pending");
  if (!plugins_.has(path))
    return std::optional<bool>();
  const bool is_in_vain = is_empty(ret.at("result")) && reruns.is_alike();
  if (is_in_vain || reruns.is_over())
    return std::optional(false);
  PluginCall call;
  call.path = path;
  call.arguments = Value::dict({{"ret", ret},
                                {"state", state},
                                {"ctx", Value()},
                                {"reruns_wo_change_count", reruns.alike},
                                {"reruns_count", reruns.all},
                                {"max_pending_reruns", reruns.most}});
  call.only_known = true;
  call.on_ask = [this](const Value& asked) { return answer(asked); };
  const PluginAnswer said = TRY(plugins_.call(call, std::move(stop)));
  return std::optional(!is_empty(said.result));
}

Result<Value> RunFunctions::exec_function(const states::ExecCall& call, std::stop_token stop) {
  if (!stop.stop_possible())
    stop = place_.interrupt->acts_token();
  if (std::optional<Value> built = states::run_builtin_exec(call.path, call.positional))
    return *std::move(built);
  if (options_.is_guest && call.path.starts_with("esm."))
    return user_error(cat("`", call.path,
                          "` is about what is remembered, which is at the server: call it there"));
  const Name environment(options_.environment.empty() ? options_.run_name : options_.environment);
  if (std::optional<Value> told = TRY(run_memory_exec(place_, environment, call)))
    return *std::move(told);
  if (call.path == "state.run")
    return run_state_function(call, std::move(stop));
  const std::string path = cat("exec.", call.path);
  if (!plugins_.has(path))
    return user_error(cat("there is no exec function `", call.path, "`"));
  PluginCall made;
  made.path = path;
  made.positional = call.positional;
  made.arguments = call.named;
  made.only_known = call.only_known;
  std::vector<Entry> context{{"test", false},
                             {"acct", TRY(acct_of(path, call.acct_profile))},
                             {"acct_profile", profile_of(call.acct_profile)},
                             {"run_name", options_.run_name}};
  if (!call.state_name.empty())
    context.push_back({"state_name", call.state_name});
  made.context = Value::dict(std::move(context));
  made.on_ask = [this](const Value& asked) { return answer(asked); };
  const PluginAnswer said = TRY(plugins_.call(made, std::move(stop)));
  if (said.verdict != PluginAnswer::Verdict::answered)
    return Value::dict({{"result", false}, {"ret", Value()}, {"comment", said.why}});
  if (said.result.is_dict() && said.result.find("ret") != nullptr &&
      said.result.find("result") != nullptr)
    return said.result;
  return Value::dict({{"result", true}, {"ret", said.result}, {"comment", Value()}});
}

Result<Value> RunFunctions::exec(const std::string& path, Value arguments, std::stop_token stop) {
  const Value found = TRY(exec_function(
      {.path = path, .named = std::move(arguments), .only_known = true}, std::move(stop)));
  return found.at("ret");
}

/// Answers what plugins ask of their host.
Result<Value> RunFunctions::answer(const Value& asked) {
  if (const Value& providers = asked.at("profiles"); providers.is_list()) {
    std::vector<Name> names;
    for (const Value& provider : providers.items())
      if (provider.is_text())
        names.push_back(provider.text());
    const std::lock_guard lock(mutex_);
    return options_.credentials.profiles(names);
  }
  const std::string_view path = asked.text_at("call");
  if (path.empty())
    return user_error("only a reconciler may apply states or sleep");
  const Value& positional = asked.at("positional");
  std::vector<Value> given;
  if (positional.is_list())
    given.assign(positional.items().begin(), positional.items().end());
  const Value named = asked.at("arguments").is_dict() ? asked.at("arguments") : Value::dict({});
  if (path.starts_with("exec."))
    return exec_function(
        {.path = std::string(path.substr(5)), .positional = std::move(given), .named = named});
  if (!path.starts_with("states."))
    return user_error(cat("there is no function `", path, "`"));
  return run_state(asked, place_.interrupt->acts_token());
}

/// `state.run REF NAME=VALUE…`: calls the function of a state outside any run.
Result<Value> RunFunctions::run_state_function(const states::ExecCall& call, std::stop_token stop) {
  if (call.positional.empty() || !call.positional[0].is_text())
    return user_error("`state.run` needs the function of a state, as in `state.run test.nop`");
  const std::string ref = call.positional[0].text().str();
  const size_t dot = ref.rfind('.');
  const states::Module* module =
      dot == ref.npos ? nullptr : catalogue().find(std::string_view(ref).substr(0, dot));
  if (module == nullptr || module->find(std::string_view(ref).substr(dot + 1)) == nullptr)
    return user_error(cat(
        "there is no state function `", ref, "`",
        module == nullptr ? suggestion(ref.substr(0, dot), catalogue().refs()) : std::string()));
  Value ret = TRY(run_state(Value::dict({{"call", cat("states.", ref)}, {"arguments", call.named}}),
                            std::move(stop)));
  return Value::dict(
      {{"result", ret.at("result") != Value(false)}, {"ret", ret}, {"comment", ret.at("comment")}});
}

/// Calls the function of a state. The argument is {"call": `states.a.b`, "positional", "arguments",
/// "context"}.
Result<Value> RunFunctions::run_state(const Value& asked, std::stop_token stop) {
  const std::string_view path = asked.text_at("call");
  const Value& positional = asked.at("positional");
  const Value& named = asked.at("arguments");
  const size_t dot = path.rfind('.');
  StateCall call;
  call.state = path.substr(7, dot - 7);
  call.function = path.substr(dot + 1);
  std::vector<Entry> arguments;
  if (named.is_dict()) {
    for (const Entry& entry : named.entries())
      if (entry.key == "name")
        call.name = entry.value.is_text() ? entry.value.text().str() : to_text(entry.value);
      else
        arguments.push_back(entry);
  }
  if (call.name.empty() && positional.is_list() && !positional.items().empty() &&
      positional.items()[0].is_text())
    call.name = positional.items()[0].text().str();
  call.id = call.name;
  call.arguments = Value::dict(std::move(arguments));
  const Value& context = asked.at("context");
  call.is_test = context.bool_at("test");
  call.old_state = context.at("old_state");
  const StateAnswer answer = TRY(this->call(call, std::move(stop)));
  if (answer.again)
    return user_error(cat("`", path, "` takes time, so it cannot be called by code"));
  return answer.ret;
}

std::vector<states::Addition> RunFunctions::take_additions() {
  const std::lock_guard lock(mutex_);
  return std::exchange(additions_, {});
}

}  // namespace fettle
