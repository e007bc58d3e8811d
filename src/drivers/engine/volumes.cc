#include "drivers/engine/volumes.h"

#include "drivers/engine/marks.h"

namespace fettle {

Status create_volume(Engine& engine, const std::string& name,
                     const std::vector<std::pair<std::string, std::string>>& labels,
                     std::stop_token stop) {
  const EngineAnswer answer =
      TRY(engine.ask({.method = "POST",
                      .path = "/volumes/create",
                      .body = Value::dict({{"Name", name}, {"Labels", labels_value(labels)}})},
                     stop));
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
  return found;
}

Status remove_volume(Engine& engine, const std::string& name, std::stop_token stop) {
  const EngineAnswer answer =
      TRY(engine.ask({.method = "DELETE", .path = "/volumes/" + percent_encode(name)}, stop));
  if (answer.ok() || answer.status == 404)
    return {};
  return engine_error(answer);
}

}  // namespace fettle
