#include "cluster/pull_jobs.h"

#include <algorithm>

#include "base/text.h"
#include "cluster/names.h"
#include "cluster/types.h"
#include "value/json.h"
#include "value/with.h"
#include "workloads/names.h"

namespace fettle::cluster {
namespace {

Value job_annotations(const PullJob& job) {
  return Value::dict({{annotation::job, write_json(write(job))}});
}

/// A job cannot say a share. As one it would be refused, and OpenKruise reads it as nothing.
Value job_spec(const PullJob& job) {
  const Value& spec = job.spec.value();
  const bool is_share = spec.at("parallelism").is_text();
  return is_share ? with(spec, "parallelism", 1) : spec;
}

const Value& dict_in(const Value& value) {
  static const Value none = Value::dict({});
  return value.is_dict() ? value : none;
}

/// The revision for which a job pulls, which its selector excludes.
std::optional<Name> revision_in(const Value& spec) {
  for (const Value& each : items_of(spec.at("podSelector").at("matchExpressions")))
    if (each.text_at("key") == workloads::label::revision.view() &&
        each.text_at("operator") == "NotIn")
      for (const Value& value : items_of(each.at("values")))
        if (value.is_text() && !value.text().empty())
          return value.text();
  return std::nullopt;
}

/// Whoever may write a job may write any number as a time. One that is later has no room for the
/// seconds of a spec, which have 31 bits.
constexpr int64_t latest_time = 7'000'000'000'000'000'000;

int64_t possible_time(int64_t time) { return std::clamp<int64_t>(time, 0, latest_time); }

void bound_times(PullJobState& state) {
  state.started = possible_time(state.started);
  if (state.completed)
    state.completed = possible_time(*state.completed);
  if (!state.failed)
    return;
  std::vector<Entry> kept;
  for (const Entry& entry : state.failed->entries())
    if (const int64_t since = entry.value.integer_at("since"); since == possible_time(since))
      kept.push_back(entry);
  state.failed = Value::dict(std::move(kept));
}

int64_t nanoseconds_at(const Value& dict, std::string_view key) {
  return moment_at(dict, key).time_since_epoch().count();
}

PullJob read_object(const Value& object, const ObjectMeta& meta, const Name& owner) {
  PullJob job;
  job.name = meta.name;
  job.space = meta.space;
  job.owner = owner;
  job.image = object.at("spec").text_at("image");
  job.state.emplace().started = meta.created.time_since_epoch().count();
  if (owner.empty())
    return job;
  job.labels = dict_in(object.at("metadata").at("labels"));
  job.spec = dict_in(object.at("spec"));
  job.state->revision = revision_in(object.at("spec"));
  return job;
}

/// Somebody else has completed it.
void complete(PullJobState& state, const Value& status) {
  if (state.completed || status.text_at("completionTime").empty())
    return;
  state.completed = nanoseconds_at(status, "completionTime");
  state.desired = status.integer_at("desired");
  state.succeeded = status.integer_at("succeeded");
  std::vector<Value> failed;
  for (const Value& node : items_of(status.at("failedNodes")))
    if (node.is_text())
      failed.push_back(node);
  state.failed_nodes = Value::list(std::move(failed));
}

}  // namespace

Name workload_of_job(const ObjectMeta& meta) {
  const bool is_of_set = meta.controller && meta.controller->kind == types::sidecar_sets.kind &&
                         meta.controller->api_version.view().starts_with("apps.kruise.io/");
  return is_of_set ? Name(cat(types::sidecar_sets.kind, "//", meta.controller->name))
                   : meta.owner();
}

Value pull_job_object(const PullJob& job, const workloads::Object& owner) {
  std::vector<Entry> annotations(job.annotations.entries().begin(),
                                 job.annotations.entries().end());
  annotations.push_back(job_annotations(job).entries().front());
  return Value::dict(
      {{"apiVersion", types::pull_jobs.api_version()},
       {"kind", types::pull_jobs.kind},
       {"metadata", Value::dict({{"name", job.name},
                                 {"namespace", job.space},
                                 {"labels", job.labels.value()},
                                 {"annotations", Value::dict(std::move(annotations))},
                                 {"ownerReferences", Value::list({owner_reference(owner)})}})},
       {"spec", job_spec(job)}});
}

Value pull_job_change(const PullJob& job, const Value& object) {
  const Value metadata = Value::dict(
      {{"uid", object.at("metadata").at("uid")}, {"annotations", job_annotations(job)}});
  if (job.owner.empty())
    return Value::dict({{"metadata", metadata}});
  std::vector<Entry> spec;
  for (const char* key : {"parallelism", "pullPolicy"})
    if (const Value wanted = job_spec(job).at(key);
        !wanted.is_null() && object.at("spec").at(key) != wanted)
      spec.push_back({key, wanted});
  return spec.empty() ? Value::dict({{"metadata", metadata}})
                      : Value::dict({{"metadata", metadata}, {"spec", Value::dict(spec)}});
}

PullJob read_pull_job(const Value& object) {
  const ObjectMeta meta = meta_of(object);
  const Name owner = workload_of_job(meta);
  const Value told = json_annotation(object, annotation::job);
  PullJob job = told.is_dict() ? read<PullJob>(Attributes(told)) : PullJob();
  // An annotation may have been copied with its object, which is another one then.
  const int64_t made = meta.created.time_since_epoch().count();
  const bool is_own = told.is_dict() && job.name == meta.name && job.space == meta.space &&
                      job.owner == owner && job.state &&
                      (!owner.empty() || job.state->started == made);
  if (!is_own)
    job = read_object(object, meta, owner);
  if (owner.empty())
    job.image = object.at("spec").text_at("image");
  if (owner.empty() || owner.view().starts_with(cat(types::list_jobs.kind, "/")))
    complete(*job.state, object.at("status"));
  bound_times(*job.state);
  return job;
}

RecordPointer record_of(const PullJob& job, const ObjectMeta& meta, const Name& owner,
                        const Name& environment) {
  auto record = std::make_shared<Record>();
  Resource resource;
  resource.key = {environment, "pull_job", cat(job.space, "/", job.name)};
  resource.driver = driver_name;
  resource.attributes = write(job);
  record->incarnation = 1;
  record->changes = 1;
  record->remote_id = meta.uid.str();
  record->wanted_by[owner] = resource.attributes.digest();
  record->applied = std::move(resource);
  return record;
}

}  // namespace fettle::cluster
