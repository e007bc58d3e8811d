#include "verbs/fleet/workload_why.h"

#include "base/text.h"
#include "workloads/workload.h"

namespace fettle {
namespace {

bool is_meant(const workloads::Object& object, std::string_view what) {
  if (!workloads::workload_sort(object.kind))
    return false;
  return what == object.name.view() || what == object.owner().view() ||
         lower_case(what) == lower_case(cat(object.kind, "/", object.name)) ||
         lower_case(what) == lower_case(object.owner().view());
}

/// A partition asks for a number of updated pods; more may be there already.
std::string updated_text(int64_t available, int64_t wanted) {
  if (available > wanted)
    return cat(available, available == 1 ? " updated pod is" : " updated pods are",
               " available, and the partition asks for ", wanted);
  return cat(available, " of ", wanted, " updated pods are available");
}

}  // namespace

std::string rollout_text(std::string_view kind, const Value& status) {
  const std::string so_far =
      !status.at("updatedReplicas").is_null()
          ? updated_text(status.integer_at("updatedAvailableReplicas"),
                         status.integer_at("expectedUpdatedReplicas"))
      : !status.at("matchedPods").is_null()
          ? cat(status.integer_at("updatedReadyPods"), " of ", status.integer_at("matchedPods"),
                " pods are updated and ready")
      : kind == "ImageListPullJob" ? cat(status.integer_at("succeeded"), " of ",
                                         status.integer_at("desired"), " images are on all nodes")
                                   : cat(status.integer_at("succeeded"), " of ",
                                         status.integer_at("desired"), " nodes have the image");
  const std::string_view reason = status.text_at("reason");
  return reason.empty() ? so_far : cat(so_far, ": ", reason);
}

Result<std::vector<WorkloadWhy>> why_workloads(FleetAccess& fleet, std::string_view what) {
  std::vector<WorkloadWhy> found;
  for (const workloads::Object& object : TRY(fleet.with_status(
           [&](const workloads::Object& each) { return is_meant(each, what); }))) {
    WorkloadWhy why{object.owner(), {}};
    const Value& status = object.document.at("status");
    why.lines.push_back(cat(replace_all(why.owner, "//", "/"), " is ", status.text_at("phase"),
                            ": ", rollout_text(object.kind.view(), status)));
    for (std::string& line : TRY(fleet.history(why.owner)))
      why.lines.push_back(std::move(line));
    found.push_back(std::move(why));
  }
  return found;
}

}  // namespace fettle
