#include "verbs/executed.h"

#include "kinds/kinds.h"

namespace fettle {
namespace {

constexpr std::string_view executed_note = "executed instructions";

/// A statement as the seeds' resolver sees it.
ListedInstruction listed(const Statement& statement,
                         const std::map<Key, const Resource*>& resources) {
  ListedInstruction instruction;
  instruction.type = statement.name.str();
  instruction.text = statement.text.str();
  const auto once = [](std::vector<std::string>& names, const Name& name) {
    if (std::find(names.begin(), names.end(), name.view()) == names.end())
      names.push_back(name.str());
  };
  for (const Key& key : statement.keys) {
    const auto found = resources.find(key);
    if (found == resources.end())
      continue;
    const Resource& resource = *found->second;
    if (key.kind == "service")
      once(instruction.services, Name(service_name(key)));
    if (key.kind == "artifact")
      instruction.artifacts[key.name.str()] =
          resource.attributes.at("digest").is_text()
              ? std::string(resource.attributes.text_at("digest"))
              : "";
    for (const Need& need : resource.needs)
      if ((need.bond == Bond::inside || need.bond == Bond::past) &&
          instruction.type != "add_service" && instruction.type != "add_services")
        once(instruction.services, Name(service_name(need.keys.front())));
    for (const Output& hole : holes(resource.attributes))
      if (hole.kind == "artifact")
        once(instruction.mounts, hole.name);
    instruction.force |= resource.redo == Redo::always;
  }
  if (statement.name == "get_files_artifact")
    once(instruction.mounts, Name(statement.detail.at("arguments").text_at("name")));
  return instruction;
}

}  // namespace

std::vector<ListedInstruction> listed(const Intent& intent) {
  std::map<Key, const Resource*> resources;
  for (const auto& [set, wanted] : intent.resources)
    for (const Resource& resource : wanted)
      resources[resource.key] = &resource;
  std::vector<ListedInstruction> list;
  for (const Statement& statement : intent.statements)
    list.push_back(listed(statement, resources));
  return list;
}

std::shared_ptr<const Intent> with_resolution(const Intent& intent, const Resolution& resolution) {
  auto changed = std::make_shared<Intent>(intent);
  std::map<Key, Redo> redo;
  for (size_t i = 0; i < intent.statements.size(); ++i)
    for (const Key& key : intent.statements[i].keys)
      redo[key] = resolution.decisions[i] == Overlap::equal &&
                          !(redo.contains(key) && redo[key] == Redo::always)
                      ? Redo::never
                      : Redo::always;
  for (auto& [set, resources] : changed->resources)
    for (Resource& resource : resources)
      if (const auto found = redo.find(resource.key); found != redo.end())
        resource.redo = found->second;
  return changed;
}

Result<std::vector<ListedInstruction>> read_executed(const Workplace& place,
                                                     const Name& environment) {
  return listed_instructions(TRY(place.store->note(environment, executed_note)).value_or(Value()));
}

Status write_executed(const Workplace& place, const Name& environment,
                      const std::vector<ListedInstruction>& list) {
  return place.store->put_note(environment, executed_note, to_value(list));
}

Status append_executed(const Workplace& place, const Name& environment,
                       ListedInstruction instruction) {
  std::vector<ListedInstruction> list = TRY(read_executed(place, environment));
  list.push_back(std::move(instruction));
  return write_executed(place, environment, list);
}

}  // namespace fettle
