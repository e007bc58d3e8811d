#include "controller/cluster_statuses.h"

#include "base/text.h"
#include "cluster/owners.h"
#include "cluster/status.h"
#include "cluster/types.h"
#include "value/with.h"

namespace fettle {
namespace {

using cluster::owner_called;

constexpr Duration status_pause = 250ms;  ///< between two refreshes
constexpr Duration time_pause = 1s;       ///< while time alone changes one

Value condition_for(const std::map<Name, Value>& conditions, const Name& owner) {
  const auto found = conditions.find(owner);
  return found == conditions.end() ? Value() : found->second;
}

/// The status of a workload whose manifest was not read as it stands: that of the earlier one, which
/// goes on, if there is any.
Value with_reason(const Value& status, const std::map<Name, std::string>& not_read,
                  const Name& owner) {
  const auto found = not_read.find(owner);
  if (found == not_read.end())
    return status;
  const Value reason(found->second);
  return status.is_null() ? Value::dict({{"reason", reason}}) : with(status, "reason", reason);
}

/// Whether a pod will count as available, or a rollout as late, without any event.
bool waits_for_time(const workloads::Workload& workload, const Value& status) {
  return status.integer_at("availableReplicas") < status.integer_at("readyReplicas") ||
         status.integer_at("numberAvailable") < status.integer_at("numberReady") ||
         (workload.progress_deadline_seconds && status.text_at("phase") == "progressing");
}

}  // namespace

ClusterStatuses::ClusterStatuses(kubernetes::Client& client, kubernetes::ObjectCache& objects,
                                 std::function<void()> refused, const cluster::SecretCopies* copies)
    : client_(client),
      objects_(objects),
      on_refusal_(std::move(refused)),
      copies_(copies),
      thread_([this](const std::stop_token& stop) { write(stop); }) {}

void ClusterStatuses::note(const Name& owner) { noted_.insert(owner); }

std::optional<Instant> ClusterStatuses::due() const {
  const Instant soon = refreshed_ + status_pause;
  const std::lock_guard lock(mutex_);
  if (!noted_.empty() || !outdated_.empty())
    return soon;
  std::optional<Instant> first;
  if (!waiting_for_time_.empty())
    first = refreshed_ + time_pause;
  for (const auto& [key, refusal] : refused_)
    if (refusal.is_open && (!first || refusal.backoff.until() < *first))
      first = std::max(soon, refusal.backoff.until());
  return first;
}

void ClusterStatuses::forget_refusal(const Name& owner) {
  const std::lock_guard lock(mutex_);
  std::erase_if(refused_, [&](const auto& each) { return owner_called(each.first) == owner; });
}

std::vector<std::string> ClusterStatuses::take_refusals() {
  const std::lock_guard lock(mutex_);
  return std::exchange(told_, {});
}

/// Returns those that have to wait.
std::set<kubernetes::ObjectKey> ClusterStatuses::note_what_is_open(Instant now) {
  std::set<kubernetes::ObjectKey> waiting;
  for (const kubernetes::ObjectKey& key : std::exchange(outdated_, {}))
    noted_.insert(owner_called(key));
  for (auto& [key, refusal] : refused_)
    if (!refusal.backoff.is_over(now))
      waiting.insert(key);
    else if (std::exchange(refusal.is_open, false))
      noted_.insert(owner_called(key));
  return waiting;
}

void ClusterStatuses::refresh(const workloads::Fleet& fleet, Time now, const Words& words) {
  const Instant moment = instant_from_clock();
  if (const auto time = due(); !time || moment < *time)
    return;
  refreshed_ = moment;
  std::map<std::string, std::set<Name>> dropped;
  std::set<kubernetes::ObjectKey> refused;
  {
    const std::lock_guard lock(mutex_);
    dropped = dropped_;
    refused = note_what_is_open(moment);
  }
  noted_.merge(waiting_for_time_);
  waiting_for_time_.clear();
  std::map<kubernetes::ObjectKey, Value> changes;
  for (const Name& owner : std::exchange(noted_, {})) {
    const workloads::Object* const workload = fleet.object(owner);
    const kubernetes::ObjectKey key = cluster::object_of_owner(owner);
    const bool is_job = key.kind == cluster::types::pull_jobs.kind;
    if (workload == nullptr && !is_job && !words.not_read.contains(owner))
      continue;
    if (refused.contains(key))
      continue;  // noted when its pause is over
    const Value object = objects_.find(key.kind, key.name);
    const bool is_of_rollout = is_job && workload == nullptr;
    const Value known = is_of_rollout ? cluster::status_for_job(fleet, object)
                                      : cluster::status_for(fleet, owner, object.at("status"), now,
                                                            condition_for(words.conditions, owner));
    Value wanted = with_reason(known, words.not_read, owner);
    if (object.is_null() || wanted.is_null())
      continue;
    if (const std::string complaint =
            is_job && copies_ != nullptr ? copies_->complaint(object) : "";
        !complaint.empty())
      wanted = with(wanted, "message", cat(wanted.text_at("message"), "; ", complaint));
    if (workload != nullptr && waits_for_time(*fleet.workload(owner), wanted))
      waiting_for_time_.insert(owner);
    changes[key] = cluster::status_change(object, wanted, dropped[key.kind]);
  }
  {
    const std::lock_guard lock(mutex_);
    for (auto& [key, change] : changes)
      if (change.is_null()) {
        waiting_.erase(key);
        refused_.erase(key);
      } else {
        waiting_[key] = std::move(change);
      }
  }
  come_.notify_all();
}

/// Only under the lock.
void ClusterStatuses::note_refusal(const kubernetes::ObjectKey& key,
                                   const kubernetes::ApiError& error) {
  if (error.reason == kubernetes::ApiReason::not_found) {
    refused_.erase(key);
    return;
  }
  if (error.reason == kubernetes::ApiReason::conflict) {
    outdated_.insert(key);
    return;
  }
  const auto [found, is_first] = refused_.try_emplace(key);
  found->second.backoff.begin(instant_from_clock());
  found->second.is_open = true;
  if (is_first)
    told_.push_back(cat("the status of ", owner_called(key), " is refused: ", error.message));
}

void ClusterStatuses::write(const std::stop_token& stop) {
  const kubernetes::WriteOptions options{.urgency = kubernetes::Urgency::status,
                                         .subresource = "status"};
  while (true) {
    std::unique_lock lock(mutex_);
    if (!come_.wait(lock, stop, [&] { return !waiting_.empty(); }))
      return;
    const auto next = waiting_.extract(waiting_.begin());
    lock.unlock();
    const auto& [kind, name] = next.key();
    const auto answer = client_.patch(cluster::types::workload_of_kind(kind), name,
                                      kubernetes::PatchType::merge, next.mapped(), options, stop);
    if (answer)
      objects_.take_answer(kind, *answer);
    lock.lock();
    if (answer) {
      dropped_[kind].merge(cluster::dropped_fields(next.mapped(), *answer));
      refused_.erase(next.key());
    } else {
      note_refusal(next.key(), answer.error());
      lock.unlock();
      on_refusal_();
    }
  }
}

}  // namespace fettle
