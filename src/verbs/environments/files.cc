#include "verbs/environments/files.h"

#include "base/text.h"
#include "kinds/artifact.h"
#include "kinds/kinds.h"
#include "kinds/service.h"
#include "verbs/packages/package_run.h"
#include "workplace/engines.h"
#include "workplace/known_services.h"

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
      if (hole.kind == artifact.kind &&
          artifact_name({key.environment, hole.kind, hole.name}) == artifact_name(artifact)) {
        users.emplace_back(service_name(key));
        break;
      }
  }
  std::sort(users.begin(), users.end());
  return users;
}

/// The record of the last author, with the uuid of the first, which is the uuid of the name.
RecordPointer with_uuid_of_name(const RecordPointer& last, const Known& known) {
  const Key& key = last->applied->key;
  const auto first = known.find({key.environment, key.kind, Name(artifact_name(key))});
  if (first == known.end() || first->second == last || !first->second->applied)
    return last;
  auto named = std::make_shared<Record>(*last);
  ArtifactOutputs outputs = read<ArtifactOutputs>(last->outputs);
  outputs.uuid = read_one<&ArtifactOutputs::uuid>(first->second->outputs);
  named->outputs = write(outputs);
  return named;
}

}  // namespace

std::map<std::string, RecordPointer> files_artifacts(const Known& known) {
  std::map<std::string, RecordPointer> found;
  for (const auto& [key, record] : known) {
    if (key.kind != "artifact" || !record->applied || record->by_hand == ByHand::removed)
      continue;
    RecordPointer& last = found[std::string(artifact_name(key))];
    if (last == nullptr || artifact_author(last->applied->key) < artifact_author(key))
      last = record;
  }
  for (auto& [name, last] : found)
    last = with_uuid_of_name(last, known);
  return found;
}

Value with_last_authors(const Value& service, const Known& known) {
  if (!service.at("files").is_dict())
    return service;
  const std::map<std::string, RecordPointer> artifacts = files_artifacts(known);
  const auto last = [&](const Value& source) {
    const auto found = artifacts.find(std::string(source.text_at("artifact")));
    return found == artifacts.end()
               ? source
               : write(mounted_artifact(found->second->applied->key.name.view()));
  };
  std::vector<Entry> files;
  for (const Entry& mount : service.at("files").entries()) {
    std::vector<Value> sources;
    if (mount.value.is_list())
      for (const Value& source : mount.value.items())
        sources.push_back(last(source));
    files.push_back(
        {mount.key, mount.value.is_list() ? Value::list(std::move(sources)) : mount.value});
  }
  std::vector<Entry> entries;
  for (const Entry& entry : service.entries())
    entries.push_back({entry.key, entry.key == "files" ? Value::dict(files) : entry.value});
  return Value::dict(std::move(entries));
}

Result<EditResult> put_files_artifact(const Workplace& place, Edit& edit, const std::string& name,
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
  // Everybody has to find this content under the name, so it takes the place of the last author's.
  artifact.key =
      before == there.end() ? Key{environment, "artifact", name} : before->second->applied->key;
  artifact.attributes = TRY(artifact_kind().normalise(attributes));
  artifact.origin = place.command;
  artifact.redo = Redo::always;
  const Artifact wanted = read<Artifact>(attributes);
  const bool from_service = wanted.source.view() == "service";
  artifact.driver = from_service ? Name(own_engine) : Name("host");
  if (from_service)
    artifact.needs.push_back({{{environment, "service", wanted.service.get()}},
                              false,
                              When::succeeded,
                              Unmet::fail,
                              Bond::past});
  TRY(append_executed(place, edit,
                      {instruction.substr(0, instruction.find('(')),
                       instruction,
                       {},
                       {},
                       {{name, wanted.digest.get().str()}}}));
  const Key key = artifact.key;
  intent->resources[is_ours ? Name(by_hand) : Name()].push_back(std::move(artifact));
  EditResult edited = TRY(edit_by(place, edit, intent));
  // If it was never made, it does not stay as a failed artifact: nothing wants it any more.
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
    return user_error(
        cat("the files artifact `", artifact_name(key), "` is mounted by ", join(users, ", ")));
  auto intent = std::make_shared<Intent>();
  intent->environment = edit.environment();
  intent->sets[by_hand] = Leftover::keep;
  for (const auto& [each, record] : known)
    if (each.kind == key.kind && artifact_name(each) == artifact_name(key) &&
        record->by_hand != ByHand::removed)
      intent->requests.push_back({each, Verb::remove});
  return TRY(edit_by(place, edit, intent)).summary;
}

}  // namespace fettle
