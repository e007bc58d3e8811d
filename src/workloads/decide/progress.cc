#include "workloads/decide/progress.h"

#include <limits>

namespace fettle::workloads {
namespace {

/// The numbers that show progress: it is made when one of them changes.
Value measure_of(const Rollout& rollout) {
  const Counts counts = counts_of(rollout);
  return Value::list({rollout.update().name, counts.all, counts.available, counts.updated,
                      counts.updated_ready, counts.updated_available});
}

std::optional<Duration> deadline_of(const Workload& workload) {
  const auto seconds = workload.progress_deadline_seconds;
  if (!seconds || *seconds >= std::numeric_limits<int32_t>::max())
    return std::nullopt;
  return std::chrono::seconds(*seconds);
}

}  // namespace

Counts counts_of(const Rollout& rollout) {
  Counts counts;
  for (const PodRow& row : rollout.rows) {
    ++counts.all;
    counts.ready += row.is_ready();
    counts.available += row.is_available;
    counts.updated += row.is_updated;
    counts.current += row.revision_number == rollout.current_index ? 1 : 0;
    counts.updated_ready += row.is_updated && row.is_ready();
    counts.updated_available += row.is_updated && row.is_available;
  }
  return counts;
}

std::string_view progress_reason(const Rollout& rollout) {
  const Workload& workload = rollout.workload;
  const Counts counts = counts_of(rollout);
  const int64_t replicas = workload.replicas;
  const bool is_stable = counts.all == replicas && counts.available == replicas;
  if (is_stable && counts.updated == replicas)
    return "CloneSetAvailable";
  if (workload.paused)
    return "CloneSetPaused";
  const int64_t expected = replicas - workload.kept(replicas);
  if (counts.all == replicas && counts.updated >= expected && counts.updated_available >= expected)
    return "ProgressPartitionAvailable";
  const auto deadline = deadline_of(workload);
  const Value since = rollout.memory("progress").at("since");
  if (deadline && since.is_integer() &&
      rollout.now >= Time(Duration(since.integer().value_or(0))) + *deadline)
    return "ProgressDeadlineExceeded";
  return "CloneSetUpdated";
}

void follow_progress(Rollout& rollout) {
  const auto deadline = deadline_of(rollout.workload);
  if (!deadline) {
    rollout.remember("progress", Value());
    return;
  }
  const Value measure = measure_of(rollout);
  const Value known = rollout.memory("progress");
  // The time of a pause does not count: the clock starts again when the pause ends.
  const bool was_paused = known.bool_at("paused"), is_paused = rollout.workload.paused;
  if (known.at("measure") != measure || was_paused != is_paused)
    rollout.remember("progress", Value::dict({{"measure", measure},
                                              {"paused", is_paused},
                                              {"since", rollout.now.time_since_epoch().count()}}));
  const std::string_view reason = progress_reason(rollout);
  if (reason == "CloneSetUpdated")
    rollout.ask_at(Time(Duration(rollout.memory("progress").integer_at("since"))) + *deadline);
  if (reason == "ProgressDeadlineExceeded")
    rollout.tell("ProgressDeadlineExceeded", rollout.update().name,
                 "the rollout made no progress within `progressDeadlineSeconds`", "Warning");
}

}  // namespace fettle::workloads
