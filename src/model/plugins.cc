#include "base/invariant.h"
#include "base/text.h"
#include "model/std/groups.h"
#include "model/user_plugins.h"

namespace fettle::model {
namespace {

const PluginRow* find_row(std::string_view name) {
  constexpr std::array groups{control_plugins,    dicts_plugins,     environment_plugins,
                              files_plugins,      lists_plugins,     network_plugins,
                              reflection_plugins, secrets_plugins,   strings_plugins,
                              template_plugins,   validation_plugins};
  for (const auto& group : groups)
    for (const PluginRow& row : group())
      if (row.name == name)
        return &row;
  return nullptr;
}

}  // namespace

const Plugin* find_plugin(Program& program, Space& space, std::string_view name) {
  const std::string full_name = cat(space.name, "::", name);
  if (const auto found = program.plugins.find(full_name); found != program.plugins.end())
    return found->second.get();
  if (space.name != "std") {
    const std::shared_ptr<Plugin> made = find_user_plugin(program, space, name);
    if (made == nullptr)
      return nullptr;
    made->name = full_name;
    return program.plugins.emplace(full_name, made).first->second.get();
  }
  const PluginRow* row = find_row(name);
  if (row == nullptr)
    return nullptr;
  auto made = std::make_shared<Plugin>();
  made->name = full_name;
  made->allows_unknown = row->allows_unknown;
  made->run = row->run;
  INVARIANT(read_signature(program, space, row->signature, *made));
  return program.plugins.emplace(full_name, std::move(made)).first->second.get();
}

}  // namespace fettle::model
