#include "workloads/decide/pulls.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "kinds/image.h"
#include "kinds/pull_job.h"
#include "value/json.h"
#include "workloads/names.h"

namespace fettle::workloads {
namespace {

enum class Stand { waits, active, succeeded, failed };

/// Whether the tag meant another image on this node than the one that the first pull of the job
/// found.
bool is_another(const Pull* pull, const Name& owner, const Name& digest) {
  return pull != nullptr && pull->owner == owner && pull->is_done && !pull->digest.empty() &&
         !digest.empty() && pull->digest != digest;
}

/// A job of an owner: what it pulls, since when, what its tag means as far as that is known, and
/// where it has failed (`failed_in`).
struct Job {
  const Name& owner;
  const PullSpec& spec;
  Time started;
  Name digest;
  Dict failed;
};

Job job_of(const Name& owner, const PullSpec& spec, const PullJobState& state, const Name& digest) {
  return {owner, spec, Time(Duration(state.started)), digest, state.failed.value_or(Dict())};
}

/// Whether the node has another image under the tag, and the one that the job needs is being
/// pulled.
bool is_corrected(const Node* node, const Pull* pull, const Job& job) {
  if (node == nullptr || pull == nullptr || pull->owner != job.owner || pull->is_done)
    return false;
  const auto there = node->images.find(job.spec.image);
  return there != node->images.end() && !there->second.empty() && !job.digest.empty() &&
         there->second != job.digest;
}

/// How far the image is on a node. If another owner pulls it, that pull counts as well.
Stand stand_of(const Name& name, const Node* node, const Pull* pull, const Job& job) {
  const PullSpec& spec = job.spec;
  const bool has_failed = !job.failed.at(name).is_null();
  if (is_another(pull, job.owner, job.digest))
    return Stand::waits;
  if (is_corrected(node, pull, job))
    return pull->has_failed ? Stand::failed : Stand::active;
  if (!spec.always && node != nullptr && Fleet::has_image(*node, spec.image))
    return Stand::succeeded;
  if (has_failed)
    return Stand::failed;
  if (pull == nullptr)
    return Stand::waits;
  if (pull->has_failed)
    return Stand::failed;
  // A pull from before the job brought what the tag meant then. A node's clock may be late, but it
  // has done what it was told.
  const bool is_own_order = pull->is_order && pull->owner == job.owner;
  if (pull->is_done)
    return !spec.always || is_own_order || pull->finished >= job.started ? Stand::succeeded
                                                                         : Stand::waits;
  return Stand::active;
}

Value credentials(const Fleet& fleet, const Name& space, const std::vector<Name>& secrets) {
  std::vector<Value> found;
  for (const Name& secret : secrets)
    if (const Object* object = fleet.object(cat("Secret/", space, "/", secret)))
      found.push_back(object->document.at("data"));
  return Value::list(std::move(found));
}

const Name& space_of(const Rollout& rollout, const PullTask& task) {
  return task.space.empty() ? rollout.workload.space : task.space;
}

Attributes pull_attributes(const Rollout& rollout, const PullTask& task, const Name& node,
                           const Name& digest) {
  Image image;
  image.reference = task.spec.image;
  image.pull = task.spec.always ? "always" : "missing";
  image.node = node;
  image.attempts = task.spec.backoff_limit + 1;
  image.timeout = task.spec.timeout_seconds;
  // The job says the rest. A node could not call by its tag what it pulled by its digest.
  if (rollout.fleet.is_cluster) {
    image.job = cat(space_of(rollout, task), "/", task.job);
    return write(image);
  }
  const bool is_digest = task.spec.image.view().find('@') != std::string_view::npos;
  if (!is_digest)
    image.digest = digest;
  image.credentials = credentials(rollout.fleet, space_of(rollout, task), task.spec.secrets);
  image.labels = task.spec.labels;
  image.annotations = task.spec.annotations;
  return write(image);
}

/// The digest that the first pull found, if it is known yet.
Name found_digest(const Rollout& rollout, const PullTask& task, const PullJobState& state) {
  if (state.digest)
    return *state.digest;
  for (const Name& node : task.nodes)
    if (const Pull* pull = rollout.fleet.pull(pull_key(node, task.spec.image));
        pull != nullptr && !pull->digest.empty())
      return pull->digest;
  return {};
}

/// A node of a job, looked up once.
struct Stop {
  const Name& name;
  Name key;  ///< the key of the pull
  const Node* node;
  const Pull* pull;
  Stand stand;
};

std::vector<Stop> stops_of(const Fleet& fleet, const Job& job, const std::vector<Name>& nodes) {
  std::vector<Stop> stops;
  stops.reserve(nodes.size());
  for (const Name& name : nodes) {
    Stop stop{name, pull_key(name, job.spec.image), fleet.node(name), nullptr, Stand::waits};
    stop.pull = fleet.pull(stop.key);
    stop.stand = stand_of(name, stop.node, stop.pull, job);
    stops.push_back(std::move(stop));
  }
  return stops;
}

/// Why the job failed on a node.
std::string error_of(const Job& job, const Stop& stop) {
  const Value& known = job.failed.at(stop.name);
  return known.is_null() ? (stop.pull == nullptr ? std::string() : stop.pull->error.str())
                         : std::string(known.text_at("error"));
}

PullCounts counts_of(const Job& job, const std::vector<Stop>& stops) {
  PullCounts counts;
  counts.started = job.started;
  counts.digest = job.digest;
  counts.desired = static_cast<int64_t>(stops.size());
  for (const Stop& stop : stops)
    switch (stop.stand) {
      case Stand::active:
        ++counts.active;
        break;
      case Stand::succeeded:
        ++counts.succeeded;
        break;
      case Stand::failed:
        ++counts.failed;
        counts.failed_nodes.push_back(stop.name);
        counts.error = error_of(job, stop);
        break;
      case Stand::waits:
        break;
    }
  return counts;
}

void emit_pull(Rollout& rollout, const PullTask& task, const Stop& stop, const Name& digest) {
  const Name &key = stop.key, &node = stop.name;
  // If two jobs of one owner pull the same image, it is pulled once.
  if (!rollout.is_first_pull(key))
    return;
  const bool is_order = rollout.fleet.is_cluster;
  const Name pool = is_order ? order_pool : Name(cat("pull:", node));
  rollout.pool(pool, is_order ? orders_at_once : stop.node == nullptr ? 2 : stop.node->pulls);
  const Pull* known = stop.pull;
  Attributes attributes = pull_attributes(rollout, task, node, digest);
  // A pull that has begun goes on as it began; one of another job or of a failed time is anew.
  if (known != nullptr && known->owner == rollout.owner &&
      !is_another(known, rollout.owner, digest) &&
      read_one<&Image::pull>(known->resource->attributes) == read_one<&Image::pull>(attributes))
    attributes = known->resource->attributes;
  rollout.emit("image", key, std::move(attributes), rollout.driver_of(is_order ? Name() : node),
               pool, Leftover::forget);
}

}  // namespace

std::string place_text(std::string_view node) {
  return node.empty() ? "this machine" : cat("node ", node);
}

std::vector<PullFailure> pull_failures(const Fleet& fleet, const Name& owner, const PullJob& job) {
  std::map<Name, std::string> found;
  for (const Name& key : fleet.owned(owner).pulls)
    if (const Pull* pull = fleet.pull(key);
        pull != nullptr && pull->has_failed &&
        read_one<&Image::reference>(pull->resource->attributes).view() == job.image.view())
      found.emplace(read_one<&Image::node>(pull->resource->attributes).get(), pull->error.str());
  if (job.state && job.state->failed)
    for (const Entry& entry : job.state->failed->entries())
      found.insert_or_assign(entry.key, read_one<&FailedPull::error>(entry.value).str());
  std::vector<PullFailure> failures;
  for (auto& [node, error] : found)
    failures.push_back({node, std::move(error)});
  return failures;
}

std::string failure_text(std::string_view image, const PullFailure& failure) {
  return cat("image ", image, " cannot be pulled on ", place_text(failure.node), ": ",
             failure.error);
}

Name pull_key(const Name& node, const Name& image) { return cat(node, "|", image); }

PullCounts pull_counts(const Fleet& fleet, const Name& owner, const PullSpec& spec,
                       const std::vector<Name>& nodes, const PullJobState& state) {
  const Job job = job_of(owner, spec, state, state.digest.value_or(Name()));
  return counts_of(job, stops_of(fleet, job, nodes));
}

namespace {

std::optional<PullJobState> state_of(const Memory& known) {
  return read_one<&PullJob::state>(known.resource->attributes);
}

/// Whether a job remembers for good that it failed there: whoever writes it down has written.
bool is_remembered(const Memory* known, const Name& node) {
  if (known == nullptr || !known->is_done)
    return false;
  const PullJobState state = state_of(*known).value_or(PullJobState());
  return state.failed && !state.failed->at(node).is_null();
}

/// What a job remembers of failures: {node: {"error", "wish": the digest of what was pulled there,
/// "since"}}. A pull that is remembered is not tried again, even if others are: attempts are
/// counted for the life of the job. It is forgotten if something else is to be pulled, for instance
/// with other credentials, and if the node is away, which may have been the reason. A job that
/// never completes tries again a day later.
class Failures {
 public:
  Failures(Rollout& rollout, const PullTask& task, const Dict& known)
      : rollout_(rollout), task_(task) {
    for (const Entry& entry : known.entries())
      if (is_kept(entry))
        entries_.push_back(entry);
  }

  void add(const Stop& stop) {
    entries_.push_back({stop.name, write(FailedPull{stop.pull->error, wish_on(stop.name),
                                                    rollout_.now.time_since_epoch().count()})});
  }
  std::optional<Dict> value() const {
    return entries_.empty() ? std::nullopt : std::optional<Dict>(Value::dict(entries_));
  }

 private:
  static constexpr Duration retry = 24h;

  /// The wish, whatever the tag has turned out to mean.
  std::string wish_on(const Name& node) const {
    return to_string(pull_attributes(rollout_, task_, node, Name()).digest());
  }
  bool is_kept(const Entry& entry) {
    const Node* const node = rollout_.fleet.node(entry.key);
    const bool is_away = node != nullptr && !node->is_ready;
    const FailedPull failed = read<FailedPull>(entry.value);
    if (is_away || failed.wish != wish_on(entry.key))
      return false;
    const Time again = Time(Duration(failed.since)) + retry;
    if (!task_.spec.never_completes)
      return true;
    if (rollout_.now < again)
      rollout_.ask_at(again);
    return rollout_.now < again;
  }

  Rollout& rollout_;
  const PullTask& task_;
  std::vector<Entry> entries_;
};

}  // namespace

namespace {

void emit_job(Rollout& rollout, const PullTask& task, PullJobState state) {
  PullJob job;
  job.name = task.job;
  job.space = space_of(rollout, task);
  if (rollout.workload.sort != WorkloadSort::image_pull_job)
    job.owner = rollout.owner;
  job.image = task.spec.image;
  // The object of a user in a cluster has the rest.
  if (!rollout.fleet.is_cluster || !job.owner.empty()) {
    job.labels = edited(task.labels, {});
    job.annotations = edited(task.annotations, {});
    job.spec = task.document;
  }
  job.state = std::move(state);
  rollout.emit("pull_job", cat(job.space, "/", job.name), write(job));
}

}  // namespace

PullCounts pull(Rollout& rollout, const PullTask& task, const Memory* known) {
  const std::optional<PullJobState> before = known != nullptr ? state_of(*known) : std::nullopt;
  PullJobState state = before.value_or(PullJobState());
  if (!before) {
    state.started = rollout.now.time_since_epoch().count();
    if (task.revision.is_text())
      state.revision = task.revision.text();
  }
  const Name digest = found_digest(rollout, task, state);
  if (!digest.empty())
    state.digest = digest;
  Failures failures(rollout, task, state.failed.value_or(Dict()));
  state.failed = failures.value();
  const Job job = job_of(rollout.owner, task.spec, state, digest);
  const std::vector<Stop> stops = stops_of(rollout.fleet, job, task.nodes);
  PullCounts counts = counts_of(job, stops);
  const int64_t at_once = task.spec.parallelism.of(counts.desired, true);
  for (const Stop& stop : stops) {
    const Pull* begun = stop.pull;
    const bool is_ours = begun == nullptr || begun->owner == rollout.owner || begun->owner.empty();
    if (stop.stand != Stand::succeeded && is_ours)
      rollout.distrust_image(stop.key);
    switch (stop.stand) {
      case Stand::waits: {
        const bool can_pull = stop.node == nullptr || stop.node->is_ready;
        // A pull that has to be corrected has its place already.
        if (!is_another(begun, rollout.owner, digest) &&
            (!task.may_start || !can_pull || counts.active >= at_once))
          break;
        ++counts.active;
        emit_pull(rollout, task, stop, digest);
        break;
      }
      case Stand::failed:
        rollout.tell("PullImageFailed", cat(task.job, "|", stop.name),
                     cat("image ", task.spec.image, " cannot be pulled on ", place_text(stop.name),
                         ": ", error_of(job, stop)),
                     "Warning");
        // A node of a cluster remembers for as long as it is not told something else.
        if (begun != nullptr && begun->has_failed && !begun->is_order &&
            job.failed.at(stop.name).is_null())
          failures.add(stop);
        // The pull's own memory of the failure goes once the job has one.
        if (begun != nullptr && is_ours && !is_remembered(known, stop.name))
          emit_pull(rollout, task, stop, digest);
        break;
      default:
        if (begun != nullptr && is_ours)
          emit_pull(rollout, task, stop, digest);
        break;
    }
  }
  state.failed = failures.value();
  emit_job(rollout, task, std::move(state));
  return counts;
}

std::vector<Name> nodes_of(const Fleet& fleet, const Workload& job) {
  std::vector<Name> found;
  if (job.pulls.pod_selector) {
    // The nodes have the order in which their pods would be updated. A node counts once, at its
    // first pod.
    std::vector<PodRow> rows;
    fleet.for_each_pod([&](const FleetPod& pod) {
      const bool is_active =
          pod.phase != Phase::failed && pod.phase != Phase::succeeded && !pod.is_leaving;
      if (pod.space != job.space || !is_active || !job.pulls.pod_selector->matches(pod.labels))
        return;
      PodRow row;
      row.tag = &pod;
      row.phase = pod.phase;
      row.readiness = pod.readiness;
      row.ready_since = pod.ready_since;
      row.created = pod.created;
      row.restarts = pod.restarts;
      rows.push_back(std::move(row));
    });
    Order order(rows.size());
    for (uint32_t i = 0; i < order.size(); ++i)
      order[i] = i;
    sort_by_state(rows, false, order);
    std::set<Name> seen;
    for (const uint32_t row : order)
      if (seen.insert(rows[row].node()).second && fleet.can_pull_ahead(rows[row].node()))
        found.push_back(rows[row].node());
    return found;
  }
  const std::optional<std::vector<Name>>& names = job.pulls.node_names;
  for (const auto& [name, node] : fleet.nodes()) {
    const bool is_named = !names || std::ranges::find(*names, name) != names->end();
    if (is_named && node.pulls_ahead &&
        (!job.pulls.node_selector || job.pulls.node_selector->matches(node.labels)))
      found.push_back(name);
  }
  return found;
}

namespace {

/// What becomes of a job: it is complete now. Images that were not there in time have failed.
void complete_job(const Rollout& rollout, const PullTask& task, const PullCounts& counts,
                  PullJobState& state) {
  const Job job = job_of(rollout.owner, task.spec, state, counts.digest);
  std::vector<Value> late;
  for (const Stop& stop : stops_of(rollout.fleet, job, task.nodes))
    if (stop.stand != Stand::succeeded)
      late.emplace_back(stop.name);
  state.completed = rollout.now.time_since_epoch().count();
  state.desired = counts.desired;
  state.succeeded = counts.succeeded;
  state.failed_nodes = Value::list(std::move(late));
  // Nobody remembers the pulls of a job that is complete.
  if (!counts.error.empty())
    state.error = counts.error;
}

/// Emits a job of a user, and its pulls until it is complete; then it does nothing more. Returns
/// when it was; none: it goes on.
std::optional<Time> follow_job(Rollout& rollout, PullTask& task, const Memory* known) {
  const std::optional<PullJobState> before = known != nullptr ? state_of(*known) : std::nullopt;
  PullJobState state = before.value_or(PullJobState());
  const Time started = before ? Time(Duration(state.started)) : rollout.now;
  const auto deadline = task.spec.deadline_seconds;
  const bool is_late = deadline && !task.spec.never_completes &&
                       rollout.now >= started + std::chrono::seconds(*deadline);
  const bool is_over = is_late || state.completed.has_value();
  task.may_start = !is_over;
  const PullCounts counts = pull_counts(rollout.fleet, rollout.owner, task.spec, task.nodes, state);
  const bool is_complete =
      !task.spec.never_completes && (is_over || counts.desired == counts.succeeded + counts.failed);
  if (!is_complete) {
    pull(rollout, task, known);
    if (deadline)
      rollout.ask_at(started + std::chrono::seconds(*deadline));
    return std::nullopt;
  }
  if (!before)
    state.started = rollout.now.time_since_epoch().count();
  if (!state.completed)
    complete_job(rollout, task, counts, state);
  const Time completed(Duration(*state.completed));
  emit_job(rollout, task, std::move(state));
  return completed;
}

/// `completed`: none: it goes on.
Wanted finish_job(Rollout& rollout, std::optional<Time> completed) {
  const auto ttl = rollout.workload.pulls.ttl_seconds;
  if (!completed || !ttl)
    return rollout.finish();
  const Time end = *completed + std::chrono::seconds(*ttl);
  if (rollout.now < end)
    rollout.ask_at(end);
  return rollout.finish(rollout.now >= end);
}

const Memory* known_job(const Rollout& rollout, const Name& name) {
  const auto found = rollout.owned.jobs.find(rollout.in_space(name));
  return found == rollout.owned.jobs.end() ? nullptr : &found->second;
}

/// The name of a job of a list: that of the one that is there, or one that follows from what is
/// asked for.
Name name_in_list(const Rollout& rollout, const PullTask& task) {
  for (const auto& [name, memory] : rollout.owned.jobs) {
    const PullJob job = read<PullJob>(memory.resource->attributes);
    if (job.image == task.spec.image && job.spec.value() == task.document)
      return job.name;
  }
  return cat(rollout.workload.name, "-", short_id(write_json(task.document)));
}

}  // namespace

Wanted want_pull_job(const Fleet& fleet, const Workload& workload, Time now) {
  Rollout rollout(fleet, workload, now);
  PullTask task;
  task.job = workload.name;
  task.spec = workload.pulls;
  task.nodes = nodes_of(fleet, workload);
  task.labels = workload.labels;
  task.annotations = workload.annotations;
  task.document = fleet.object(rollout.owner)->document.at("spec");
  return finish_job(rollout, follow_job(rollout, task, known_job(rollout, task.job)));
}

Wanted want_list_job(const Fleet& fleet, const Workload& workload, Time now) {
  Rollout rollout(fleet, workload, now);
  const Value& spec = fleet.object(rollout.owner)->document.at("spec");
  const std::vector<Name> nodes = nodes_of(fleet, workload);
  std::optional<Time> last;
  bool is_complete = true;
  for (const Name& image : workload.pull_images) {
    PullTask task;
    task.spec = workload.pulls;
    task.spec.image = image;
    task.nodes = nodes;
    task.document = edited(spec, {{"images", Value()}, {"image", image}});
    task.job = name_in_list(rollout, task);
    const auto completed = follow_job(rollout, task, known_job(rollout, task.job));
    is_complete = is_complete && completed.has_value();
    last = std::max(last, completed);
  }
  return finish_job(rollout, is_complete ? last : std::nullopt);
}

}  // namespace fettle::workloads
