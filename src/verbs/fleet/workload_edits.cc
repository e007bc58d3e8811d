#include "verbs/fleet/workload_edits.h"

#include <algorithm>

#include "base/text.h"
#include "kinds/pod.h"
#include "value/with.h"
#include "verbs/fleet/workload_views.h"
#include "workloads/names.h"
#include "workloads/read/change.h"

namespace fettle {
namespace {

using workloads::Object;

/// When each of the pods was made. Errors: there is no such pod, unless it may be gone.
Result<std::map<Name, Time>> made_at(const Workplace& place, const Name& environment,
                                     const std::vector<Name>& pods, bool may_be_gone = false) {
  std::map<Name, Time> known;
  std::vector<std::string> names;
  for (const auto& [key, record] : TRY(place.store->known(environment))) {
    if (key.kind != "pod" || !record->applied || record->by_hand == ByHand::removed)
      continue;
    const NodeAddress address = node_address(key.name);
    const Name owner(cat("Pod/", address.space, "/", address.name));
    const int64_t made =
        read_one<&Pod::state>(record->applied->attributes).value().integer_at("made");
    known[owner] = std::max(known[owner], Time(Duration(made)));
    names.push_back(owner.str());
  }
  std::map<Name, Time> found;
  for (const Name& pod : pods) {
    const auto at = known.find(pod);
    if (at == known.end() && may_be_gone)
      continue;
    if (at == known.end())
      return user_error(cat("there is no `", pod, "`", suggestion(pod, names)));
    found.insert(*at);
  }
  return found;
}

bool is_pod(const Name& owner) { return owner.view().starts_with("Pod/"); }

}  // namespace

Edits scale_workloads(const Workplace& place, const Name& environment,
                      const std::vector<Name>& owners, int64_t replicas,
                      std::optional<int64_t> current) {
  return change_objects(place, environment, owners, [&](const Object& before) -> Result<Object> {
    Object after = TRY(workloads::scaled(before, replicas));
    const int64_t found = before.document.at("spec").integer_at("replicas", 1);
    if (current && *current != found)
      return user_error(cat(before.kind, " `", before.name, "` has ", found,
                            found == 1 ? " replica" : " replicas", ", not ", *current));
    return after;
  });
}

Edits set_images(const Workplace& place, const Name& environment, const Name& owner,
                 const std::vector<Entry>& images) {
  return change_objects(place, environment, {owner}, [&](const Object& before) {
    return workloads::with_images(before, images);
  });
}

Edits put_metadata(const Workplace& place, const Name& environment, const std::vector<Name>& owners,
                   std::string_view field, const std::vector<Entry>& entries, bool overwrite) {
  const workloads::Metadata part =
      field == "labels" ? workloads::Metadata::labels : workloads::Metadata::annotations;
  const auto change = [&](const Object& before) {
    return workloads::with_metadata(before, part, entries, overwrite);
  };
  std::vector<Name> pods, others;
  for (const Name& owner : owners)
    (is_pod(owner) ? pods : others).push_back(owner);
  std::vector<StoredObject> stored;
  if (!others.empty())
    stored = TRY(change_objects(place, environment, others, change));
  if (pods.empty())
    return stored;
  const std::map<Name, Time> made = TRY(made_at(place, environment, pods));
  for (StoredObject& pod : TRY(mark_pods(place, environment, made, change)))
    stored.push_back({.owner = pod.owner, .fate = StoredObject::Fate::configured});
  return stored;
}

Edits delete_pods(const Workplace& place, const Name& environment, const std::vector<Name>& pods,
                  bool may_be_gone) {
  const std::map<Name, Time> made = TRY(made_at(place, environment, pods, may_be_gone));
  auto stored = TRY(mark_pods(place, environment, made, [](Object pod) -> Result<Object> {
    pod.document = with(pod.document, "deleted", true);
    return pod;
  }));
  for (StoredObject& pod : stored)
    pod.fate = StoredObject::Fate::deleted;
  return stored;
}

Edits pause_rollout(FleetAccess& fleet, const Name& owner, bool pause) {
  return fleet.change(owner,
                      [&](const Object& before) { return workloads::with_pause(before, pause); });
}

Edits undo_rollout(FleetAccess& fleet, const Name& owner, int64_t revision) {
  const std::vector<RevisionView> revisions = TRY(revisions_of(fleet, owner));
  const RevisionView* found = nullptr;
  std::vector<std::string> numbers;
  for (const RevisionView& each : revisions) {
    numbers.push_back(std::to_string(each.number));
    if (revision == 0 ? !each.is_current : each.number == revision)
      found = &each;
  }
  if (found == nullptr && revision == 0)
    return user_error(cat("`", owner, "` has no earlier revision"));
  if (found == nullptr)
    return user_error(cat("`", owner, "` has no revision ", revision, ", only ",
                          numbers.empty() ? "none" : join(numbers, ", ")));
  return fleet.return_to(owner, found->name, found->pod_template);
}

Edits restart_rollout(FleetAccess& fleet, const Name& owner) {
  return fleet.change(owner, [&](const Object& before) {
    return workloads::restarted(before, fleet.place().clock());
  });
}

}  // namespace fettle
