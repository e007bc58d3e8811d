#include "controller/cluster_statuses.h"

#include "base/text.h"
#include "cluster/owners.h"
#include "cluster/status.h"
#include "cluster/types.h"

namespace fettle {
namespace {

constexpr Duration status_pause = 250ms;  ///< between two refreshes
constexpr Duration refused_pause = 2s;    ///< before a refused one is computed again
constexpr Duration time_pause = 1s;       ///< while time alone changes one

/// Whether a pod will count as available, or a rollout as late, without any event.
bool waits_for_time(const workloads::Workload& workload, const Value& status) {
  return status.integer_at("availableReplicas") < status.integer_at("readyReplicas") ||
         status.integer_at("numberAvailable") < status.integer_at("numberReady") ||
         (workload.progress_deadline_seconds && status.text_at("phase") == "progressing");
}

}  // namespace

ClusterStatuses::ClusterStatuses(kubernetes::Client& client, kubernetes::ObjectCache& objects)
    : client_(client),
      objects_(objects),
      thread_([this](const std::stop_token& stop) { write(stop); }) {}

void ClusterStatuses::note(const Name& owner) { noted_.insert(owner); }

std::optional<Instant> ClusterStatuses::due() const {
  if (!noted_.empty())
    return refreshed_ + status_pause;
  if (!waiting_for_time_.empty())
    return refreshed_ + time_pause;
  const std::lock_guard lock(mutex_);
  return refused_.empty() ? std::nullopt : std::optional(refreshed_ + refused_pause);
}

void ClusterStatuses::refresh(const workloads::Fleet& fleet, Time now) {
  const Instant moment = instant_from_clock();
  if (const auto time = due(); !time || moment < *time)
    return;
  refreshed_ = moment;
  std::map<std::string, std::set<Name>> dropped;
  {
    const std::lock_guard lock(mutex_);
    dropped = dropped_;
    for (const kubernetes::ObjectKey& key : std::exchange(refused_, {}))
      noted_.insert(cluster::owner_called(key));
  }
  noted_.merge(waiting_for_time_);
  waiting_for_time_.clear();
  std::map<kubernetes::ObjectKey, Value> changes;
  for (const Name& owner : std::exchange(noted_, {})) {
    const workloads::Object* const workload = fleet.object(owner);
    if (workload == nullptr)
      continue;
    const kubernetes::ObjectKey key{workload->kind.str(),
                                    {workload->space.str(), workload->name.str()}};
    const Value object = objects_.find(key.kind, key.name);
    const Value wanted = cluster::status_for(fleet, owner, object.at("status"), now);
    if (object.is_null() || wanted.is_null())
      continue;
    if (waits_for_time(*fleet.workload(owner), wanted))
      waiting_for_time_.insert(owner);
    changes[key] = cluster::status_change(object, wanted, dropped[key.kind]);
  }
  {
    const std::lock_guard lock(mutex_);
    for (auto& [key, change] : changes)
      if (change.is_null())
        waiting_.erase(key);
      else
        waiting_[key] = std::move(change);
  }
  come_.notify_all();
}

/// What is refused was mostly computed from an object that has changed since.
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
    if (answer) {
      objects_.take_answer(kind, *answer);
      lock.lock();
      dropped_[kind].merge(cluster::dropped_fields(next.mapped(), *answer));
    } else if (answer.error().reason != kubernetes::ApiReason::not_found) {
      lock.lock();
      refused_.insert(next.key());
    }
  }
}

}  // namespace fettle
