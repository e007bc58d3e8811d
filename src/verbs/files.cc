#include "verbs/files.h"

#include "base/text.h"
#include "kinds/kinds.h"
#include "verbs/executed.h"
#include "verbs/services.h"

namespace fettle {
namespace {

/// The services that mount an artifact.
std::vector<std::string> users_of(const Known& known, const Kinds& kinds, const Key& artifact) {
  const std::set<Key> removed = removed_services(known, kinds);
  std::vector<std::string> users;
  for (const auto& [key, record] : known) {
    if (key.kind != "service" || !record->applied || removed.contains(key))
      continue;
    for (const Output& hole : holes(record->applied->attributes))
      if (hole.kind == artifact.kind && hole.name == artifact.name) {
        users.emplace_back(service_name(key));
        break;
      }
  }
  std::sort(users.begin(), users.end());
  return users;
}

}  // namespace

Result<RecordPointer> put_files_artifact(const Workplace& place, const Name& environment,
                                         const std::string& name, const Value& attributes,
                                         const std::string& instruction) {
  auto intent = std::make_shared<Intent>();
  intent->environment = environment;
  intent->sets["cli"] = Leftover::keep;
  Resource artifact;
  artifact.key = {environment, "artifact", name};
  artifact.attributes = TRY(artifact_kind().normalise(attributes));
  artifact.origin = place.command;
  artifact.redo = Redo::always;
  const bool from_service = attributes.text_at("source") == "service";
  artifact.driver = from_service ? "engine" : "host";
  if (from_service)
    artifact.needs.push_back({{{environment, "service", attributes.text_at("service")}},
                              false,
                              When::succeeded,
                              Unmet::fail,
                              Bond::past});
  const Key key = artifact.key;
  TRY(append_executed(place, environment,
                      {instruction.substr(0, instruction.find('(')),
                       instruction,
                       {},
                       {},
                       {{name, std::string(attributes.text_at("digest"))}}}));
  intent->resources["cli"].push_back(std::move(artifact));
  Known after;
  const Summary summary = TRY(
      carry_out_intent(place, intent, TRY(place.store->known(environment)), {}, nullptr, &after));
  if (!summary.failures.empty())
    return summary.failures.front().error;
  const auto found = after.find(key);
  if (found == after.end() || !found->second->applied)
    return world_error(cat("the files artifact `", name, "` was not made"));
  return found->second;
}

Status remove_files_artifact(const Workplace& place, const Name& environment, const Key& key) {
  const Known known = TRY(place.store->known(environment));
  if (const std::vector<std::string> users = users_of(known, *place.kinds, key); !users.empty())
    return user_error(cat("the files artifact `", key.name, "` is mounted by ", join(users, ", ")));
  const Change change{Change::forget, key, nullptr, {}};
  return place.store->write(std::span(&change, 1));
}

}  // namespace fettle
