#include "drivers/kubernetes/kubernetes_driver.h"

#include "base/text.h"
#include "cluster/claims.h"
#include "cluster/pull_jobs.h"
#include "cluster/revisions.h"
#include "cluster/types.h"
#include "drivers/kubernetes/pod_act.h"
#include "drivers/kubernetes/refusal.h"
#include "kinds/notice.h"
#include "kinds/pod.h"

namespace fettle {

using kubernetes::ObjectName;
namespace types = cluster::types;

namespace {

/// Of a pod or a claim.
ObjectName name_of(const Key& key) {
  const NodeAddress address = node_address(key.name);
  return {std::string(address.space), std::string(address.name)};
}

Outcome done_with_claim(const Value& object, bool changed) {
  const cluster::ObjectMeta meta = cluster::meta_of(object);
  return Done{.outputs = Value::dict({{"volume", meta.name}}),
              .remote_id = meta.uid.str(),
              .changed = changed};
}

}  // namespace

Result<std::vector<Observation>> KubernetesDriver::observe(std::span<const Subject> subjects,
                                                           std::stop_token) {
  std::vector<Observation> found(subjects.size());
  for (size_t i = 0; i < subjects.size(); ++i) {
    const Name& kind = subjects[i].key.kind;
    if (kind == "image") {
      const RecordPointer& known = subjects[i].known;
      if (known != nullptr && known->applied && orders_.is_there(known->applied->attributes))
        found[i].state = State(Value::dict({}));
      continue;
    }
    const Value object = objects_.find(kind == "claim" ? types::claims.kind : types::pods.kind,
                                       name_of(subjects[i].key));
    if (object.is_null())
      continue;
    found[i].state = kind == "claim"
                         ? State(Value::dict({{"volume", object.at("metadata").at("name")}}))
                         : State(Value::dict({{"phase", object.at("status").at("phase")}}));
  }
  return found;
}

Result<Outcome> KubernetesDriver::apply(const Act& act, const ProgressSink&, std::stop_token stop) {
  if (act.key.kind == "pod")
    return PodAct({client_, objects_, owners_, gates_, clock_()}, act, stop).carry_out();
  if (act.key.kind == "revision")
    return keep_revision(act, stop);
  if (act.key.kind == "notice")
    return tell(act);
  if (act.key.kind == "claim")
    return act.verb == Verb::remove ? remove_claim(act, stop) : keep_claim(act, stop);
  if (act.key.kind == "pull_job")
    return keep_job(act, stop);
  // What is ordered is cleared with its job.
  if (act.key.kind == "image")
    return act.verb == Verb::remove ? Outcome(Done{.outputs = Value::dict({}), .changed = false})
                                    : orders_.keep(act, {instant_from_clock(), clock_()}, stop);
  return Outcome(Failed{user_error(cat("`", act.key.kind, "` is not kept in a cluster yet")), {}});
}

/// A notice names its object as `NAMESPACE/KIND/NAME`; a SidecarSet has no namespace.
Result<Outcome> KubernetesDriver::tell(const Act& act) {
  const ObjectNotice notice = read<ObjectNotice>(act.attributes);
  const std::vector<std::string_view> parts = split(notice.object.view(), '/');
  const Name name =
      parts.size() == 3 ? Name(cat(parts[1], "/", parts[0], "/", parts[2])) : notice.object;
  if (const auto owner = owners_.find(name); owner != nullptr)
    events_.tell(notice, owner->object, clock_());
  Done said{Value::dict({}), {}, true};
  said.printed.push_back(cat(notice.type, " ", notice.reason, ": ", notice.text));
  return Outcome(std::move(said));
}

Result<Outcome> KubernetesDriver::keep_revision(const Act& act, const std::stop_token& stop) {
  const ControllerRevision revision = read<ControllerRevision>(act.attributes);
  const auto owner = owners_.find(revision.owner);
  if (owner == nullptr)
    return Outcome(Skipped{gone_workload});
  const ObjectName name = cluster::object_of_revision(revision.space, revision.name);
  const Value object = objects_.find(types::revisions.kind, name);
  const workloads::Object& set = owner->object;
  const Value workload = objects_.find(set.kind.view(), {set.space.str(), set.name.str()});
  const bool is_of_set = set.kind == types::sidecar_sets.kind;
  const Value& stored = is_of_set ? workload.at("spec") : workload.at("spec").at("template");
  const kubernetes::WriteOptions options{.urgency = kubernetes::Urgency::availability};
  if (!object.is_null() &&
      !cluster::check_owner(cluster::meta_of(object), set.uid, "ControllerRevision"))
    return Outcome(Skipped{"a revision of another workload has its name"});
  if (!object.is_null())
    if (const auto before = cluster::read_revision(object, owner->object.uid);
        before && write(*before) == act.attributes)
      return Outcome(Done{.outputs = Value::dict({}), .changed = false});
  const auto answer =
      object.is_null()
          ? client_.create(types::revisions, name,
                           cluster::revision_object(revision, owner->object, stored), options, stop)
          : client_.patch(types::revisions, name, kubernetes::PatchType::merge,
                          cluster::revision_change(revision, cluster::meta_of(object)), options,
                          stop);
  const bool lacks_space = !answer && object.is_null() && is_of_set &&
                           answer.error().reason == kubernetes::ApiReason::not_found;
  if (lacks_space)
    return Outcome(Failed{
        user_error(cat("there is no namespace `", name.space, "` for revisions of SidecarSets; `",
                       "kubectl create namespace ", name.space, "` makes it")),
        {}});
  if (!answer)
    return outcome_of(answer.error());
  objects_.take_answer(types::revisions.kind, *answer);
  return Outcome(Done{.outputs = Value::dict({})});
}

Result<Outcome> KubernetesDriver::keep_job(const Act& act, const std::stop_token& stop) {
  const PullJob job = read<PullJob>(act.attributes);
  const bool is_of_user = job.owner.empty();
  const auto owner = is_of_user ? nullptr : owners_.find(job.owner);
  const ObjectName name{job.space.str(), job.name.str()};
  const Value object = objects_.find(types::pull_jobs.kind, name);
  const cluster::ObjectMeta meta = cluster::meta_of(object);
  if (!is_of_user && owner == nullptr)
    return Outcome(Skipped{gone_workload});
  if (object.is_null() && is_of_user)
    return Outcome(Skipped{"it is there no more"});
  const bool is_it = cluster::workload_of_job(meta) == job.owner &&
                     (is_of_user || (meta.controller && meta.controller->uid == owner->object.uid));
  if (!object.is_null() && (meta.is_leaving || !is_it))
    return Outcome(Skipped{meta.is_leaving ? "the job before it has not gone yet"
                                           : "a job of somebody else has its name"});
  if (!object.is_null() && write(cluster::read_pull_job(object)) == act.attributes)
    return Outcome(Done{.outputs = Value::dict({}), .changed = false});
  const kubernetes::WriteOptions options{.urgency = kubernetes::Urgency::progress};
  const auto answer =
      object.is_null() ? client_.create(types::pull_jobs, name,
                                        cluster::pull_job_object(job, owner->object), options, stop)
                       : client_.patch(types::pull_jobs, name, kubernetes::PatchType::merge,
                                       cluster::pull_job_change(job, object), options, stop);
  if (!answer)
    return outcome_of(answer.error());
  objects_.take_answer(types::pull_jobs.kind, *answer);
  return Outcome(
      Done{.outputs = Value::dict({}), .remote_id = cluster::meta_of(*answer).uid.str()});
}

Result<Outcome> KubernetesDriver::keep_claim(const Act& act, const std::stop_token& stop) {
  const VolumeClaim claim = read<VolumeClaim>(act.attributes);
  const auto owner = owners_.find(claim.owner.get());
  if (owner == nullptr)
    return Outcome(Skipped{gone_workload});
  const ObjectName name = name_of(act.key);
  const Value object = objects_.find(types::claims.kind, name);
  const cluster::ObjectMeta meta = cluster::meta_of(object);
  if (meta.is_leaving)
    return Outcome(Skipped{"the claim before it has not gone yet"});
  if (!meta.owner().empty() && meta.owner() != claim.owner.get().view())
    return Outcome(Skipped{"a claim of another workload has its name"});
  const bool has_owner =
      claim.retain.get() || (meta.controller && meta.controller->uid == owner->object.uid);
  if (const auto before = cluster::read_claim(object);
      before && has_owner && write(*before) == act.attributes)
    return done_with_claim(object, false);
  const kubernetes::WriteOptions options{.urgency = kubernetes::Urgency::availability};
  const auto answer =
      object.is_null()
          ? client_.create(types::claims, name, cluster::claim_object(claim, owner->object),
                           options, stop)
          : client_.patch(types::claims, name, kubernetes::PatchType::merge,
                          cluster::claim_change(claim, owner->object, object), options, stop);
  if (!answer)
    return outcome_of(answer.error());
  objects_.take_answer(types::claims.kind, *answer);
  return done_with_claim(*answer, true);
}

/// It goes as soon as no pod uses it any more.
Result<Outcome> KubernetesDriver::remove_claim(const Act& act, const std::stop_token& stop) {
  const ObjectName name = name_of(act.key);
  const Value object = objects_.find(types::claims.kind, name);
  const cluster::ObjectMeta meta = cluster::meta_of(object);
  const bool is_another = act.known != nullptr && !act.known->remote_id.empty() &&
                          act.known->remote_id != meta.uid.view();
  // A run may know more than there is by now: data of a workload that is gone are not ours to delete.
  const VolumeClaim wanted = read<VolumeClaim>(act.attributes);
  const auto now = cluster::read_claim(object);
  const bool is_ours =
      now && now->owner.get() == wanted.owner.get() && owners_.find(wanted.owner.get()) != nullptr;
  if (object.is_null() || meta.is_leaving || is_another || !is_ours)
    return Outcome(Done{.outputs = Value::dict({}), .changed = false});
  const auto removed = client_.remove(
      types::claims, name, {.urgency = kubernetes::Urgency::progress, .uid = meta.uid.str()}, stop);
  if (!removed && removed.error().reason != kubernetes::ApiReason::not_found)
    return outcome_of(removed.error());
  if (removed && cluster::meta_of(*removed).is_leaving)
    objects_.take_answer(types::claims.kind, *removed);
  return Outcome(Done{.outputs = Value::dict({})});
}

}  // namespace fettle
