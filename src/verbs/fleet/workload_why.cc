#include "verbs/fleet/workload_why.h"

#include <algorithm>

#include "base/text.h"
#include "controller/workload_objects.h"
#include "kinds/pod.h"
#include "verbs/environments/explain.h"
#include "verbs/fleet/pods.h"
#include "verbs/fleet/workload_views.h"
#include "workloads/workload.h"

namespace fettle {
namespace {

constexpr size_t most_notices = 3;

bool is_meant(const workloads::Object& object, std::string_view what) {
  if (!workloads::workload_sort(object.kind))
    return false;
  return what == object.name.view() || what == object.owner().view() ||
         lower_case(what) == lower_case(cat(object.kind, "/", object.name)) ||
         lower_case(what) == lower_case(object.owner().view());
}

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

}  // namespace

namespace {

/// A partition asks for a number of updated pods; more may be there already.
std::string updated_text(int64_t available, int64_t wanted) {
  if (available > wanted)
    return cat(available, available == 1 ? " updated pod is" : " updated pods are",
               " available, and the partition asks for ", wanted);
  return cat(available, " of ", wanted, " updated pods are available");
}

}  // namespace

std::string rollout_text(const Value& status) {
  const std::string so_far =
      !status.at("updatedReplicas").is_null()
          ? updated_text(status.integer_at("updatedAvailableReplicas"),
                         status.integer_at("expectedUpdatedReplicas"))
      : !status.at("matchedPods").is_null()
          ? cat(status.integer_at("updatedReadyPods"), " of ", status.integer_at("matchedPods"),
                " pods are updated and ready")
          : cat(status.integer_at("succeeded"), " of ", status.integer_at("desired"),
                " nodes have the image");
  const std::string_view reason = status.text_at("reason");
  return reason.empty() ? so_far : cat(so_far, ": ", reason);
}

Result<std::vector<WorkloadWhy>> why_workloads(const Workplace& place, const Name& environment,
                                               std::string_view what) {
  std::vector<WorkloadWhy> found;
  if (!is_of_fleet(TRY(place.store->versions().open(environment, {}))->detail()))
    return found;
  const std::vector<workloads::Object> stored = TRY(stored_objects(place, environment));
  if (std::ranges::none_of(stored, [&](const auto& object) { return is_meant(object, what); }))
    return found;
  for (const workloads::Object& object : TRY(objects_with_status(place, environment))) {
    if (!is_meant(object, what))
      continue;
    WorkloadWhy why{object.owner(), {}};
    const Value& status = object.document.at("status");
    why.lines.push_back(cat(replace_all(why.owner, "//", "/"), " is ", status.text_at("phase"),
                            ": ", rollout_text(status)));
    const std::vector<NoticeView> notices = TRY(notices_of(place, environment, why.owner));
    const size_t first = notices.size() - std::min(notices.size(), most_notices);
    for (size_t i = first; i < notices.size(); ++i)
      why.lines.push_back(
          cat(to_string(notices[i].time), " ", notices[i].reason, ": ", notices[i].text));
    for (std::string& line : TRY(last_act(place, environment, why.owner)))
      why.lines.push_back(std::move(line));
    found.push_back(std::move(why));
  }
  return found;
}

}  // namespace fettle
