#include "sim/world_check.h"

#include <set>

#include "base/text.h"

namespace fettle::sim {
namespace {

Value filled_attributes(const Resource& resource, const Known& known) {
  return fill_holes(resource.attributes, [&](const Output& hole) {
    const auto record = known.find({resource.key.environment, hole.kind, hole.name});
    return record == known.end() ? nullptr : follow(record->second->outputs, hole.path);
  });
}

std::optional<std::string> flaw_of_thing(const Resource& resource, const Value& filled,
                                         const World& world, bool is_dropped) {
  const auto thing = world.things.find(resource.key);
  const bool there = thing != world.things.end();
  if (there == is_dropped)
    return to_string(resource.key) + (there ? " should be gone" : " is not there");
  if (there && !(thing->second.attributes == filled))
    return to_string(resource.key) + " is not as wanted";
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

}  // namespace

std::optional<std::string> first_flaw(const Intent& intent, const Known& known,
                                      const World& world) {
  const std::vector<Resource>& resources = intent.resources.at("p");
  std::map<Name, std::vector<std::string>> logs;
  std::set<Name> wanted, dropped;
  for (const Resource& resource : resources) {
    wanted.insert(resource.key.name);
    if (resource.key.kind == "drop")
      dropped.insert(resource.needs[0].keys[0].name);
  }
  for (const Resource& resource : resources) {
    const Value filled = filled_attributes(resource, known);
    if (resource.key.kind == "act")
      logs[resource.needs[0].keys[0].name].push_back(
          cat(resource.key.name, " ", to_string(filled.digest())));
    if (resource.key.kind != "host" && resource.key.kind != "file" && resource.key.kind != "config")
      continue;
    if (auto flaw = flaw_of_thing(resource, filled, world, dropped.contains(resource.key.name)))
      return flaw;
    if (auto flaw = missed_event(resource, world))
      return flaw;
  }
  for (const auto& [key, thing] : world.things) {
    if (wanted.contains(key.name) && thing.log != logs[key.name])
      return cat("what happened in ", to_string(key), " is not its history");
    if (!wanted.contains(key.name) && intent.sets.at("p") == Leftover::remove)
      return to_string(key) + " is left, though nobody wants it";
  }
  return std::nullopt;
}

}  // namespace fettle::sim
