#include "workloads/sidecar_index.h"

#include <algorithm>
#include <tuple>

#include "workloads/fleet.h"

namespace fettle::workloads {

std::vector<Name> names_of_sets(const Value& sidecars) {
  std::vector<Name> sets;
  for (const Value& sidecar : items_of(sidecars))
    if (const Name name = sidecar.text_at("name"); std::ranges::find(sets, name) == sets.end())
      sets.push_back(name);
  return sets;
}

bool SidecarIndex::InOrder::operator()(const FleetPod* a, const FleetPod* b) const {
  return std::tie(a->owner, a->resource->key.name) < std::tie(b->owner, b->resource->key.name);
}

void SidecarIndex::put(const Name& owner, const Name& set) {
  owners_.insert(owner);
  owner_by_set_[set] = owner;
}

void SidecarIndex::drop(const Name& owner) {
  if (owners_.erase(owner) > 0)
    std::erase_if(owner_by_set_, [&](const auto& row) { return row.second == owner; });
}

std::vector<Name> SidecarIndex::owners_of(const FleetPod& pod) const {
  std::vector<Name> found;
  for (const Name& set : pod.sidecar_sets)
    if (const auto owner = owner_by_set_.find(set); owner != owner_by_set_.end())
      found.push_back(owner->second);
  return found;
}

void SidecarIndex::take(FleetPod& pod, std::vector<Name> sets) {
  for (const Name& set : pod.sidecar_sets)
    if (const auto found = pods_.find(set);
        found != pods_.end() && found->second.erase(&pod) > 0 && found->second.empty())
      pods_.erase(found);
  pod.sidecar_sets = std::move(sets);
  for (const Name& set : pod.sidecar_sets)
    pods_[set].insert(&pod);
}

}  // namespace fettle::workloads
