#include "verbs/files.h"

#include "base/text.h"
#include "kinds/kinds.h"
#include "verbs/engines.h"
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

std::map<std::string, RecordPointer> files_artifacts(const Known& known) {
  std::map<std::string, RecordPointer> found;
  for (const auto& [key, record] : known)
    if (key.kind == "artifact" && record->applied && record->by_hand != ByHand::removed)
      found[key.name.str()] = record;
  return found;
}

Result<Edited> put_files_artifact(const Workplace& place, Edit& edit, const std::string& name,
                                  const Value& attributes, const std::string& instruction) {
  const Name& environment = edit.environment();
  const std::map<std::string, RecordPointer> there =
      files_artifacts(TRY(place.store->known(environment)));
  const auto before = there.find(name);
  const bool is_ours = before == there.end() || before->second->wanted_by.contains(by_hand);
  auto intent = std::make_shared<Intent>();
  intent->environment = environment;
  if (is_ours)
    intent->sets[by_hand] = Leftover::keep;
  Resource artifact;
  artifact.key = {environment, "artifact", name};
  artifact.attributes = TRY(artifact_kind().normalise(attributes));
  artifact.origin = place.command;
  artifact.redo = Redo::always;
  const bool from_service = attributes.text_at("source") == "service";
  artifact.driver = from_service ? Name(own_engine) : Name("host");
  if (from_service)
    artifact.needs.push_back({{{environment, "service", attributes.text_at("service")}},
                              false,
                              When::succeeded,
                              Unmet::fail,
                              Bond::past});
  TRY(append_executed(place, edit,
                      {instruction.substr(0, instruction.find('(')),
                       instruction,
                       {},
                       {},
                       {{name, std::string(attributes.text_at("digest"))}}}));
  const Key key = artifact.key;
  intent->resources[is_ours ? Name(by_hand) : Name()].push_back(std::move(artifact));
  Edited edited = TRY(edit_by(place, edit, intent));
  // One that was never made is no artifact that failed: nothing wants it any more.
  if (const auto tried = edited.known.find(key);
      tried != edited.known.end() && !tried->second->applied && tried->second->attempt &&
      tried->second->attempt->failed) {
    const Change change{Change::forget, key, nullptr, {}};
    TRY(edit.write(std::span(&change, 1)));
    edited.known.erase(key);
  }
  return edited;
}

Result<Summary> remove_files_artifact(const Workplace& place, Edit& edit, const Key& key) {
  const Known known = TRY(place.store->known(edit.environment()));
  if (const std::vector<std::string> users = users_of(known, *place.kinds, key); !users.empty())
    return user_error(cat("the files artifact `", key.name, "` is mounted by ", join(users, ", ")));
  auto intent = std::make_shared<Intent>();
  intent->environment = edit.environment();
  intent->sets[by_hand] = Leftover::keep;
  intent->requests.push_back({key, Verb::remove});
  return TRY(edit_by(place, edit, intent)).summary;
}

}  // namespace fettle
