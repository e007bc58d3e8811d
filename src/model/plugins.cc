#include "model/std/groups.h"

namespace fettle::model {

const Plugin* find_plugin(std::string_view space, std::string_view name) {
  if (space != "std")
    return nullptr;
  constexpr std::array groups{control_plugins, lists_plugins,      strings_plugins,
                              dicts_plugins,   reflection_plugins, environment_plugins};
  for (const auto& group : groups)
    for (const Plugin& plugin : group())
      if (plugin.name == name)
        return &plugin;
  return nullptr;
}

}  // namespace fettle::model
