#include "sim/world_check.h"

#include "base/text.h"
#include "core/open_payload.h"
#include "sim/generate.h"
#include "value/json.h"

namespace fettle::sim {
namespace {

Value filled_attributes(const Resource& resource, const Known& known) {
  return fill_holes(dict_of(resource.attributes), [&](const Output& hole) {
    const auto record = known.find({resource.key.environment, hole.kind, hole.name});
    return record == known.end() ? nullptr : follow(dict_of(record->second->outputs), hole.path);
  });
}

/// How its last transition leaves each host.
std::map<Name, std::string> ends_of(const Intent& intent) {
  std::map<Name, std::string> ends;
  for (const Resource* resource : wanted_of(intent))
    if (const Name& kind = resource->key.kind; kind == "drop" || kind == "halt" || kind == "wake")
      ends[resource->needs[0].keys[0].name] = kind.str();
  return ends;
}

/// What waits for a change is made when there is one, and then again at the next.
bool may_be_missing(const Resource& resource) {
  return std::ranges::any_of(resource.needs,
                             [](const Need& need) { return need.when == When::changed; });
}

std::optional<std::string> flaw_of_thing(const Resource& resource, const Value& filled,
                                         const World& world, const std::string& end) {
  if (may_be_missing(resource))
    return std::nullopt;
  const auto thing = world.things.find(resource.key);
  const bool there = thing != world.things.end();
  if (there == (end == "drop"))
    return to_string(resource.key) + (there ? " should be gone" : " is not there");
  if (there && thing->second.runs == (end == "halt"))
    return to_string(resource.key) + (end == "halt" ? " should not run" : " does not run");
  if (there && !(thing->second.attributes == filled))
    return cat(to_string(resource.key),
               " is not as described: ", write_json(dict_of(thing->second.attributes)),
               " instead of ", write_json(filled));
  return std::nullopt;
}

std::optional<std::string> missed_event(const Resource& resource, const World& world) {
  const auto thing = world.things.find(resource.key);
  for (const Need& need : resource.needs)
    if (thing != world.things.end() && need.bond == Bond::refresh &&
        thing->second.heard.at(need.keys[0]) != world.changes.at(need.keys[0]))
      return cat(to_string(resource.key), " missed an event of ", to_string(need.keys[0]));
  return std::nullopt;
}

bool is_thing(const Name& kind) {
  return kind == "host" || kind == "file" || kind == "config" || kind == "pack" || kind == "copy";
}

}  // namespace

std::optional<std::string> first_flaw(const Intent& intent, const Known& known, const World& world,
                                      const std::set<Key>& edited) {
  std::map<Name, std::vector<std::string>> logs;
  std::set<Name> wanted;
  std::map<Name, std::string> ends = ends_of(intent);
  for (const Resource* resource : wanted_of(intent))
    wanted.insert(resource->key.name);
  for (const Resource* resource : wanted_of(intent)) {
    const Value filled = filled_attributes(*resource, known);
    if (resource->key.kind == "act")
      logs[resource->needs[0].keys[0].name].push_back(
          cat(resource->key.name, " ", to_string(filled.digest())));
    if (!is_thing(resource->key.kind))
      continue;
    if (auto flaw = flaw_of_thing(*resource, filled, world, ends[resource->key.name]))
      return flaw;
    if (auto flaw = missed_event(*resource, world); flaw && !edited.contains(resource->key))
      return flaw;
  }
  for (const auto& [key, thing] : world.things) {
    if (wanted.contains(key.name) && !edited.contains(key) && thing.log != logs[key.name])
      return cat("what happened in ", to_string(key),
                 " is not its history: ", join(thing.log, ", "), " instead of ",
                 join(logs[key.name], ", "));
    if (!wanted.contains(key.name) && intent.sets.begin()->second == Leftover::remove &&
        known.contains(key))
      return to_string(key) + " is left, though nobody wants it";
  }
  return std::nullopt;
}

std::string due_in(const Plan& plan) {
  std::string due;
  for (const Step& step : plan.steps)
    if (step.verb != Verb::keep && step.verb != Verb::ensure && !step.maybe)
      due += cat(to_string(step.verb), " ", to_string(step.key), ": ", step.why, "; ");
  return due;
}

std::optional<std::string> lost_content(const Intent& intent, const Known& known,
                                        const Kinds& kinds, Blobs& blobs,
                                        const std::set<std::string>& changed) {
  for (const Resource* resource : wanted_of(intent)) {
    const auto record = known.find(resource->key);
    if (record == known.end() || !record->second->applied)
      continue;
    for (const Name& digest : kinds.find(resource->key.kind)->contents(record->second->outputs)) {
      if (changed.contains(digest.str()))
        continue;
      const Result<std::string> bytes = read_blob(blobs, digest, 1 << 20);
      if (!bytes)
        return cat("a content of ", to_string(resource->key), " is lost: ", bytes.error().message);
    }
  }
  return std::nullopt;
}

}  // namespace fettle::sim
