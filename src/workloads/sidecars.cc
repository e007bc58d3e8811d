#include "workloads/sidecars.h"

#include <algorithm>

#include "base/text.h"
#include "workloads/names.h"

namespace fettle::workloads {
namespace {

constexpr const char* parts[] = {"containers", "initContainers", "volumes"};

std::set<Name> names_in(const Value& list) {
  std::set<Name> names;
  if (list.is_list())
    for (const Value& item : list.items())
      names.insert(item.text_at("name"));
  return names;
}

/// A name that both have, of containers or volumes; empty: none.
Name conflict(const Value& spec, const Value& other) {
  std::set<Name> ours = names_in(spec.at("containers")), theirs = names_in(other.at("containers"));
  ours.merge(names_in(spec.at("initContainers")));
  theirs.merge(names_in(other.at("initContainers")));
  for (const Name& name : theirs)
    if (ours.contains(name))
      return name;
  return {};
}

}  // namespace

Value sidecar_of(const Workload& set, const Revision& revision) {
  std::vector<Entry> entries{{"name", set.name}, {"revision", revision.name}};
  if (!set.first_containers.empty())
    entries.push_back({"before", Value::list(std::vector<Value>(set.first_containers.begin(),
                                                                set.first_containers.end()))});
  const Value& spec = revision.pod_template.at("spec");
  for (const char* part : parts)
    if (spec.at(part).is_list())
      entries.push_back({part, spec.at(part)});
  return Value::dict(std::move(entries));
}

Value sidecar_template(const Value& sidecar) {
  std::vector<Entry> entries;
  for (const char* part : parts)
    if (sidecar.at(part).is_list())
      entries.push_back({part, sidecar.at(part)});
  return Value::dict({{"spec", Value::dict(std::move(entries))}});
}

bool is_meant(const Fleet& fleet, const Workload& set, const Name& space, const Value& labels) {
  if (!set.pods_space.empty() && set.pods_space != space)
    return false;
  if (set.spaces) {
    const Object* object = fleet.object(cat("Namespace//", space));
    const Value own = object == nullptr ? Value() : object->document.at("metadata").at("labels");
    if (!set.spaces->matches(edited(own, {{"kubernetes.io/metadata.name", space}})))
      return false;
  }
  return set.selector.matches(labels);
}

Value sidecars_for(Rollout& rollout, const Value& labels, const Value& pod_template,
                   std::string_view pod) {
  std::vector<Value> found;
  for (const Name& owner : rollout.fleet.sidecar_sets()) {
    const Workload& set = *rollout.fleet.workload(owner);
    if (set.injection_paused || !is_meant(rollout.fleet, set, rollout.workload.space, labels))
      continue;
    const Rollout revisions(rollout.fleet, set, rollout.now);
    Value sidecar = sidecar_of(set, revisions.update());
    Name taken = conflict(pod_template.at("spec"), sidecar);
    for (const Value& other : found)
      if (taken.empty())
        taken = conflict(other, sidecar);
    if (taken.empty())
      found.push_back(std::move(sidecar));
    else
      rollout.tell("FailedInjectSidecar", cat(pod, "|", set.name),
                   cat("SidecarSet ", set.name, " is not injected into pod ", pod,
                       ": a container `", taken, "` already exists"),
                   "Warning");
  }
  return found.empty() ? Value() : Value::list(std::move(found));
}

SidecarTurns::SidecarTurns(const Fleet& fleet, Time now) {
  for (const Name& owner : fleet.sidecar_sets()) {
    const Workload& set = *fleet.workload(owner);
    const Rollout revisions(fleet, set, now);
    const Value turns = revisions.memory("turns");
    if (!turns.is_list() || revisions.memory("turns_of") != Value(revisions.update().name))
      continue;
    Turns& those = by_name_[set.name];
    those.sidecar = sidecar_of(set, revisions.update());
    for (const Value& key : turns.items())
      those.pods.insert(to_text(key));
  }
}

Value SidecarTurns::taken(const Pod& pod, const Value& sidecars) const {
  if (by_name_.empty())
    return sidecars;
  std::vector<Value> items;
  for (const Value& sidecar : sidecars.items()) {
    const auto turns = by_name_.find(sidecar.text_at("name"));
    const bool has_turn =
        turns != by_name_.end() && turns->second.pods.contains(pod.resource->key.name);
    items.push_back(has_turn ? turns->second.sidecar : sidecar);
  }
  return Value::list(std::move(items));
}

}  // namespace fettle::workloads
