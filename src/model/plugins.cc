#include "base/invariant.h"
#include "base/text.h"
#include "model/std/groups.h"
#include "model/user_plugins.h"

namespace fettle::model {
namespace {

const PluginRow* find_row(std::span<const PluginRow> rows, std::string_view name) {
  for (const PluginRow& row : rows)
    if (row.name == name)
      return &row;
  return nullptr;
}

/// Of `std`, or of a module that ships with fettle.
const PluginRow* find_row(const Space& space, std::string_view name) {
  if (space.name == "exec" && space.module == nullptr)
    return find_row(exec_plugins(), name);
  if (space.name != "std")
    return nullptr;
  constexpr std::array groups{control_plugins,    dicts_plugins,      environment_plugins,
                              files_plugins,      lists_plugins,      network_plugins,
                              references_plugins, reflection_plugins, secrets_plugins,
                              strings_plugins,    template_plugins,   validation_plugins};
  for (const auto& group : groups)
    if (const PluginRow* const row = find_row(group(), name))
      return row;
  return nullptr;
}

}  // namespace

const Plugin* find_plugin(Program& program, Space& space, std::string_view name) {
  const std::string full_name = cat(space.name, "::", name);
  if (const auto found = program.plugins.find(full_name); found != program.plugins.end())
    return found->second.get();
  const PluginRow* const row = find_row(space, name);
  if (row == nullptr && space.name != "std") {
    const std::shared_ptr<Plugin> made = find_user_plugin(program, space, name);
    if (made == nullptr)
      return nullptr;
    made->name = full_name;
    return program.plugins.emplace(full_name, made).first->second.get();
  }
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
