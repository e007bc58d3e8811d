#include "verbs/packages/package_run.h"

#include <algorithm>

#include "kinds/artifact.h"
#include "kinds/kinds.h"
#include "kinds/service.h"
#include "packages/instructions/instruction.h"
#include "verbs/packages/entries.h"

namespace fettle {
namespace {

constexpr std::string_view executed_note = "executed instructions";

/// A statement as the seeds' resolver sees it.
ListedInstruction listed(const Statement& statement,
                         const std::map<Key, const Resource*>& resources) {
  ListedInstruction instruction;
  instruction.type = statement.name.str();
  instruction.text = statement.text.str();
  const OverlapRule& rule = overlap_rule(statement.name);
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
      instruction.artifacts[std::string(artifact_name(key))] =
          read_one<&Artifact::digest>(resource.attributes).get().str();
    for (const Need& need : resource.needs)
      if ((need.bond == Bond::inside || need.bond == Bond::past) && !rule.adds_services)
        once(instruction.services, Name(service_name(need.keys.front())));
    for (const Output& hole : holes(resource.attributes))
      if (hole.kind == "artifact")
        once(instruction.mounts, Name(artifact_name({key.environment, hole.kind, hole.name})));
    instruction.force |= resource.redo == Redo::always;
  }
  if (rule.reads_its_artifact)
    once(instruction.mounts, Name(statement.detail.at("arguments").text_at("name")));
  return instruction;
}

}  // namespace

std::vector<ListedInstruction> listed(const Intent& intent, std::span<const Statement> statements,
                                      const Kinds& kinds) {
  std::map<Key, const Resource*> resources;
  for (const auto& [set, wanted] : intent.resources)
    for (const Resource& resource : wanted)
      resources[resource.key] = &resource;
  std::vector<ListedInstruction> list;
  for (const Statement& statement : statements) {
    list.push_back(listed(statement, resources));
    list.back().actions = actions_of(statement.keys, kinds);
  }
  return list;
}

std::shared_ptr<const Intent> with_resolution(const Intent& intent,
                                              std::span<const Statement> statements,
                                              const Resolution& resolution) {
  auto changed = std::make_shared<Intent>(intent);
  std::map<Key, Redo> redo;
  for (size_t i = 0; i < statements.size(); ++i)
    for (const Key& key : statements[i].keys)
      redo[key] = resolution.decisions[i] == Overlap::equal &&
                          !(redo.contains(key) && redo[key] == Redo::resolved)
                      ? Redo::if_lost
                      : Redo::resolved;
  for (auto& [set, resources] : changed->resources)
    for (Resource& resource : resources)
      // Only asking there shows whether something else is at an address now.
      if (const auto found = redo.find(resource.key);
          found != redo.end() &&
          !(found->second == Redo::if_lost && resource.key.kind == artifact_kind().name() &&
            read_one<&Artifact::source>(resource.attributes).view() == "url"))
        resource.redo = found->second;
  return changed;
}

namespace {

/// Whether the records say that an instruction was done: in a certain run or a later one, or ever
/// if the resolver found it equal. What happened inside a host counts while that incarnation of the
/// host lives.
bool was_done(const Value& keys, const Name& environment, std::optional<uint64_t> run,
              const Known& known) {
  return std::ranges::all_of(keys.items(), [&](const Value& key) {
    const auto found = known.find({environment, key.text_at("kind"), key.text_at("name")});
    if (found == known.end() || !found->second->applied || found->second->attempt)
      return false;
    const Record& record = *found->second;
    return (!run || record.run >= *run) &&
           std::ranges::all_of(record.acted_on, [&](const Version& version) {
             const auto host = known.find(version.key);
             return version.incarnation == 0 ||
                    (host != known.end() && host->second->incarnation == version.incarnation);
           });
  });
}

}  // namespace

Result<PackageRun> read_executed(const Workplace& place, const Name& environment) {
  const Value note = TRY(place.store->note(environment, executed_note)).value_or(Value());
  if (!note.is_dict())
    return PackageRun{listed_instructions(note)};
  PackageRun executed{listed_instructions(note.at("kept")), true};
  std::vector<ListedInstruction>& list = executed.list;
  const std::vector<ListedInstruction> submitted = listed_instructions(note.at("submitted"));
  const Value &keys = note.at("keys"), &equal = note.at("equal");
  if (!keys.is_list() || !equal.is_list() || keys.items().size() != submitted.size() ||
      equal.items().size() != submitted.size())
    return executed;
  const Known known = TRY(place.store->known(environment));
  const auto run = static_cast<uint64_t>(note.integer_at("run"));
  for (size_t i = 0; i < submitted.size(); ++i)
    if (was_done(keys.items()[i], environment,
                 equal.items()[i] == Value(true) ? std::nullopt : std::optional(run), known))
      list.push_back(submitted[i]);
  return executed;
}

Status begin_executed(Edit& edit, const std::vector<ListedInstruction>& executed,
                      const Submission& submitted) {
  const size_t kept = std::min(submitted.resolution.start, executed.size());
  if (std::equal(executed.begin() + static_cast<std::ptrdiff_t>(kept), executed.end(),
                 submitted.instructions.begin(), submitted.instructions.end()))
    return {};  // it stays as it is
  std::vector<Value> keys, equal;
  for (size_t i = 0; i < submitted.instructions.size(); ++i) {
    std::vector<Value> of_one;
    for (const Key& key : submitted.statements[i].keys)
      of_one.push_back(Value::dict({{"kind", key.kind}, {"name", key.name}}));
    keys.push_back(Value::list(std::move(of_one)));
    equal.push_back(submitted.resolution.decisions[i] == Overlap::equal);
  }
  return edit.put_note(
      executed_note,
      Value::dict({{"kept", to_value({executed.begin(),
                                      executed.begin() + static_cast<std::ptrdiff_t>(kept)})},
                   {"submitted", to_value(submitted.instructions)},
                   {"keys", Value::list(std::move(keys))},
                   {"equal", Value::list(std::move(equal))},
                   {"run", edit.number()}}));
}

Status write_executed(Edit& edit, const std::vector<ListedInstruction>& list) {
  return edit.put_note(executed_note, to_value(list));
}

Status append_executed(const Workplace& place, Edit& edit, ListedInstruction instruction) {
  std::vector<ListedInstruction> list = TRY(read_executed(place, edit.environment())).list;
  list.push_back(std::move(instruction));
  return write_executed(edit, list);
}

}  // namespace fettle
