#include "drivers/engine/volumes.h"

#include <algorithm>

#include "base/text.h"
#include "drivers/engine/marks.h"

namespace fettle {

Status create_volume(Engine& engine, const std::string& name,
                     const std::vector<std::pair<std::string, std::string>>& labels,
                     std::stop_token stop, bool in_memory) {
  std::vector<Entry> body{{"Name", name}, {"Labels", labels_value(labels)}};
  if (in_memory)
    body.push_back({"DriverOpts", Value::dict({{"type", "tmpfs"}, {"device", "tmpfs"}})});
  const EngineAnswer answer = TRY(engine.ask(
      {.method = "POST", .path = "/volumes/create", .body = Value::dict(std::move(body))}, stop));
  if (!answer.ok())
    return engine_error(answer);
  return {};
}

Result<std::vector<VolumeState>> list_volumes(Engine& engine,
                                              const std::vector<std::string>& labels,
                                              std::stop_token stop) {
  const EngineAnswer answer =
      TRY(engine.ask({.path = "/volumes", .query = {{"filters", label_filters(labels)}}}, stop));
  if (!answer.ok())
    return engine_error(answer);
  std::vector<VolumeState> found;
  const Value& volumes = answer.body.at("Volumes");
  if (volumes.is_list())
    for (const Value& item : volumes.items())
      found.push_back(
          {.name = std::string(item.text_at("Name")), .labels = labels_in(item.at("Labels"))});
  // Podman lists volumes that have one of the labels.
  std::erase_if(found, [&](const VolumeState& volume) {
    return !std::ranges::all_of(labels, [&](const std::string& wanted) {
      const size_t equals = wanted.find('=');
      const auto own = volume.labels.find(wanted.substr(0, equals));
      return own != volume.labels.end() &&
             (equals == wanted.npos || own->second == wanted.substr(equals + 1));
    });
  });
  return found;
}

Result<std::string> volume_folder(Engine& engine, const std::string& name, std::stop_token stop) {
  const EngineAnswer answer =
      TRY(engine.ask({.path = "/volumes/" + percent_encode(name)}, std::move(stop)));
  if (!answer.ok())
    return engine_error(answer);
  if (answer.body.text_at("Mountpoint").empty())
    return world_error(cat("the engine does not say where volume `", name, "` is"));
  return std::string(answer.body.text_at("Mountpoint"));
}

Status remove_volume(Engine& engine, const std::string& name, std::stop_token stop) {
  const EngineAnswer answer =
      TRY(engine.ask({.method = "DELETE", .path = "/volumes/" + percent_encode(name)}, stop));
  if (answer.ok() || answer.status == 404)
    return {};
  return engine_error(answer);
}

}  // namespace fettle
