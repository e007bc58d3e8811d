#pragma once
/// The plugins of `std` by group, one file each. One more plugin is a row in its group's table; one
/// more group is a function here and a row in `plugins/plugins.cc`.

#include "model/evaluate/plugin.h"
#include "model/evaluate/plugin_context.h"

namespace fettle::model {

std::span<const PluginRow> control_plugins();
std::span<const PluginRow> dicts_plugins();
std::span<const PluginRow> environment_plugins();
std::span<const PluginRow> exec_plugins();  ///< of the module `exec` that ships with fettle
std::span<const PluginRow> files_plugins();
std::span<const PluginRow> lists_plugins();
std::span<const PluginRow> network_plugins();
std::span<const PluginRow> references_plugins();
std::span<const PluginRow> reflection_plugins();
std::span<const PluginRow> secrets_plugins();
std::span<const PluginRow> strings_plugins();
std::span<const PluginRow> template_plugins();
std::span<const PluginRow> validation_plugins();

}  // namespace fettle::model
