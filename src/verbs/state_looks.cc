#include "verbs/state_looks.h"

#include <algorithm>
#include <array>
#include <set>

namespace fettle {
namespace {

bool has_conditions(const Resource& resource) {
  return resource.key.kind == "command" &&
         std::ranges::any_of(std::array{"creates", "unless", "onlyif"}, [&](const char* name) {
           const Value& condition = resource.attributes.at(name);
           return !condition.is_null() && condition != Value("");
         });
}

/// Else what is seen of it says it all. Of a command its conditions do.
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

}  // namespace

std::shared_ptr<const Intent> looks_of(const Intent& intent) {
  auto looks = std::make_shared<Intent>(intent);
  for (auto& [set, leftover] : looks->sets)
    leftover = Leftover::keep;  // what is to go is told by the plan
  for (auto& [set, resources] : looks->resources) {
    std::erase_if(resources, [](const Resource& one) { return !looks_by_act(one); });
    std::set<Key> looked;
    for (const Resource& resource : resources)
      looked.insert(resource.key);
    for (Resource& resource : resources)
      look_only(resource, looked);
  }
  return looks;
}

}  // namespace fettle
