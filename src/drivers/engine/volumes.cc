#include "drivers/engine/volumes.h"

namespace fettle {

Status create_volume(Engine& engine, const std::string& name,
                     const std::vector<std::pair<std::string, std::string>>& labels,
                     std::stop_token stop) {
  std::vector<Entry> entries;
  for (const auto& [key, value] : labels)
    entries.push_back({key, value});
  const EngineAnswer answer = TRY(engine.ask(
      {.method = "POST",
       .path = "/volumes/create",
       .body = Value::dict({{"Name", name}, {"Labels", Value::dict(std::move(entries))}})},
      stop));
  if (!answer.ok())
    return engine_error(answer);
  return {};
}

Result<std::vector<VolumeState>> list_volumes(Engine& engine,
                                              const std::vector<std::string>& labels,
                                              std::stop_token stop) {
  std::vector<std::pair<std::string, std::string>> conditions;
  for (const std::string& label : labels)
    conditions.emplace_back("label", label);
  const EngineAnswer answer =
      TRY(engine.ask({.path = "/volumes", .query = {{"filters", filters(conditions)}}}, stop));
  if (!answer.ok())
    return engine_error(answer);
  std::vector<VolumeState> found;
  const Value& volumes = answer.body.at("Volumes");
  if (volumes.is_list()) {
    for (const Value& item : volumes.items()) {
      VolumeState state{.name = std::string(item.text_at("Name")), .labels = {}};
      for (auto& [key, value] : texts_of(item.at("Labels")))
        state.labels.emplace(std::move(key), std::move(value));
      found.push_back(std::move(state));
    }
  }
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
