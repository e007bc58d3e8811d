#include "verbs/states/states_away.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/text.h"
#include "base/user_path.h"

namespace fettle {
namespace {

/// A module in one of the folders in which users' modules are (`drivers/state/plugins.h`).
std::optional<Path> module_below(const Path& folder) {
  constexpr std::array<std::string_view, 4> places{"states", "exec", "reconcile", "tool"};
  constexpr std::array<std::string_view, 3> endings{".star", ".py", ".plugin"};
  std::error_code failure;
  for (const std::string_view place : places)
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / place, failure))
      if (std::ranges::find(endings, entry.path().extension().string()) != endings.end())
        return entry.path();
  return std::nullopt;
}

}  // namespace

Status leave_modules_here(FunctionOptions& functions) {
  for (const Path& folder : functions.folders)
    if (const std::optional<Path> module = module_below(folder))
      return user_error(
          cat("`", user_path(std::filesystem::absolute(*module).lexically_normal().string()),
              "` is a module of your own, and on another machine only the states that "
              "ship with fettle can be called: take it out of the folders of the "
              "sources, or call it on that machine"));
  functions.folders.clear();
  functions.is_away = true;
  return {};
}

Value settings_of_states(const FunctionOptions& functions, const StateOptions& options) {
  return Value::dict({{"run_name", functions.run_name},
                      {"environment", functions.environment},
                      {"acct_profile", functions.acct_profile},
                      {"credentials", functions.credentials.all()},
                      {"options", functions.options},
                      {"calls_again", options.calls_again},
                      {"looks_where_it_can", options.looks_where_it_can},
                      {"remembers", options.remembers}});
}

Status StatesAway::begin(const Value& settings) {
  if (!settings.is_dict() || !settings.at("options").is_dict())
    return world_error("the server does not say how states are called");
  place_.mask->add_marked(settings);
  FunctionOptions functions;
  functions.run_name = settings.text_at("run_name");
  functions.environment = settings.text_at("environment");
  functions.acct_profile = settings.text_at("acct_profile");
  functions.credentials = TRY(states::Credentials::of(settings.at("credentials")));
  functions.options = settings.at("options");
  functions.is_guest = true;
  functions_ = std::make_unique<RunFunctions>(place_, std::move(functions));
  TRY(functions_->open(false));
  driver_ = std::make_unique<StateDriver>(
      *functions_, StateOptions{.calls_again = settings.bool_at("calls_again"),
                                .looks_where_it_can = settings.bool_at("looks_where_it_can"),
                                .remembers = settings.bool_at("remembers")});
  return {};
}

Result<Value> StatesAway::answer(const Value& asked, std::stop_token stop) {
  if (functions_ == nullptr)
    return world_error("the server does not say how states are called");
  const std::lock_guard lock(asking_);
  if (const Value& call = asked.at("exec"); call.is_dict()) {
    states::ExecCall made{.path = std::string(call.text_at("path")), .named = call.at("named")};
    if (const Value& positional = call.at("positional"); positional.is_list())
      made.positional.assign(positional.items().begin(), positional.items().end());
    if (!functions_->plugins().has(cat("exec.", made.path)))
      TRY(functions_->open_packages());
    return functions_->exec_function(made, std::move(stop));
  }
  if (!asked.at("describe").is_text())
    return world_error("the server asks for something else than functions of states");
  TRY(functions_->open_packages());
  const Description found =
      TRY(describe_states(place_, *functions_, std::string(asked.text_at("describe")),
                          asked.bool_at("is_hard"), std::move(stop)));
  std::vector<Value> warnings;
  for (const Error& warning : found.warnings)
    warnings.emplace_back(to_string(warning));
  return Value::dict({{"states", found.states}, {"warnings", Value::list(std::move(warnings))}});
}

std::vector<Value> StatesAway::take_additions() {
  std::vector<Value> all;
  if (functions_ != nullptr)
    for (states::Addition& addition : functions_->take_additions())
      all.push_back(Value::dict({{"by", addition.by}, {"what", std::move(addition.what)}}));
  return all;
}

Result<std::unique_ptr<FunctionCalls>> FunctionCalls::make(const Workplace& place,
                                                           const Name& environment,
                                                           FunctionOptions options) {
  Machine* const machine = TRY(machine_of(place, environment));
  if (machine != nullptr)
    TRY(leave_modules_here(options));
  const Value settings = settings_of_states(options, {});
  std::unique_ptr<FunctionCalls> made(new FunctionCalls(place, machine, std::move(options)));
  TRY(made->functions_.open());
  TRY(made->functions_.check_profile());
  if (machine != nullptr)
    TRY(machine->begin_states(settings, place.interrupt->acts_token()));
  return made;
}

Result<Value> FunctionCalls::exec(const states::ExecCall& call) {
  if (machine_ == nullptr || call.path.starts_with("esm."))
    return functions_.exec_function(call);
  const Value asked = Value::dict(
      {{"path", call.path}, {"positional", Value::list(call.positional)}, {"named", call.named}});
  return machine_->ask_states(Value::dict({{"exec", asked}}), place_.interrupt->acts_token());
}

Result<Description> FunctionCalls::describe(const std::string& pattern, bool is_hard) {
  if (machine_ == nullptr)
    return describe_states(place_, functions_, pattern, is_hard);
  const Value answer = TRY(machine_->ask_states(
      Value::dict({{"describe", pattern}, {"is_hard", is_hard}}), place_.interrupt->acts_token()));
  if (!answer.at("states").is_dict())
    return world_error(cat("the agent `", machine_->name(), "` answers something else"));
  Description found;
  found.states = answer.at("states");
  if (const Value& warnings = answer.at("warnings"); warnings.is_list())
    for (const Value& warning : warnings.items())
      found.warnings.push_back(world_error(printable(to_text(warning))));
  return found;
}

}  // namespace fettle
