#include "controller/cluster_upkeep.h"

#include <algorithm>

#include "cluster/names.h"
#include "cluster/types.h"

namespace fettle {
namespace {

using cluster::Upkeep;
using kubernetes::ObjectKey;
using kubernetes::ObjectName;
namespace types = cluster::types;

constexpr Duration upkeep_pause = 500ms;  ///< between two looks
constexpr Duration retry_pause = 10s;     ///< after a write, which may have been refused

}  // namespace

ClusterUpkeep::ClusterUpkeep(kubernetes::Client& client, kubernetes::ObjectCache& objects,
                             cluster::SecretCopies* copies)
    : client_(client),
      objects_(objects),
      copies_(copies),
      thread_([this](const std::stop_token& stop) { write(stop); }) {}

void ClusterUpkeep::note(const std::string& node) {
  if (objects_.follows(types::node_images.kind))
    noted_.insert(node);
}

void ClusterUpkeep::remove_job(const ObjectKey& job, const Name& uid) {
  if (ExpiredJob& known = expired_[job]; known.uid != uid)
    known = {.uid = uid};
}

std::optional<Instant> ClusterUpkeep::due() const {
  if (!noted_.empty())
    return refreshed_ + upkeep_pause;
  std::optional<Instant> next;
  const auto take = [&](Instant instant) {
    if (!next || instant < *next)
      next = instant;
  };
  for (const auto& [node, instant] : waits_)
    take(instant);
  for (const auto& [key, job] : expired_)
    take(job.next);
  for (const auto& [name, instant] : copies_left_)
    take(instant);
  return next ? std::optional(std::max(*next, refreshed_ + upkeep_pause)) : std::nullopt;
}

void ClusterUpkeep::refresh(const cluster::FindJob& find, Time now) {
  const Instant moment = instant_from_clock();
  if (const auto time = due(); !time || moment < *time)
    return;
  refreshed_ = moment;
  for (const auto& [node, instant] : waits_)
    if (instant <= moment)
      noted_.insert(node);
  for (const std::string& node : std::exchange(noted_, {}))
    look_at(node, find, now, moment);
  look_at_expired(moment);
  look_at_copies(moment);
}

/// Also what a controller before this one has left, if it copied and this one does not.
void ClusterUpkeep::look_at_copies(Instant moment) {
  if (copies_ == nullptr)
    return;
  const std::set<std::string> made = copies_->names();
  std::set<std::string> known = made;
  known.merge(std::exchange(copies_seen_, {}));
  for (const auto& [name, instant] : copies_left_)
    known.insert(name);
  if (known.empty() && copies_->is_empty())
    return;
  const std::set<std::string> needed =
      copies_->are_wanted() ? cluster::needed_copies(objects_.all(types::pull_jobs.kind))
                            : std::set<std::string>();
  copies_->forget_failed_but(needed);
  std::set<std::string> due;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(copies_gone_, [&](const std::string& name) {
      return needed.contains(name) || made.contains(name);
    });
    for (const std::string& name : known)
      if (needed.contains(name) || copies_gone_.contains(name))
        copies_left_.erase(name);
      else if (Instant& next = copies_left_[name]; next <= moment) {
        due.insert(name);
        next = moment + retry_pause;
      }
  }
  for (const std::string& name : due)
    give({types::secrets.kind, {std::string(cluster::copy_space), name}},
         {.write = Upkeep::Write::remove});
}

/// By the jobs that are there when it is asked.
bool ClusterUpkeep::is_needed(const std::string& copy) const {
  return copies_->are_wanted() &&
         cluster::needed_copies(objects_.all(types::pull_jobs.kind)).contains(copy);
}

void ClusterUpkeep::look_at_expired(Instant moment) {
  for (auto job = expired_.begin(); job != expired_.end();) {
    const Value object = objects_.find(job->first.kind, job->first.name);
    const cluster::ObjectMeta meta = cluster::meta_of(object);
    if (object.is_null() || meta.is_leaving || meta.uid != job->second.uid) {
      job = expired_.erase(job);
      continue;
    }
    if (job->second.next <= moment) {
      give(job->first, {.write = Upkeep::Write::remove, .body = {}, .uid = meta.uid});
      job->second.next = moment + retry_pause;
    }
    ++job;
  }
}

/// What is written will be told of, and is looked at then.
void ClusterUpkeep::look_at(const std::string& node, const cluster::FindJob& find, Time now,
                            Instant moment) {
  const ObjectName name{{}, node};
  const Value node_image = objects_.find(types::node_images.kind, name);
  if (copies_ != nullptr)
    copies_seen_.merge(cluster::copies_in(node_image));
  Upkeep upkeep = cluster::upkeep_of(objects_.find(types::nodes.kind, name), node_image, find, now);
  waits_.erase(node);
  if (upkeep.next)
    waits_[node] = moment + (*upkeep.next - now);
  if (upkeep.write != Upkeep::Write::none)
    waits_[node] = moment + retry_pause;
  give({types::node_images.kind, name},
       {upkeep.write, std::move(upkeep.body), cluster::meta_of(node_image).uid});
}

void ClusterUpkeep::give(const ObjectKey& key, Task task) {
  {
    const std::lock_guard lock(mutex_);
    if (task.write == Upkeep::Write::none)
      tasks_.erase(key);
    else
      tasks_[key] = std::move(task);
  }
  come_.notify_all();
}

void ClusterUpkeep::release_job(const ObjectName& job) {
  const Value object = objects_.find(types::pull_jobs.kind, job);
  std::vector<Value> others;
  bool is_held = false;
  for (const Value& each : items_of(object.at("metadata").at("finalizers")))
    if (each == Value(cluster::protection))
      is_held = true;
    else
      others.push_back(each);
  if (!is_held)
    return;
  const cluster::ObjectMeta meta = cluster::meta_of(object);
  const Value rest = others.empty() ? Value() : Value::list(std::move(others));
  give({types::pull_jobs.kind, job},
       {.write = Upkeep::Write::change,
        .body = Value::dict({{"metadata", Value::dict({{"uid", meta.uid},
                                                       {"resourceVersion", meta.version},
                                                       {"finalizers", rest}})}}),
        .uid = meta.uid});
}

/// What fails is found again by the next look.
void ClusterUpkeep::write(const std::stop_token& stop) {
  while (true) {
    std::unique_lock lock(mutex_);
    if (!come_.wait(lock, stop, [&] { return !tasks_.empty(); }))
      return;
    const auto next = tasks_.extract(tasks_.begin());
    lock.unlock();
    if (next.key().kind == types::secrets.kind) {
      remove_copy(next.key().name, stop);
      continue;
    }
    const auto answer = carry_out(next.key(), next.mapped(), stop);
    const bool is_object = answer && !cluster::meta_of(*answer).uid.empty();
    if (is_object && next.mapped().write != Upkeep::Write::remove)
      objects_.take_answer(next.key().kind, *answer);
  }
}

/// Whoever orders waits for it, so it goes before the other writes of upkeep.
void ClusterUpkeep::remove_copy(const ObjectName& copy, const std::stop_token& stop) {
  copies_->alone(copy.name, stop, [&] {
    if (is_needed(copy.name))
      return;  // a job has come meanwhile
    const auto answer =
        client_.remove(types::secrets, copy, {.urgency = kubernetes::Urgency::progress}, stop);
    if (!answer && answer.error().reason != kubernetes::ApiReason::not_found)
      return;
    copies_->forget(copy.name);
    const std::lock_guard lock(mutex_);
    copies_gone_.insert(copy.name);
  });
}

kubernetes::ApiResult<Value> ClusterUpkeep::carry_out(const ObjectKey& key, const Task& task,
                                                      const std::stop_token& stop) {
  const kubernetes::ResourceType& type =
      key.kind == types::node_images.kind ? types::node_images : types::workload_of_kind(key.kind);
  kubernetes::WriteOptions options{.urgency = kubernetes::Urgency::status};
  switch (task.write) {
    case Upkeep::Write::none:
      break;
    case Upkeep::Write::create:
      return client_.create(type, key.name, task.body, options, stop);
    case Upkeep::Write::remove:
      return client_.remove(type, key.name,
                            {.urgency = kubernetes::Urgency::status, .uid = task.uid.str()}, stop);
    case Upkeep::Write::change_status:
      options.subresource = "status";
      [[fallthrough]];
    case Upkeep::Write::change:
      return client_.patch(type, key.name, kubernetes::PatchType::merge, task.body, options, stop);
  }
  return Value();
}

}  // namespace fettle
