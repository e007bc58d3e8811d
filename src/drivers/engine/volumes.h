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

/// One of this name that is there already is fine. `in_memory`: what is in it is lost when nobody
/// mounts it.
Status create_volume(Engine& engine, const std::string& name,
                     const std::vector<std::pair<std::string, std::string>>& labels,
                     std::stop_token stop, bool in_memory = false);
Result<std::vector<VolumeState>> list_volumes(Engine& engine,
                                              const std::vector<std::string>& labels,
                                              std::stop_token stop);
/// The folder of the engine's machine that a volume is in.
Result<std::string> volume_folder(Engine& engine, const std::string& name, std::stop_token stop);
/// Gone is fine; containers that use it are an error.
Status remove_volume(Engine& engine, const std::string& name, std::stop_token stop);

}  // namespace fettle
