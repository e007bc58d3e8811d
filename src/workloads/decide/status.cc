#include "workloads/decide/status.h"

#include <algorithm>

#include "base/rfc3339.h"
#include "base/text.h"
#include "kinds/image.h"
#include "kinds/notice.h"
#include "kinds/pull_job.h"
#include "workloads/decide/clone_set.h"
#include "workloads/decide/daemon_set.h"
#include "workloads/decide/progress.h"
#include "workloads/decide/pulls.h"
#include "workloads/decide/sidecar_set.h"
#include "workloads/decide/stateful_set.h"
#include "workloads/rollout.h"

namespace fettle::workloads {
namespace {

Value condition_of(std::string_view type, bool is_true, std::string_view reason,
                   std::string_view message) {
  return Value::dict({{"type", type},
                      {"status", is_true ? "True" : "False"},
                      {"reason", reason},
                      {"message", message}});
}

/// The pulls of a rollout's jobs: where each image is, and where it cannot be pulled and why.
Value pulls_of(const Rollout& rollout, std::string& failure) {
  std::vector<Value> found;
  for (const auto& [name, memory] : rollout.owned.jobs) {
    const PullJob job = read<PullJob>(memory.resource->attributes);
    const Name& image = job.image;
    int64_t present = 0, pulling = 0;
    std::vector<Value> failed;
    std::set<Name> nodes;
    for (const PodRow& row : rollout.rows)
      if (nodes.insert(row.node()).second) {
        const Node* node = rollout.fleet.node(row.node());
        present += node != nullptr && Fleet::has_image(*node, image) ? 1 : 0;
      }
    for (const Name& key : rollout.owned.pulls) {
      const Pull* pull = rollout.fleet.pull(key);
      if (pull == nullptr ||
          read_one<&Image::reference>(pull->resource->attributes).view() != image.view())
        continue;
      pulling += !pull->is_done && !pull->has_failed ? 1 : 0;
    }
    for (const PullFailure& each : pull_failures(rollout.fleet, rollout.owner, job)) {
      failed.push_back(Value::dict({{"node", each.node}, {"error", each.error}}));
      failure = failure_text(image, each);
    }
    found.push_back(Value::dict({{"image", image},
                                 {"job", job.name},
                                 {"nodes", static_cast<int64_t>(nodes.size())},
                                 {"present", present},
                                 {"pulling", pulling},
                                 {"failed", Value::list(std::move(failed))}}));
  }
  return found.empty() ? Value() : Value::list(std::move(found));
}

/// A pod whose act failed is still as it was before.
Counts counts_as_they_are(const Rollout& rollout) {
  Counts counts = counts_of(rollout);
  for (size_t row = 0; row < rollout.size(); ++row) {
    const FleetPod* const pod = rollout.pod(row);
    const PodRow& now = rollout.rows[row];
    if (pod == nullptr || pod->error.empty() || !pod->exists || !now.is_updated)
      continue;
    --counts.updated;
    counts.updated_ready -= now.is_ready();
    counts.updated_available -= now.is_available;
    counts.ready += !now.is_ready() && pod->is_ready();
    counts.available += !now.is_available && pod->is_ready();
  }
  return counts;
}

/// The fields that only a DaemonSet has.
std::vector<Entry> fields_of(const NodeCounts& nodes) {
  return {{"desiredNumberScheduled", nodes.desired},
          {"currentNumberScheduled", nodes.current},
          {"updatedNumberScheduled", nodes.updated},
          {"numberReady", nodes.ready},
          {"numberAvailable", nodes.available},
          {"numberUnavailable", nodes.desired - nodes.available},
          {"numberMisscheduled", nodes.misscheduled}};
}

/// Empty: no hook holds a pod.
std::string held_by_hooks(const Rollout& rollout) {
  const auto is_held = [](const PodRow& row) { return may_be_held(row.lifecycle); };
  const auto first = std::ranges::find_if(rollout.rows, is_held);
  if (first == rollout.rows.end())
    return {};
  const auto others = std::ranges::count_if(rollout.rows, is_held) - 1;
  return cat("a lifecycle hook holds pod ", first->name(), " in ", to_string(first->lifecycle),
             others == 0 ? "" : cat(", and ", others, " more"));
}

bool is_away(const Rollout& rollout, const FleetPod& pod) {
  const Node* const node = rollout.fleet.node(pod.node);
  return !rollout.fleet.is_cluster && (node == nullptr || !node->is_ready);
}

/// Why the first pod that is not ready is not. Empty: nobody knows.
std::string complaint_of_pods(const Rollout& rollout) {
  for (const FleetPod* pod : rollout.owned.pods) {
    if (pod->is_leaving || pod->is_ready())
      continue;
    if (is_away(rollout, *pod))
      return cat("pod ", pod->name, ": node `", pod->node, "` does not answer");
    if (!pod->complaint.empty())
      return cat("pod ", pod->name, ": ", pod->complaint);
  }
  return {};
}

/// The image that pods wait for, if they change only where it is present. Empty: they do not wait.
std::string awaited_image(const Rollout& rollout, const Value& pulls) {
  const PullAhead& ahead = rollout.workload.pull;
  if (ahead.mode != PullMode::wait || !pulls.is_list())
    return {};
  for (const Value& pull : pulls.items())
    if (pull.integer_at("present") < pull.integer_at("nodes"))
      return cat(
          "pods wait for image ", pull.text_at("image"), ", which ", pull.integer_at("present"),
          " of ", pull.integer_at("nodes"), " nodes have",
          ahead.parallelism.number == 0 ? "; none pulls it, since its parallelism is 0" : "");
  return {};
}

/// The end of a job's message: how many nodes failed, and why one of them did.
std::string failures_of_job(int64_t failed, int64_t desired, std::string_view error) {
  if (failed == 0)
    return {};
  return cat("; ", failed, " of ", desired, desired == 1 ? " node" : " nodes", " failed",
             failed == 1 ? ": " : ", one of them: ",
             error.empty() ? "the image was not there in time" : error);
}

/// The counts of a job. A complete job keeps those of its end, whatever becomes of its images
/// since.
PullCounts counts_of_job(const Fleet& fleet, const Name& owner, const PullSpec& spec,
                         const std::vector<Name>& nodes, const PullJobState& state) {
  PullCounts counts = pull_counts(fleet, owner, spec, nodes, state);
  if (state.completed && state.succeeded) {
    counts.desired = state.desired.value_or(0);
    counts.succeeded = *state.succeeded;
  }
  return counts;
}

/// The status of a job of an owner; the job itself if users made it. The job of a rollout does not
/// say when it is complete: it is so as soon as nothing is left to do.
Value job_status(const Fleet& fleet, const Name& owner, const PullSpec& spec,
                 const std::vector<Name>& nodes, const PullJobState& state,
                 bool is_of_rollout = false) {
  const PullCounts counts = counts_of_job(fleet, owner, spec, nodes, state);
  const bool is_complete = is_of_rollout ? counts.desired == counts.succeeded + counts.failed
                                         : state.completed.has_value();
  const std::optional<List>& late = state.failed_nodes;
  const int64_t failed =
      is_complete && late ? static_cast<int64_t>(late->items().size()) : counts.failed;
  const auto time_of = [](std::optional<int64_t> time) {
    return time.value_or(0) != 0 ? Value(write_moment(Time(Duration(*time)))) : Value();
  };
  std::vector<Value> names(counts.failed_nodes.begin(), counts.failed_nodes.end());
  const int64_t done = counts.succeeded + failed;
  // A job that never completes has done all that it can for now.
  const bool is_kept = spec.never_completes && done == counts.desired;
  // Those that are complete have nothing but what they keep.
  const Name error = counts.error.empty() ? state.error.value_or(Name()) : Name(counts.error);
  const std::string failures = failures_of_job(failed, counts.desired, error);
  const int64_t share = counts.desired == 0 ? 100 : done * 100 / counts.desired;
  return edited(
      Value::dict(
          {{"desired", counts.desired},
           {"active", is_complete ? 0 : counts.active},
           {"succeeded", counts.succeeded},
           {"failed", failed},
           {"failedNodes", late ? late->value() : Value::list(std::move(names))},
           {"phase", !is_complete && !is_kept ? "progressing"
                     : failed == 0            ? "complete"
                                              : "failed"},
           {"message", is_complete ? cat("job has completed", failures)
                                   : cat("job is running, progress ", share, "%", failures)}}),
      {{"startTime", time_of(state.started)}, {"completionTime", time_of(state.completed)}});
}

/// Of the jobs of a list, as OpenKruise counts them.
Value list_status(const Fleet& fleet, const Workload& workload) {
  const Name owner = workload.owner();
  const std::vector<Name> nodes = nodes_of(fleet, workload);
  int64_t active = 0, completed = 0, settled = 0, succeeded = 0, started = 0, ended = 0;
  std::vector<Value> failed;
  for (const auto& [name, memory] : fleet.owned(owner).jobs) {
    const PullJob job = read<PullJob>(memory.resource->attributes);
    const PullJobState state = job.state.value_or(PullJobState());
    PullSpec spec = workload.pulls;
    spec.image = job.image;
    const Value status = job_status(fleet, owner, spec, nodes, state);
    active += status.integer_at("active") > 0 ? 1 : 0;
    completed += state.completed ? 1 : 0;
    settled += status.text_at("phase") == "progressing" ? 0 : 1;
    succeeded += status.text_at("phase") == "complete" ? 1 : 0;
    started = started == 0 ? state.started : std::min(started, state.started);
    ended = std::max(ended, state.completed.value_or(0));
    if (status.integer_at("failed") > 0)
      failed.push_back(Value::dict(
          {{"imagePullJob", job.name}, {"name", job.image}, {"message", status.at("message")}}));
  }
  const auto images = static_cast<int64_t>(workload.pull_images.size());
  const bool is_complete = completed == images;
  const auto moment = [](int64_t time) {
    return time == 0 ? Value() : Value(write_moment(Time(Duration(time))));
  };
  return edited(
      Value::dict({{"desired", images},
                   {"active", active},
                   {"completed", completed},
                   {"succeeded", succeeded},
                   {"phase", settled < images ? "progressing"
                             : failed.empty() ? "complete"
                                              : "failed"}}),
      {{"startTime", moment(started)},
       {"completionTime", is_complete ? moment(ended) : Value()},
       {"failedImageStatuses", failed.empty() ? Value() : Value::list(std::move(failed))}});
}

}  // namespace

std::optional<Obstruction> obstruction_of(const Fleet& fleet, const Name& owner) {
  const Workload* const workload = fleet.workload(owner);
  if (workload == nullptr)
    return std::nullopt;
  std::optional<Obstruction> found;
  size_t others = 0;
  for (const auto& [name, memory] : fleet.owned(owner).notices) {
    const ObjectNotice notice = read<ObjectNotice>(memory.resource->attributes);
    const std::string_view reason = notice.reason;
    const bool is_final =
        reason == "FailedUpdatePodInPlace" || reason == "ProgressDeadlineExceeded" ||
        (reason == "FailedCreateImagePullJob" && workload->pull.mode == PullMode::wait);
    if (!is_final && reason != "FailedScheduling" && reason != "NotUpgradablePods")
      continue;
    others += found && found->is_final == is_final ? 1 : 0;
    if (found && (found->is_final || !is_final))
      continue;
    found = Obstruction{notice.text.str(), is_final};
    others = 0;
  }
  if (others > 0)
    found->text += cat("; ", others, others == 1 ? " other pod" : " other pods", " likewise");
  return found;
}

namespace {

int64_t may_be_missing(const Rollout& rollout) {
  return rollout.workload.sort == WorkloadSort::stateful_set
             ? most_unavailable_of_ordinals(rollout.workload)
             : most_unavailable(numbers_of(rollout));
}

}  // namespace

std::string why_it_stays(const Fleet& fleet, const FleetPod& pod, Time now) {
  const Workload* const workload = fleet.workload(pod.owner);
  if (workload == nullptr)
    return "it has not gone yet";
  const Rollout rollout(fleet, *workload, now);
  const int64_t wanted = workload->replicas;
  const int64_t available = counts_of(rollout).available;
  const std::string complaint = complaint_of_pods(rollout);
  const std::string hooks = held_by_hooks(rollout);
  return cat("it waits to leave node `", pod.node, "`: ", available, " of ", wanted, " pods of ",
             pod.owner, " are available, and ", may_be_missing(rollout), " may be missing",
             complaint.empty() ? "" : cat("; ", complaint), hooks.empty() ? "" : cat("; ", hooks));
}

Value status_of(const Fleet& fleet, const Name& owner, Time now) {
  const Workload* workload = fleet.workload(owner);
  if (workload == nullptr)
    return {};
  if (workload->sort == WorkloadSort::sidecar_set)
    return sidecar_status(fleet, *workload, now);
  if (workload->sort == WorkloadSort::image_list_pull_job)
    return list_status(fleet, *workload);
  Rollout rollout(fleet, *workload, now);
  if (workload->sort == WorkloadSort::image_pull_job) {
    const auto job = rollout.owned.jobs.find(rollout.in_space(workload->name));
    return job_status(
        fleet, owner, workload->pulls, nodes_of(fleet, *workload),
        job == rollout.owned.jobs.end()
            ? PullJobState()
            : read<PullJob>(job->second.resource->attributes).state.value_or(PullJobState()));
  }
  const Counts counts = counts_as_they_are(rollout);
  const bool is_daemon_set = workload->sort == WorkloadSort::daemon_set;
  const NodeCounts nodes = is_daemon_set ? node_counts(rollout) : NodeCounts();
  const int64_t desired = is_daemon_set ? nodes.desired : workload->replicas;
  const int64_t expected = desired - workload->kept(desired);
  std::string failure;
  const Value pulls = pulls_of(rollout, failure);
  for (const FleetPod* pod : rollout.owned.pods)
    if (!pod->is_leaving && !pod->error.empty())
      failure = cat("pod ", pod->name, ": ", pod->error);
  const std::string_view reason = progress_reason(rollout);
  const std::optional<Obstruction> obstruction = obstruction_of(fleet, owner);
  if (obstruction && obstruction->is_final && counts.updated < expected)
    failure = obstruction->text;
  if (reason == "ProgressDeadlineExceeded")
    failure = "the rollout made no progress within `progressDeadlineSeconds`";
  const bool is_there = counts.all == desired && counts.available == desired;
  // Only a gate undoes updates from before the partition rose.
  const bool is_as_far_as_asked = counts.updated == expected ||
                                  workload->type == UpdateType::on_delete ||
                                  (counts.updated > expected && !fleet.gates.partition_rollback);
  const bool has_failed_pod = std::ranges::any_of(rollout.owned.pods, [](const FleetPod* pod) {
    return !pod->is_leaving && !pod->error.empty();
  });
  const std::string_view phase = is_there && counts.updated == desired ? "complete"
                                 : has_failed_pod                      ? "failed"
                                 : workload->paused                    ? "paused"
                                 : is_there && is_as_far_as_asked      ? "partitioned"
                                 : !failure.empty()                    ? "failed"
                                                                       : "progressing";
  if (failure.empty() && phase == "progressing")
    failure = obstruction ? obstruction->text : held_by_hooks(rollout);
  if (failure.empty() && phase == "progressing")
    failure = complaint_of_pods(rollout);
  if (failure.empty() && phase == "progressing")
    failure = awaited_image(rollout, pulls);
  if (failure.empty() && phase == "progressing" && !nodes.away.empty())
    failure = cat("node `", nodes.away[0], "` does not answer, so it gets no pod");
  std::vector<Value> conditions;
  if (workload->sort == WorkloadSort::clone_set && workload->progress_deadline_seconds)
    conditions.push_back(
        condition_of("Progressing", reason != "ProgressDeadlineExceeded", reason, failure));
  const Value status = Value::dict({{"observedGeneration", workload->generation},
                                    {"replicas", counts.all},
                                    {"readyReplicas", counts.ready},
                                    {"availableReplicas", counts.available},
                                    {"updatedReplicas", counts.updated},
                                    {"updatedReadyReplicas", counts.updated_ready},
                                    {"updatedAvailableReplicas", counts.updated_available},
                                    {"expectedUpdatedReplicas", expected},
                                    {"updateRevision", rollout.update().name},
                                    {"currentRevision", rollout.current().name},
                                    {"collisionCount", rollout.update().collisions},
                                    {"labelSelector", to_string(workload->selector)},
                                    {"phase", phase}});
  const bool is_stateful_set = workload->sort == WorkloadSort::stateful_set;
  return edited(is_daemon_set ? edited(status, fields_of(nodes)) : status,
                {{"currentReplicas", is_stateful_set ? Value(counts.current) : Value()},
                 {"conditions", conditions.empty() ? Value() : Value::list(std::move(conditions))},
                 {"imagePulls", pulls},
                 {"reason", failure.empty() ? Value() : Value(failure)}});
}

namespace {

/// A job that pulls ahead for a rollout, as users would have written it.
Object job_of_rollout(const Fleet& fleet, const Memory& memory) {
  const PullJob known = read<PullJob>(memory.resource->attributes);
  const PullJobState state = known.state.value_or(PullJobState());
  Object job;
  job.kind = to_string(WorkloadSort::image_pull_job);
  job.space = known.space;
  job.name = known.name;
  job.created = Time(Duration(state.started));
  std::vector<Entry> owner{
      {"apiVersion", "apps.kruise.io/v1beta1"}, {"controller", true}, {"blockOwnerDeletion", true}};
  if (const Object* const object = fleet.object(memory.owner)) {
    owner.push_back({"kind", object->kind});
    owner.push_back({"name", object->name});
    owner.push_back({"uid", object->uid});
  }
  job.document = Value::dict(
      {{"apiVersion", "apps.kruise.io/v1beta1"},
       {"kind", job.kind},
       {"metadata",
        Value::dict({{"name", job.name},
                     {"labels", known.labels.value()},
                     {"annotations", known.annotations.value()},
                     {"ownerReferences", Value::list({Value::dict(std::move(owner))})}})},
       {"spec", known.spec.value()}});
  const Workload workload = workload_of(job);
  const Workload* const owner_workload = fleet.workload(memory.owner);
  const bool is_of_list =
      owner_workload != nullptr && owner_workload->sort == WorkloadSort::image_list_pull_job;
  std::vector<Name> nodes = nodes_of(fleet, workload);
  // Pods leave the selector when they change; their pulls still belong to the job.
  std::set<Name> of_space;  // a SidecarSet has a job in each namespace
  fleet.for_each_pod([&](const FleetPod& pod) {
    if (pod.space == job.space)
      of_space.insert(pod.node);
  });
  for (const Name& key : fleet.owned(memory.owner).pulls)
    if (const Pull* const pull = fleet.pull(key); pull != nullptr) {
      const Image image = read<Image>(pull->resource->attributes);
      const Name node = image.node.get();
      if (image.reference.get() == workload.pulls.image && of_space.contains(node) &&
          std::ranges::find(nodes, node) == nodes.end())
        nodes.push_back(node);
    }
  job.document = edited(
      job.document,
      {{"status", job_status(fleet, memory.owner, workload.pulls, nodes, state, !is_of_list)}});
  return job;
}

}  // namespace

std::vector<Object> jobs_of_rollouts(const Fleet& fleet) {
  std::vector<Object> jobs;
  for (const auto& [owner, workload] : fleet.workloads())
    if (workload->sort != WorkloadSort::image_pull_job)
      for (const auto& [name, memory] : fleet.owned(owner).jobs)
        jobs.push_back(job_of_rollout(fleet, memory));
  return jobs;
}

Value status_of_job(const Fleet& fleet, const Name& owner, const Name& job) {
  const std::map<Name, Memory>& jobs = fleet.owned(owner).jobs;
  const auto found = jobs.find(job);
  return found == jobs.end() ? Value() : job_of_rollout(fleet, found->second).document.at("status");
}

Name owner_of_job(const Fleet& fleet, const Name& job) {
  for (const auto& [owner, workload] : fleet.workloads())
    if (workload->sort != WorkloadSort::image_pull_job)
      for (const auto& [name, memory] : fleet.owned(owner).jobs)
        if (job_of_rollout(fleet, memory).owner() == job)
          return owner;
  return {};
}

Value node_image_of(const Fleet& fleet, const Name& node, size_t most) {
  const Node* found = fleet.node(node);
  if (found == nullptr)
    return {};
  std::vector<Entry> images;
  for (const auto& [reference, digest] : found->images)
    if (images.size() < most)
      images.push_back({reference, digest});
  std::vector<Value> pulls;
  fleet.for_each_pull([&](const Pull& pull) {
    if (pulls.size() < most && !pull.is_done &&
        read_one<&Image::node>(pull.resource->attributes).view() == node.view())
      pulls.push_back(
          Value::dict({{"image", read_one<&Image::reference>(pull.resource->attributes).value()},
                       {"owner", pull.owner},
                       {"phase", pull.has_failed ? "Failed" : "Pulling"},
                       {"message", pull.error}}));
  });
  return Value::dict({{"node", node},
                      {"images", Value::dict(std::move(images))},
                      {"pulls", Value::list(std::move(pulls))},
                      {"total", static_cast<int64_t>(found->images.size())}});
}

}  // namespace fettle::workloads
