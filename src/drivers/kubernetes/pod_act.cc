#include "drivers/kubernetes/pod_act.h"

#include "base/text.h"
#include "cluster/names.h"
#include "cluster/objects.h"
#include "cluster/others.h"
#include "cluster/types.h"
#include "drivers/kubernetes/refusal.h"
#include "value/with.h"

namespace fettle {
namespace {

using kubernetes::ApiReason;
using kubernetes::ApiResult;
using kubernetes::Urgency;
namespace types = cluster::types;

constexpr const char* found_not_ready = "found_not_ready";
constexpr const char* become_ready = "it has become ready since this was decided";
constexpr int most_tries = 5;  ///< of a write between those of a kubelet

Value with_version(const Value& patch, const Value& object) {
  return with(
      patch, "metadata",
      with(patch.at("metadata"), "resourceVersion", object.at("metadata").at("resourceVersion")));
}

/// Whether another version may be stored than the one that is known: somebody else's, or ours if only
/// the answer was lost. A watch tells of it later, and what is decided until then, also about other
/// pods, must not take the pod for what it was.
bool may_stand_there(const kubernetes::ApiError& error) {
  return error.reason == ApiReason::conflict ||
         (error.may_retry() && error.reason != ApiReason::too_many_requests);
}

Name uid_of(const Value& object) { return object.at("metadata").text_at("uid"); }

bool is_ready(const Value& object) {
  const Value& ready = cluster::condition_of(object.at("status").at("conditions"), "Ready");
  return ready.text_at("status") == "True";
}

bool is_leaving(const Value& object) {
  return object.at("metadata").find("deletionTimestamp") != nullptr;
}

}  // namespace

PodAct::PodAct(const PodActContext& context, const Act& act, const std::stop_token& stop)
    : context_(context),
      act_(act),
      stop_(stop),
      wanted_(read<Pod>(act.attributes)),
      name_{wanted_.space.get().str(), wanted_.name.get().str()},
      owner_(context.owners.find(wanted_.owner.get())),
      object_(context.objects.find(types::pods.kind, name_)) {}

/// To change a pod that is not ready costs nothing of what a workload may miss. If it becomes ready
/// before the first write is done, also while the act waits to be called again, that is decided
/// again.
Result<Outcome> PodAct::carry_out() {
  const bool takes_away = act_.verb != Verb::create;
  if (takes_away && act_.so_far.bool_at(found_not_ready) && is_ready(object_))
    return Outcome(Skipped{become_ready});
  Result<Outcome> outcome = act();
  if (outcome && takes_away && !is_ready(object_))
    if (auto* const pending = std::get_if<Pending>(&*outcome))
      pending->so_far = Value::dict({{found_not_ready, Value(true)}});
  return outcome;
}

Result<Outcome> PodAct::act() {
  if (act_.verb == Verb::remove)
    return remove();
  if (is_of_others())
    return update_other();
  if (owner_ == nullptr)
    return Outcome(Skipped{gone_workload});
  if (cluster::revision_of_label(owner_->revisions, wanted_.revision.view()) == nullptr)
    return wait_for_write(act_, cat("revision `", wanted_.revision.view(), "` is not stored yet"));
  return act_.verb == Verb::replace ? replace() : act_.verb == Verb::create ? create() : update();
}

Result<Outcome> PodAct::create() {
  if (!object_.is_null() && !is_wanted_one(object_))
    return Outcome(Skipped{"another pod has its name"});
  if (!object_.is_null())
    return open_gates(object_);  // it was made by an act that did not end
  const Value object = cluster::pod_object(
      act_.attributes,
      {.owner = &owner_->object,
       .marks_not_ready = owner_->marks_not_ready,
       .hashes = context_.owners.hashes_for(wanted_.sidecars.value(), &context_.objects)});
  const auto made =
      context_.client.create(types::pods, name_, object, {.urgency = Urgency::availability}, stop_);
  if (!made)
    return outcome_of(made.error());
  context_.objects.take_answer(types::pods.kind, *made);
  return open_gates(*made);
}

Result<Outcome> PodAct::open_gates(const Value& object) {
  if (attributes_of(object))
    return done(object, true);
  return write_all({cluster::gates_write(act_.attributes, object, context_.now)}, object);
}

Result<Outcome> PodAct::replace() {
  if (object_.is_null() || is_wanted_one(object_))
    return create();
  if (!is_leaving(object_) && !is_known_one(object_))
    return Outcome(Skipped{"another pod has its name"});
  if (!is_leaving(object_)) {
    Value last = object_;
    const auto removed = remove_object(last);
    if (!removed && has_become_ready(last))
      return Outcome(Skipped{become_ready});
    if (!removed && removed.error().reason != ApiReason::not_found)
      return outcome_of(removed.error());
  }
  return Outcome(Skipped{"the pod before it has not gone yet"});
}

Result<Outcome> PodAct::update() {
  if (object_.is_null() || is_leaving(object_))
    return Outcome(Skipped{"it is there no more"});
  const std::optional<Attributes> now = attributes_of(object_);
  if (now && *now == act_.attributes)
    return done(object_, false);
  if (!now && is_wanted_one(object_))
    return open_gates(object_);
  if (!now || act_.known == nullptr || !act_.known->applied ||
      act_.known->applied->attributes != *now)
    return Outcome(Skipped{"it has changed since this was decided"});
  return write_all(
      cluster::pod_writes(*now, act_.attributes, object_, owner_->revisions, context_.now,
                          context_.owners.hashes_for(wanted_.sidecars.value(), &context_.objects)),
      object_);
}

Result<Outcome> PodAct::update_other() {
  if (act_.verb != Verb::update || object_.is_null() || is_leaving(object_))
    return Outcome(Skipped{"it is there no more"});
  const std::optional<Attributes> now = attributes_of(object_);
  if (now && *now == act_.attributes)
    return done(object_, false);
  if (!now || act_.known == nullptr || !act_.known->applied ||
      act_.known->applied->attributes != *now)
    return Outcome(Skipped{"it has changed since this was decided"});
  if (!context_.owners.may_have_hashes(wanted_.sidecars.value(), context_.objects))
    return Outcome(Skipped{"the revision of its SidecarSet is not written yet"});
  return write_all({cluster::write_of_others(
                       *now, act_.attributes, object_, context_.now,
                       context_.owners.hashes_for(wanted_.sidecars.value(), &context_.objects))},
                   object_);
}

/// A run may know more than there is by now. What a deleted workload leaves, and what users have
/// taken out of one, is the matter of the garbage collector.
Result<Outcome> PodAct::remove() {
  if (object_.is_null() || is_leaving(object_) || !is_ours(object_))
    return Outcome(Done{.outputs = Value::dict({}), .changed = false});
  Value last = object_;
  const auto removed = remove_object(last);
  if (!removed && has_become_ready(last))
    return Outcome(Skipped{become_ready});
  const bool is_gone = removed || removed.error().reason == ApiReason::not_found;
  if (!is_gone)
    return outcome_of(removed.error());
  return Outcome(Done{.outputs = Value::dict({})});
}

bool PodAct::has_become_ready(const Value& now) const {
  return is_ready(now) && !is_ready(object_);
}

/// To remove a pod that is not ready is free. The request may wait for others, so it names the
/// version: if the pod becomes ready meanwhile, it stays, and `object` is then what is stored. What
/// else changes stops nothing. Another pod of that name counts as not found.
ApiResult<Value> PodAct::remove_object(Value& object) {
  for (int tries = 1;; ++tries) {
    kubernetes::DeleteOptions options{.urgency = Urgency::availability,
                                      .uid = uid_of(object).str()};
    if (!is_ready(object))
      options.resource_version = object.at("metadata").text_at("resourceVersion");
    auto removed = context_.client.remove(types::pods, name_, options, stop_);
    if (removed && is_leaving(*removed))
      context_.objects.take_answer(types::pods.kind, *removed);
    if (removed || removed.error().reason != ApiReason::conflict)
      return removed;
    const auto now = context_.client.get(types::pods, name_, stop_);
    if (!now)
      return now;
    context_.objects.take_answer(types::pods.kind, *now);
    if (uid_of(*now) != uid_of(object) || is_leaving(*now)) {
      removed.error().reason = ApiReason::not_found;
      return removed;
    }
    object = *now;
    if (has_become_ready(object) || tries == most_tries)
      return removed;
  }
}

Result<Outcome> PodAct::write_all(const std::vector<cluster::PodWrite>& writes,
                                  const Value& object) {
  Value last = object;
  for (size_t i = 0; i < writes.size(); ++i) {
    const bool was_ready = is_ready(last);
    const auto answer = patch(writes[i], last);
    if (!answer && i == 0 && !was_ready && is_ready(last))
      return Outcome(Skipped{become_ready});
    if (!answer && i > 0 && act_.known != nullptr && is_refusal(answer.error()))
      take_back(last, act_.known->applied->attributes);
    if (!answer)
      return outcome_of(answer.error());
    last = *answer;
  }
  return done(last, true);
}

/// Kubelets and schedulers write as well. If they change nothing that is wanted, the write goes on
/// from what they have written, which `object` is then, unless the pod has become ready meanwhile.
ApiResult<Value> PodAct::patch(const cluster::PodWrite& write, Value& object) {
  const kubernetes::WriteOptions options{
      .urgency = write.subresource == "status" ? Urgency::availability : Urgency::progress,
      .subresource = write.subresource};
  for (int tries = 1;; ++tries) {
    auto answer = context_.client.patch(types::pods, name_, kubernetes::PatchType::strategic,
                                        with_version(write.patch, object), options, stop_);
    if (answer)
      context_.objects.take_answer(types::pods.kind, *answer);
    if (answer || !may_stand_there(answer.error()))
      return answer;
    const auto now = context_.client.get(types::pods, name_, stop_);
    if (now)
      context_.objects.take_answer(types::pods.kind, *now);
    if (answer.error().reason != ApiReason::conflict || tries == most_tries || !now ||
        uid_of(*now) != uid_of(object) || is_leaving(*now) ||
        attributes_of(*now) != attributes_of(object))
      return answer;
    const bool is_ready_now = is_ready(*now) && !is_ready(object);
    object = *now;
    if (is_ready_now)
      return answer;
  }
}

/// What fails here is found by the next decision.
void PodAct::take_back(const Value& object, const Attributes& before) {
  Value last = object;
  const std::optional<Attributes> half = attributes_of(object);
  if (!half)
    return;
  for (const cluster::PodWrite& write :
       cluster::pod_writes(*half, before, object, owner_->revisions, context_.now)) {
    const auto answer = patch(write, last);
    if (!answer)
      return;
    last = *answer;
  }
}

std::optional<Attributes> PodAct::attributes_of(const Value& object) const {
  if (is_of_others()) {
    const auto other = cluster::read_pod_of_others(
        object, {act_.key.environment, cluster::driver_name, context_.owners});
    return other ? std::optional(other->record->applied->attributes) : std::nullopt;
  }
  const auto pod =
      cluster::read_pod(object, {act_.key.environment, cluster::driver_name, context_.gates,
                                 &owner_->revisions, owner_->object.uid});
  return pod && pod->record->applied ? std::optional(pod->record->applied->attributes)
                                     : std::nullopt;
}

/// Whether it is the one that the act was decided for.
bool PodAct::is_known_one(const Value& object) const {
  const bool has_uid = act_.known != nullptr && !act_.known->remote_id.empty();
  return has_uid ? act_.known->remote_id == uid_of(object).view() : is_wanted_one(object);
}

/// Whether it is that one, and belongs to its workload as that is stored now.
bool PodAct::is_ours(const Value& object) const {
  const cluster::ObjectMeta meta = cluster::meta_of(object);
  return owner_ != nullptr && is_known_one(object) && meta.owner() == wanted_.owner.get() &&
         cluster::check_owner(meta, owner_->object.uid, "pod");
}

bool PodAct::is_wanted_one(const Value& object) const {
  const Value made = cluster::json_annotation(object, cluster::annotation::made);
  return made.text_at("uid", uid_of(object)) == wanted_.uid.view();
}

Outcome PodAct::done(const Value& object, bool changed) {
  PodOutputs outputs;
  outputs.uid = uid_of(object);
  outputs.ip = object.at("status").text_at("podIP");
  return Done{
      .outputs = Outputs(write(outputs)), .remote_id = uid_of(object).str(), .changed = changed};
}

}  // namespace fettle
