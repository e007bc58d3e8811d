#include "verbs/states/state_looks.h"

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>

#include "core/open_payload.h"
#include "core/output_at.h"
#include "kinds/command.h"
#include "kinds/kinds.h"

namespace fettle {
namespace {

bool has_conditions(const Resource& resource) {
  if (resource.key.kind != command_kind().name())
    return false;
  const HostCommand command = read<HostCommand>(resource.attributes);
  const auto is_given = [](const Hole<Name>* condition) {
    return !condition->is_null() && condition->value() != Value("");
  };
  return std::ranges::any_of(std::array{&command.creates, &command.unless, &command.onlyif},
                             is_given);
}

/// Whether only an act can look at it. For most things, what is seen says it all; for a command,
/// its conditions do.
bool looks_by_act(const Resource& resource) {
  return resource.key.kind == "state" || resource.mandate == Mandate::look ||
         has_conditions(resource);
}

void look_only(Resource& resource, const std::set<Key>& looked) {
  if (resource.mandate != Mandate::look)
    resource.mandate = has_conditions(resource) ? Mandate::look : Mandate::report;
  resource.ends_run = false;
  for (Need& need : resource.needs)
    if (need.bond != Bond::past)
      std::erase_if(need.keys, [&](const Key& key) { return !looked.contains(key); });
  std::erase_if(resource.needs, [](const Need& need) { return need.keys.empty(); });
}

using Expectation = std::unordered_map<Key, const Resource*, KeyHash>;

/// A reference to a thing that is only seen reads what the thing will be.
Attributes with_what_is_wanted(const Attributes& attributes, const Name& environment,
                               const Expectation& wanted) {
  return fill_with(dict_of(attributes), [&](const Output& hole) -> std::optional<Value> {
    const auto found = wanted.find({environment, hole.kind, hole.name});
    return found == wanted.end() || !hole.path.view().starts_with('@')
               ? std::nullopt
               : shown_at(found->second->attributes, hole.path.view());
  });
}

/// Values that are derived from filled ones are derived now. If one is wrong, the look at the thing
/// reports it.
Attributes normal(const Kinds& kinds, const Name& kind, const Attributes& attributes) {
  const Kind* const found = kinds.find(kind);
  return found == nullptr ? attributes : found->normalise(dict_of(attributes)).value_or(attributes);
}

}  // namespace

std::shared_ptr<const Intent> looks_of(const Intent& intent, const Kinds& kinds) {
  auto looks = std::make_shared<Intent>(intent);
  for (auto& [set, leftover] : looks->sets)
    leftover = Leftover::keep;  // the plan reports what has to go
  Expectation wanted;
  for (const auto& [set, resources] : intent.resources)
    for (const Resource& resource : resources)
      wanted.emplace(resource.key, &resource);
  for (auto& [set, resources] : looks->resources) {
    std::erase_if(resources, [](const Resource& one) { return !looks_by_act(one); });
    std::set<Key> looked;
    for (const Resource& resource : resources)
      looked.insert(resource.key);
    for (Resource& resource : resources) {
      look_only(resource, looked);
      if (resource.attributes.has_deferred())
        resource.attributes =
            normal(kinds, resource.key.kind,
                   with_what_is_wanted(resource.attributes, intent.environment, wanted));
    }
  }
  return looks;
}

}  // namespace fettle
