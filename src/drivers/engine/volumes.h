#pragma once
/// Volumes of an engine.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "drivers/engine/engine.h"

namespace fettle {

struct VolumeState {
  std::string name;
  std::map<std::string, std::string> labels;
};

/// It is no error if a volume of this name is there already. `in_memory`: its contents are lost
/// when nobody mounts it.
Status create_volume(Engine& engine, const std::string& name,
                     const std::vector<std::pair<std::string, std::string>>& labels,
                     std::stop_token stop, bool in_memory = false);
Result<std::vector<VolumeState>> list_volumes(Engine& engine,
                                              const std::vector<std::string>& labels,
                                              std::stop_token stop);
/// The folder of the engine's machine in which a volume is.
Result<std::string> volume_folder(Engine& engine, const std::string& name, std::stop_token stop);
/// It is no error if the volume is gone. It is one if containers use it.
Status remove_volume(Engine& engine, const std::string& name, std::stop_token stop);

}  // namespace fettle
