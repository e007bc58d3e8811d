#include "workloads/pods/sidecars.h"

#include <algorithm>

#include "base/text.h"
#include "kinds/pod.h"
#include "workloads/names.h"
#include "workloads/pods/in_place.h"
#include "workloads/pods/sidecar_parts.h"

namespace fettle::workloads {
namespace {

std::set<Name> names_in(const Value& list) {
  std::set<Name> names;
  if (list.is_list())
    for (const Value& item : list.items())
      names.insert(item.text_at("name"));
  return names;
}

/// A name of a container or volume that both have. Empty: there is none.
Name conflict(const Value& spec, const Value& other) {
  std::set<Name> ours = names_in(spec.at("containers")), theirs = names_in(other.at("containers"));
  ours.merge(names_in(spec.at("initContainers")));
  theirs.merge(names_in(other.at("initContainers")));
  for (const Name& name : theirs)
    if (ours.contains(name))
      return name;
  return {};
}

const ContainerSeen* seen_of(const FleetPod& pod, std::string_view container) {
  const auto found = std::ranges::find_if(
      pod.containers, [&](const ContainerSeen& each) { return each.name == container; });
  return found == pod.containers.end() ? nullptr : &*found;
}

Value made_id(const FleetPod& pod, std::string_view container) {
  for (const Entry& entry : pod.made)
    if (entry.key == container)
      return entry.value;
  return {};
}

const Value& container_in(const Value& sidecar, std::string_view name) {
  static const Value none;
  for (const Value& each : items_of(sidecar.at("containers")))
    if (each.text_at("name") == name)
      return each;
  return none;
}

Value ids_of(const ContainerSeen* seen) {
  std::vector<Entry> entries;
  if (seen != nullptr && !seen->image_id.empty())
    entries.push_back({"image_id", seen->image_id});
  if (seen != nullptr && !seen->container_id.empty())
    entries.push_back({"container_id", seen->container_id});
  return Value::dict(std::move(entries));
}

/// The next part of a pod, with the ids of the containers that get another image.
Value with_last_ids(const FleetPod& pod, const Value& before, const Value& next) {
  std::vector<Entry> last;
  for (const Value& container : items_of(next.at("containers"))) {
    const Name name = container.text_at("name");
    if (container_in(before, name).at("image") != container.at("image"))
      last.push_back({name, ids_of(seen_of(pod, name))});
    else if (const Value* const known = before.at("last").find(name))
      last.push_back({name, *known});
  }
  return edited(next, {{"last", last.empty() ? Value() : Value::dict(std::move(last))}});
}

bool are_ready(const FleetPod& pod, const Value& sidecar) {
  return std::ranges::all_of(items_of(sidecar.at("containers")), [&](const Value& container) {
    const ContainerSeen* seen = seen_of(pod, container.text_at("name"));
    return seen != nullptr && seen->is_ready;
  });
}

/// A part with the images of another one, and with what it says of hot sidecars.
Value with_images_of(const Value& part, const Value& next) {
  std::vector<Value> containers;
  for (const Value& container : items_of(part.at("containers"))) {
    const Value& image = container_in(next, container.text_at("name")).at("image");
    containers.push_back(image.is_null() ? container : edited(container, {{"image", image}}));
  }
  return edited(part,
                {{"revision", next.at("revision")},
                 {"containers",
                  part.at("containers").is_list() ? Value::list(std::move(containers)) : Value()},
                 {"annotations", next.at("annotations")},
                 {"working", next.at("working")},
                 {"leaving", next.at("leaving")}});
}

/// A number from 0 to 99, always the same for one pod.
int64_t hundredth_of(std::string_view pod) {
  int64_t number = 0;
  for (const char letter : short_id(pod))
    number = (number * 31 + letter) % 100;
  return number;
}

/// Whether a new pod gets the newest revision although another one is named.
bool gets_newest(const Workload& set, const Value& labels, std::string_view pod) {
  if (!set.injected.is_partial || set.paused ||
      (set.update_selector && !set.update_selector->matches(labels)))
    return false;
  const int64_t kept = set.partition && set.partition->is_percent ? set.partition->number : 0;
  return hundredth_of(pod) >= kept;
}

/// The revision that a new pod gets.
const Revision& injected_revision(Rollout& rollout, const Rollout& revisions, const Workload& set,
                                  const Value& labels, std::string_view pod) {
  if (!set.injected.is_named() || gets_newest(set, labels, pod))
    return revisions.update();
  if (const Revision* named = revisions.injected_revision())
    return *named;
  rollout.tell("FailedInjectSidecar", cat(pod, "|", set.name, "|revision"),
               cat("SidecarSet ", set.name, " has no revision ", set.injected.text(), "; pod ", pod,
                   " gets the newest"),
               "Warning");
  return revisions.update();
}

}  // namespace

bool runs_sidecar(const FleetPod& pod, const Value& sidecar) {
  if (!pod.is_done)
    return false;
  const Value& containers = sidecar.at("containers");
  return !containers.is_list() ||
         std::ranges::all_of(containers.items(), [&](const Value& container) {
           const std::string_view name = container.text_at("name");
           return is_container_updated(seen_of(pod, name), sidecar.at("last").at(name),
                                       container.text_at("image"), made_id(pod, name));
         });
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
    Value sidecar =
        sidecar_of(set, injected_revision(rollout, revisions, set, labels, pod), pod_template);
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
  return found.empty() ? Value() : joined_sidecars(std::move(found));
}

const Revision& revision_for_others(const Rollout& revisions) {
  const Workload& set = revisions.workload;
  const bool has_kept = set.partition && set.partition->is_percent && set.partition->number > 0;
  const bool is_newest =
      set.injected.is_partial && !set.paused && !set.update_selector && !has_kept;
  const Revision* const named =
      set.injected.is_named() && !is_newest ? revisions.injected_revision() : nullptr;
  return named != nullptr ? *named : revisions.update();
}

Value next_sidecar(const Workload& set, const Revision& revision, const FleetPod& pod,
                   const Value& before) {
  if (is_of_others(pod.owner))
    return with_images_of(before, sidecar_of(set, revision, {}, before));
  return sidecar_of(set, revision, pod_template_of(pod.resource->attributes), before);
}

SidecarTurns::SidecarTurns(const Fleet& fleet, Time now) : fleet_(fleet) {
  for (const Name& owner : fleet.sidecar_sets()) {
    const Workload& set = *fleet.workload(owner);
    const Rollout revisions(fleet, set, now);
    const Value turns = revisions.memory("turns");
    if (!turns.is_list() || revisions.memory("turns_of") != Value(revisions.update().name))
      continue;
    Turns& those = by_name_[set.name];
    those.set = &set;
    those.update = revisions.update();
    for (const Value& key : turns.items())
      those.pods.insert(to_text(key));
  }
}

Value SidecarTurns::taken(const FleetPod& pod, const Value& sidecars) const {
  if (by_name_.empty())
    return sidecars;
  std::vector<Value> items;
  bool is_any = false;
  for (const Value& sidecar : items_of(sidecars)) {
    const auto turns = by_name_.find(sidecar.text_at("name"));
    const bool is_next = turns != by_name_.end() && has_turn(pod, turns->second);
    const Value after = is_next ? next(turns->second, pod, sidecar) : sidecar;
    // No act in a cluster says which containers it has made.
    const bool remembers = fleet_.is_cluster && after != sidecar;
    is_any |= after != sidecar;
    items.push_back(remembers ? with_last_ids(pod, sidecar, after) : after);
  }
  return is_any ? joined_sidecars(std::move(items)) : sidecars;
}

bool SidecarTurns::has_turn(const FleetPod& pod, const Turns& turns) const {
  return turns.pods.contains(pod.resource->key.name) &&
         (!is_of_others(pod.owner) || is_meant(fleet_, *turns.set, pod.space, pod.labels));
}

Value SidecarTurns::next(const Turns& turns, const FleetPod& pod, const Value& sidecar) {
  if (sidecar.text_at("revision") != turns.update.name)
    return next_sidecar(*turns.set, turns.update, pod, sidecar);
  return has_leaving(sidecar) && runs_sidecar(pod, sidecar) && are_ready(pod, sidecar)
             ? without_leaving(sidecar)
             : sidecar;
}

}  // namespace fettle::workloads
