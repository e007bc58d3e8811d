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
          cat("`", user_path(std::filesystem::absolute(*module).string()),
              "` is a module of your own, and on another machine only the states that "
              "ship with fettle can be called: take it out of the folders of the "
              "sources, or call `fettle state` on that machine"));
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

std::vector<Value> StatesAway::take_additions() {
  std::vector<Value> all;
  if (functions_ != nullptr)
    for (states::Addition& addition : functions_->take_additions())
      all.push_back(Value::dict({{"by", addition.by}, {"what", std::move(addition.what)}}));
  return all;
}

}  // namespace fettle
