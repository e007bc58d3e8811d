#include "verbs/fleet/store_fleet.h"

#include <algorithm>

#include "base/text.h"
#include "kinds/pod.h"
#include "verbs/environments/explain.h"
#include "verbs/fleet/claims.h"
#include "verbs/fleet/pods.h"
#include "verbs/fleet/workload_views.h"
#include "workloads/read/change.h"
#include "workloads/workload.h"

namespace fettle {
namespace {

constexpr size_t most_notices = 3;

/// The pod that was changed last, and why.
Result<std::vector<std::string>> last_act(const Workplace& place, const Name& environment,
                                          const Name& owner) {
  std::optional<Key> last;
  Time finished;
  for (const auto& [key, record] : TRY(place.store->known(environment))) {
    const Resource* const then = resource_of_then(*record);
    if (key.kind != "pod" || then == nullptr ||
        read_one<&Pod::owner>(then->attributes).view() != owner)
      continue;
    const Time time = record->attempt ? record->attempt->started : record->finished;
    if (last && time < finished)
      continue;
    last = key;
    finished = time;
  }
  std::vector<std::string> lines;
  if (!last)
    return lines;
  for (const Cause& cause : TRY(why(place, environment, *last))) {
    lines.push_back(cat(lines.empty() ? "last act: " : "because ", to_string(cause)));
    if (cause.outcome)
      lines.push_back(outcome_text(cause));
  }
  return lines;
}

/// Whether a status has to be computed for objects of a kind.
bool has_status(std::string_view kind) { return workloads::workload_sort(kind).has_value(); }

}  // namespace

Result<std::vector<Value>> StoreFleet::documents(const std::string& kind, const std::string&) {
  // Of a pod, an object is only what was said about it.
  if (kind == "Pod")
    return pods_of(place_, environment_);
  if (kind == "PersistentVolumeClaim")
    return claims_of(place_, environment_);
  std::vector<Value> found;
  const std::vector<workloads::Object> objects =
      TRY(has_status(kind) ? objects_with_status(place_, environment_)
                           : stored_objects(place_, environment_));
  for (const workloads::Object& object : objects)
    if (object.kind == kind)
      found.push_back(shown_document(object));
  return found;
}

Result<Value> StoreFleet::rollout_status(const Name& owner) {
  std::vector<std::string> names;
  for (const workloads::Object& object : TRY(objects_with_status(place_, environment_))) {
    names.push_back(object.owner().str());
    if (object.owner() != owner)
      continue;
    if (!object.document.at("status").is_dict())
      return user_error(cat("a ", object.kind, " has no rollout"));
    return object.document.at("status");
  }
  return user_error(
      cat("there is no `", replace_all(owner, "//", "/"), "`", suggestion(owner, names)));
}

Result<std::vector<workloads::Object>> StoreFleet::with_status(const IsMeant& is_meant) {
  std::vector<workloads::Object> found;
  if (!is_of_fleet(TRY(place_.store->versions().open(environment_, {}))->detail()))
    return found;
  const std::vector<workloads::Object> stored = TRY(stored_objects(place_, environment_));
  if (std::ranges::none_of(stored, is_meant))
    return found;
  for (workloads::Object& object : TRY(objects_with_status(place_, environment_)))
    if (is_meant(object))
      found.push_back(std::move(object));
  return found;
}

Result<std::vector<std::string>> StoreFleet::history(const Name& owner) {
  std::vector<std::string> lines;
  const std::vector<NoticeView> notices = TRY(notices_of(place_, environment_, owner));
  const size_t first = notices.size() - std::min(notices.size(), most_notices);
  for (size_t i = first; i < notices.size(); ++i)
    lines.push_back(cat(to_string(notices[i].time), " ", notices[i].reason, ": ", notices[i].text));
  for (std::string& line : TRY(last_act(place_, environment_, owner)))
    lines.push_back(std::move(line));
  return lines;
}

Result<std::vector<ImageView>> StoreFleet::images(bool all) {
  return images_of(place_, environment_, all);
}

Result<std::unique_ptr<FleetView>> StoreFleet::view_of(const Name&) {
  return learn_fleet(place_, environment_);
}

Result<std::vector<StoredObject>> StoreFleet::change(const Name& owner,
                                                     const ObjectChange& change) {
  return change_objects(place_, environment_, {owner}, change);
}

Result<std::vector<StoredObject>> StoreFleet::return_to(const Name& owner, const Name&,
                                                        const Value& pod_template) {
  return change(owner, [&](const workloads::Object& before) {
    return workloads::with_template(before, pod_template);
  });
}

Result<Trial> StoreFleet::try_out(std::vector<workloads::Object> objects) {
  Trial trial;
  const std::vector<workloads::Object> before = TRY(stored_objects(place_, environment_));
  objects = TRY(merged_objects(before, std::move(objects)));
  trial.objects = TRY(fates_of(before, objects));
  trial.view = TRY(look_at_fleet(place_, environment_));
  FleetView& view = *trial.view;
  for (size_t i = 0; i < objects.size(); ++i) {
    view.owners.insert(trial.objects[i].owner);
    if (trial.objects[i].fate != StoredObject::Fate::unchanged)
      view.fleet.put(objects[i]);
  }
  TRY(look_at_room(place_, view.fleet));
  TRY(look_at_images(place_, view.fleet));
  trial.owners = view.owners;
  return trial;
}

}  // namespace fettle
