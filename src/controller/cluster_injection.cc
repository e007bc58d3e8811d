#include "controller/cluster_injection.h"

#include <algorithm>

#include "base/text.h"
#include "cluster/types.h"
#include "value/with.h"
#include "workloads/pods/sidecars.h"

namespace fettle {
namespace {

using cluster::ObjectMeta;
using kubernetes::ApiReason;
using kubernetes::ObjectKey;
using workloads::Fleet;
namespace types = cluster::types;

constexpr std::string_view name_taken = "NameTaken", refused = "Refused";
constexpr Duration injection_pause = 500ms;  ///< between two looks

Name owner_of_set(const Name& set) { return cat(types::sidecar_sets.kind, "//", set); }

kubernetes::ResourceType in_version(kubernetes::ResourceType type, const std::string& version) {
  if (!version.empty())
    type.version = version;
  return type;
}

/// Whether it may come about at the next try although nothing changes.
bool is_of_the_moment(const kubernetes::ApiError& error) {
  return error.reason == ApiReason::conflict || error.reason == ApiReason::not_found ||
         error.reason == ApiReason::already_exists;
}

}  // namespace

/// What is to be there for a set, and what its status says.
struct ClusterInjection::Finding {
  std::optional<cluster::AdmissionPolicy> wanted;
  Name uid;  ///< of the set; empty: it is gone
  std::string reason{}, message{};
  bool is_settled = true;
};

ClusterInjection::ClusterInjection(const ClusterAccess& access, std::function<void()> ended)
    : access_(access),
      policies_(in_version(types::policies, access.policy_version)),
      bindings_(in_version(types::policy_bindings, access.policy_version)),
      told_(std::move(ended)),
      thread_([this](const std::stop_token& stop) { write(stop); }) {}

void ClusterInjection::note(const Name& set) {
  noted_.insert(set);
  const std::lock_guard lock(mutex_);
  for (const auto* type : {&policies_, &bindings_})
    refused_.erase({type->kind, {{}, cluster::policy_name(set).str()}});
}

void ClusterInjection::note_policy(std::string_view name) {
  if (Name set = cluster::set_of_policy(name); !set.empty())
    noted_.insert(std::move(set));
}

void ClusterInjection::note_all(const Fleet& fleet) {
  for (const Name& owner : fleet.sidecar_sets())
    noted_.insert(fleet.workload(owner)->name);
  if (!access_.policy_version.empty())
    for (const auto* type : {&policies_, &bindings_})
      for (const Value& object : access_.objects.all(type->kind))
        note_policy(cluster::meta_of(object).name);
}

std::optional<Instant> ClusterInjection::due() const {
  const std::lock_guard lock(mutex_);
  if (!noted_.empty() || !ended_.empty())
    return refreshed_ + injection_pause;
  std::optional<Instant> next;
  for (const auto& [key, refusal] : refused_)
    if (!under_way_.contains(key) && (!next || refusal.backoff.until() < *next))
      next = std::max(refusal.backoff.until(), refreshed_ + injection_pause);
  return next;
}

std::set<Name> ClusterInjection::refresh(const Fleet& fleet, Time now) {
  const Instant moment = instant_from_clock();
  if (const auto time = due(); !time || moment < *time)
    return {};
  refreshed_ = moment;
  {
    const std::lock_guard lock(mutex_);
    noted_.merge(ended_);
    ended_.clear();
    for (const auto& [key, refusal] : refused_)
      if (refusal.backoff.is_over(moment))
        noted_.insert(cluster::set_of_policy(key.name.name));
  }
  for (const Name& set : std::exchange(noted_, {}))
    look_at(fleet, set, now, moment);
  return std::exchange(changed_, {});
}

ClusterInjection::Finding ClusterInjection::find(const Fleet& fleet, const Name& owner,
                                                 Time now) const {
  Finding found;
  const workloads::Object* const set = fleet.object(owner);
  if (set == nullptr)
    return found;
  found.uid = set->uid;
  const workloads::Workload& workload = *fleet.workload(owner);
  if (access_.policy_version.empty()) {
    found.reason = "NotServed";
    found.message = "the cluster does not serve mutatingadmissionpolicies, or they may not be read";
  } else if (workload.injection_paused) {
    found.reason = "Paused";
    found.message = "`spec.injectionStrategy.paused` is set";
  } else {
    const workloads::Rollout revisions(fleet, workload, now);
    auto made = cluster::admission_policy(*set, workloads::revision_for_others(revisions));
    if (made) {
      found.wanted = *std::move(made);
    } else {
      found.reason = "NotPossible";
      found.message = made.error().message;
    }
  }
  return found;
}

/// What was written is told of by the cache, and is looked at then.
void ClusterInjection::look_at(const Fleet& fleet, const Name& set, Time now, Instant moment) {
  const Name owner = owner_of_set(set);
  Finding finding = find(fleet, owner, now);
  if (!access_.policy_version.empty()) {
    const Value none;
    const std::string name = cluster::policy_name(set).str();
    for (const auto* type : {&policies_, &bindings_}) {
      const ObjectKey key{type->kind, {{}, name}};
      // A binding of ours must not make somebody else's policy work.
      const Value& wanted = !finding.wanted || finding.reason == name_taken ? none
                            : type == &policies_                            ? finding.wanted->policy
                                                 : finding.wanted->binding;
      Task task =
          task_for(key, access_.objects.find(key.kind, key.name), wanted, finding.uid, finding);
      const std::lock_guard lock(mutex_);
      const auto refusal = refused_.find(key);
      if (task.write == Write::none) {
        tasks_.erase(key);
        if (refusal != refused_.end())
          refused_.erase(refusal);
        continue;
      }
      finding.is_settled = false;
      if (refusal != refused_.end() && !refusal->second.message.empty() &&
          finding.message.empty()) {
        finding.reason = refused;
        finding.message = refusal->second.message;
      }
      if (!under_way_.contains(key) &&
          (refusal == refused_.end() || refusal->second.backoff.is_over(moment)))
        tasks_[key] = std::move(task);
    }
    come_.notify_all();
  }
  put_condition(owner, finding);
}

ClusterInjection::Task ClusterInjection::task_for(const ObjectKey& key, const Value& stored,
                                                  const Value& wanted, const Name& set_uid,
                                                  Finding& finding) {
  const ObjectMeta meta = cluster::meta_of(stored);
  Value object =
      wanted.is_null() ? Value() : with(wanted, "apiVersion", type_of(key).api_version());
  if (stored.is_null())
    return wanted.is_null() ? Task() : Task{.write = Write::create, .object = std::move(object)};
  if (!cluster::is_policy_of(stored, {})) {
    if (!wanted.is_null()) {
      finding.reason = name_taken;
      finding.message = cat(type_of(key).plural, " `", key.name.name, "` is somebody else's");
      finding.is_settled = false;
    }
    return {};
  }
  // One of a set that had this name goes first.
  if (wanted.is_null() || !cluster::is_policy_of(stored, set_uid))
    return meta.is_leaving ? Task() : Task{.write = Write::remove, .uid = meta.uid};
  if (meta.is_leaving || is_kept(key, stored, wanted))
    return {};
  object = with(object, "metadata", stored.at("metadata"));  // of this version and UID
  return {.write = Write::replace, .object = std::move(object), .uid = meta.uid};
}

bool ClusterInjection::is_kept(const ObjectKey& key, const Value& stored, const Value& wanted) {
  if (stored.at("spec") == wanted.at("spec"))
    return true;
  const std::lock_guard lock(mutex_);
  const auto kept = kept_.find(key);
  return kept != kept_.end() &&
         kept->second == KeptObject{wanted.at("spec").digest(), cluster::meta_of(stored).uid,
                                    stored.at("metadata").integer_at("generation")};
}

void ClusterInjection::put_condition(const Name& owner, const Finding& finding) {
  if (finding.uid.empty()) {
    conditions_.erase(owner);
    return;
  }
  const bool is_injected = finding.message.empty();
  if (is_injected && !finding.is_settled)
    return;  // said when it is written
  Value condition = Value::dict(
      {{"type", "InjectsPodsOfOthers"},
       {"status", is_injected ? "True" : "False"},
       {"reason", is_injected ? "PolicyInPlace" : finding.reason},
       {"message", is_injected ? cat("by mutatingadmissionpolicies `",
                                     finding.wanted->policy.at("metadata").text_at("name"), "`")
                               : cat(finding.reason == refused
                                         ? "the policy cannot be made as the set is now: "
                                         : "pods of others get no sidecars: ",
                                     finding.message)}});
  Value& known = conditions_[owner];
  if (known == condition)
    return;
  known = std::move(condition);
  changed_.insert(owner);
}

const kubernetes::ResourceType& ClusterInjection::type_of(const ObjectKey& key) const {
  return key.kind == policies_.kind ? policies_ : bindings_;
}

void ClusterInjection::write(const std::stop_token& stop) {
  while (true) {
    std::unique_lock lock(mutex_);
    if (!come_.wait(lock, stop, [&] { return !tasks_.empty(); }))
      return;
    const auto next = tasks_.extract(tasks_.begin());
    under_way_.insert(next.key());
    lock.unlock();
    const auto answer = carry_out(next.key(), next.mapped(), stop);
    const bool is_object = answer && !cluster::meta_of(*answer).uid.empty();
    if (is_object && next.mapped().write != Write::remove)
      access_.objects.take_answer(next.key().kind, *answer);
    note_end(next.key(), next.mapped(), answer);
    told_();
  }
}

kubernetes::ApiResult<Value> ClusterInjection::carry_out(const ObjectKey& key, const Task& task,
                                                         const std::stop_token& stop) {
  const kubernetes::WriteOptions options{.urgency = kubernetes::Urgency::status};
  switch (task.write) {
    case Write::none:
      break;
    case Write::create:
      return access_.client.create(type_of(key), key.name, task.object, options, stop);
    case Write::replace:
      return access_.client.replace(type_of(key), key.name, task.object, options, stop);
    case Write::remove:
      return access_.client.remove(type_of(key), key.name,
                                   {.urgency = kubernetes::Urgency::status, .uid = task.uid.str()},
                                   stop);
  }
  return Value();
}

void ClusterInjection::note_end(const ObjectKey& key, const Task& task,
                                const kubernetes::ApiResult<Value>& answer) {
  const std::lock_guard lock(mutex_);
  under_way_.erase(key);
  ended_.insert(cluster::set_of_policy(key.name.name));
  if (answer) {
    refused_.erase(key);
    kept_.erase(key);
    if (task.write != Write::remove)
      kept_[key] = {task.object.at("spec").digest(), cluster::meta_of(*answer).uid,
                    answer->at("metadata").integer_at("generation")};
    return;
  }
  Refusal& refusal = refused_[key];
  refusal.backoff.begin(instant_from_clock());
  refusal.message = is_of_the_moment(answer.error()) ? std::string() : answer.error().message;
}

}  // namespace fettle
