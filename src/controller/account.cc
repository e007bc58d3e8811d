#include "controller/account.h"

#include <algorithm>

#include "base/text.h"

namespace fettle {
namespace {

constexpr Duration awaited_pause = 200ms;  ///< between two looks while something is awaited
constexpr Duration idle_pause = 10s;       ///< while nothing is, and no probe asks for more

/// The shortest period of all probes.
Duration probe_pause(const workloads::Fleet& fleet) {
  int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(idle_pause).count();
  for (const auto& [owner, workload] : fleet.workloads())
    for (const Value& container : items_of(workload->pod_template.at("spec").at("containers")))
      for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"})
        if (container.at(probe).is_dict())
          seconds = std::min(
              seconds, std::max<int64_t>(1, container.at(probe).integer_at("periodSeconds", 10)));
  return std::chrono::seconds(seconds);
}

}  // namespace

void Account::count(const FleetView& view) {
  if (std::exchange(is_counted_, true))
    return;
  progress_ = progress_of(view, place_.clock(), options_.only);
  brought_.pods = progress_.pods;
  brought_.ready = progress_.ready;
  brought_.unsettled = progress_.unsettled;
  brought_.held = progress_.held;
  brought_.is_refused = progress_.is_refused;
}

Duration Account::look_pause(const workloads::Fleet& fleet) const {
  return progress_.is_any_awaited ? awaited_pause
         : options_.keeps         ? probe_pause(fleet)
                                  : idle_pause;
}

void Account::tell_waiting() {
  // Only users can end these. So they are reported at once, even without a terminal.
  if (!options_.keeps)
    for (const std::string& line : progress_.told)
      if (told_holds_.insert(line).second)
        place_.tell(cat("waiting for ", line));
  if (!place_.doing)
    return;
  std::string text;
  if (!brought_.unsettled.empty() && !options_.keeps) {
    const size_t others = brought_.unsettled.size() - 1;
    text = cat(brought_.ready, " of ", brought_.pods, " pods are ready, waiting for ",
               brought_.unsettled[0], others > 0 ? cat(" and ", others, " more") : "");
  }
  if (text != std::exchange(told_, text))
    place_.doing(text);
}

void Account::add(const Summary& summary, const FleetRecords& records) {
  brought_.summary.done += summary.done;
  brought_.summary.kept = summary.kept;
  brought_.summary.blocked = summary.blocked;
  brought_.summary.failures = summary.failures;
  brought_.summary.skips = summary.skips;
  forget_failures_of_others(records);
  brought_.summary.stopped = summary.stopped && !brought_.summary.is_late;
}

/// Drops failures of workloads that nobody asked about.
void Account::forget_failures_of_others(const FleetRecords& records) {
  if (options_.only.empty())
    return;
  const auto is_of_others = [&](const auto& one) {
    const RecordPointer& record = records.find(one.key);
    return record != nullptr && !record->wanted_by.empty() &&
           std::ranges::none_of(record->wanted_by, [&](const auto& wish) {
             return options_.only.contains(wish.first);
           });
  };
  Summary& summary = brought_.summary;
  std::erase_if(summary.failures, is_of_others);
  std::erase_if(summary.skips, is_of_others);
  if (summary.failures.empty() && summary.skips.empty())
    summary.blocked = 0;
}

BringResult Account::close(const FleetView& view) {
  expire();
  count(view);
  if (!options_.keeps)
    add_statuses(view, place_.clock(), options_.only, progress_);
  brought_.unsettled = progress_.unsettled;
  brought_.is_refused = progress_.is_refused;
  if (!told_.empty())
    place_.doing({});
  return std::move(brought_);
}

}  // namespace fettle
