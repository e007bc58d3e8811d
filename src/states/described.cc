#include "states/described.h"

#include <set>

#include "base/text.h"
#include "states/settings.h"

namespace fettle::states {
namespace {

constexpr std::string_view prefix = "states.";

Error wrong(const Value& module, std::string_view why) {
  return user_error(cat("the module `", module.text_at("path"), "` ", why),
                    {std::string(module.text_at("file")), 0, 0});
}

Result<std::vector<Name>> names_of(const Value& module, std::string_view what, const Value& list) {
  std::vector<Name> names;
  if (list.is_text())
    return std::vector<Name>{list.text()};
  for (const Value& item : list.is_list() ? list.items() : std::span<const Value>())
    if (item.is_text())
      names.push_back(item.text());
  if (!list.is_null() && (!list.is_list() || names.size() != list.items().size()))
    return wrong(module, cat("says `", what, "`, which is not a list of names"));
  return names;
}

Result<Function> function_of(const Value& module, const Value& told) {
  if (!told.at("name").is_text())
    return wrong(module, "has a function without a name");
  Function made{.name = told.at("name").text(),
                .text = std::string(told.text_at("text")),
                .parameters = {},
                .test_mode = {}};
  const Value& parameters = told.at("parameters");
  if (!parameters.is_null() && !parameters.is_list())
    return wrong(module, cat("has no list of parameters for `", made.name, "`"));
  for (const Value& parameter :
       parameters.is_list() ? parameters.items() : std::span<const Value>()) {
    const std::string_view name = parameter.text_at("name"), kind = parameter.text_at("kind");
    if (name.empty())
      return wrong(module, cat("has a parameter of `", made.name, "` without a name"));
    made.takes_rest |= kind == "named_rest";
    if (name == "name" || kind == "rest" || kind == "named_rest")
      continue;
    const Value* otherwise = parameter.find("default");
    made.parameters.push_back({name,
                               otherwise == nullptr ? std::nullopt : std::optional(*otherwise),
                               std::string(parameter.text_at("text"))});
    made.parameters.back().aliases = TRY(names_of(module, "aliases", parameter.at("aliases")));
  }
  made.computed = told.at("computed");
  made.identity = told.text_at("identity");
  if (told.find("remembers") != nullptr)
    made.remembered = TRY(names_of(module, "remembers", told.at("remembers")));
  return made;
}

/// Reads Idem's TREQ: {FUNCTION: {"require": […]}, "unique": […]}; `treq` stands for every
/// function.
Status read_implied(const Value& told, Module& made) {
  const Value& implied = told.at("implied");
  if (implied.is_null())
    return {};
  if (!implied.is_dict())
    return wrong(told, "has a `TREQ` that is not a dictionary");
  for (const Entry& entry : implied.entries()) {
    if (entry.key == "unique") {
      made.unique = TRY(names_of(told, "unique", entry.value));
      continue;
    }
    const std::vector<Name> refs = TRY(names_of(told, "require", entry.value.at("require")));
    if (entry.key != "treq")
      made.implied.push_back({entry.key, refs});
    else
      for (const Function& function : made.functions)
        made.implied.push_back({function.name, refs});
  }
  return {};
}

Result<Module> module_of(const Value& told, const Waits& own_waits) {
  Module made{};
  made.ref = told.text_at("path").substr(prefix.size());
  made.text = told.text_at("text");
  made.skips_memory = told.bool_at("skips_memory");
  made.can_look = told.bool_at("can_look");
  made.can_repeat = told.bool_at("can_repeat");
  const Value& functions = told.at("functions");
  if (!functions.is_list())
    return wrong(told, "has no list of functions");
  for (const Value& function : functions.items()) {
    if (function.text_at("name") == "is_pending")
      made.has_is_pending = true;
    else
      made.functions.push_back(TRY(function_of(told, function)));
  }
  TRY(read_implied(told, made));
  made.wait = told.at("wait");
  const Result<bool> is_own = is_own_wait(made.wait, own_waits);
  if (!is_own)
    return wrong(told, is_own.error().message);
  if (!made.wait.is_null() && !*is_own)
    if (const Result<WaitRule> rule = read_wait(made.wait); !rule)
      return wrong(told, cat("has an invalid wait: ", rule.error().message));
  made.providers = TRY(names_of(told, "acct", told.at("acct")));
  if (made.providers.empty())
    made.providers.push_back(made.ref.view().substr(0, made.ref.view().find('.')));
  return made;
}

}  // namespace

DescribedModules read_described(std::span<const Value> modules, Waits broken) {
  DescribedModules made;
  made.waits = std::move(broken);
  constexpr std::string_view waits = "reconcile.wait.";
  for (const Value& told : modules)
    if (const std::string_view path = told.text_at("path"); path.starts_with(waits))
      made.waits.emplace(path.substr(waits.size()), "");
  for (const Value& told : modules) {
    if (!told.text_at("path").starts_with(prefix))
      continue;
    Result<Module> module = module_of(told, made.waits);
    if (module)
      made.modules.push_back(std::move(*module));
    else
      made.problems.push_back(std::move(module).error());
  }
  return made;
}

}  // namespace fettle::states
