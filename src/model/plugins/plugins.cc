#include "base/invariant.h"
#include "base/text.h"
#include "model/plugins/python.h"
#include "model/plugins/user_plugins.h"
#include "model/std/groups.h"

namespace fettle::model {
namespace {

using Rows = std::span<const PluginRow>;

/// The plugins of `std`, or of a module that ships with fettle.
std::span<const Rows> rows_of(const Space& space) {
  static const std::array std_rows{
      control_plugins(), dicts_plugins(),   environment_plugins(), files_plugins(),
      lists_plugins(),   network_plugins(), references_plugins(),  reflection_plugins(),
      secrets_plugins(), strings_plugins(), template_plugins(),    validation_plugins()};
  static const std::array exec_rows{exec_plugins()};
  if (space.name == "std")
    return std_rows;
  if (space.name == "exec" && space.module == nullptr)
    return exec_rows;
  return {};
}

const PluginRow* find_row(const Space& space, std::string_view name) {
  for (const Rows& rows : rows_of(space))
    for (const PluginRow& row : rows)
      if (row.name == name)
        return &row;
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
  // Only the class of a resource, which is Python, knows the id by which facts are kept.
  if (full_name == "std::getfact" && program.facts) {
    const Result<Value> facts = program.facts();
    if (!facts || !facts->is_null())
      run_in_python(*made);
  }
  return program.plugins.emplace(full_name, std::move(made)).first->second.get();
}

std::vector<std::string> shipped_plugins(const Space& space) {
  std::vector<std::string> names;
  for (const Rows& rows : rows_of(space))
    for (const PluginRow& row : rows)
      names.emplace_back(row.name);
  return names;
}

}  // namespace fettle::model
