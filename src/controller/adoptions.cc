#include "controller/adoptions.h"

#include "base/text.h"
#include "cluster/types.h"

namespace fettle {

using kubernetes::ApiReason;
using kubernetes::ApiResult;
using workloads::Object;
namespace types = cluster::types;

Adoptions::Adoptions(kubernetes::Client& client, kubernetes::ObjectCache& objects,
                     std::function<void()> ended)
    : client_(client),
      objects_(objects),
      told_(std::move(ended)),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

void Adoptions::begin(const Object& owner, cluster::Orphans orphans) {
  {
    const std::lock_guard lock(mutex_);
    const Instant now = instant_from_clock();
    State& state = states_[owner.owner()];
    state.waits = !state.is_under_way && !state.backoff.is_over(now);
    if (state.is_under_way || state.waits)
      return;
    if (state.backoff.until() + Backoff::longest < now)
      state.backoff.reset();
    state.is_under_way = true;
    waiting_.push_back({owner, std::move(orphans)});
  }
  come_.notify_all();
}

std::set<Name> Adoptions::take_ended(Instant now) {
  const std::lock_guard lock(mutex_);
  std::set<Name> ended = std::exchange(ended_, {});
  for (auto& [owner, state] : states_)
    if (state.waits && state.backoff.is_over(now)) {
      state.waits = false;
      ended.insert(owner);
    }
  return ended;
}

std::optional<Instant> Adoptions::due() const {
  const std::lock_guard lock(mutex_);
  std::optional<Instant> first;
  for (const auto& [owner, state] : states_)
    if (state.waits && (!first || state.backoff.until() < *first))
      first = state.backoff.until();
  return first;
}

std::vector<std::string> Adoptions::take_refusals() {
  const std::lock_guard lock(mutex_);
  return std::exchange(refusals_, {});
}

void Adoptions::forget(const Name& owner) {
  const std::lock_guard lock(mutex_);
  if (const auto found = states_.find(owner); found != states_.end() && !found->second.is_under_way)
    states_.erase(found);
}

void Adoptions::work(const std::stop_token& stop) {
  while (true) {
    std::unique_lock lock(mutex_);
    if (!come_.wait(lock, stop, [&] { return !waiting_.empty(); }))
      return;
    const Adoption adoption = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    const ApiResult<void> outcome = carry_out(adoption, stop);
    const Name owner = adoption.owner.owner();
    lock.lock();
    State& state = states_[owner];
    state.is_under_way = false;
    state.backoff.begin(instant_from_clock());
    if (outcome) {
      ended_.insert(owner);
    } else {
      state.waits = true;
      refusals_.push_back(
          cat(owner, " cannot take over what nobody manages: ", outcome.error().message));
    }
    lock.unlock();
    told_();
  }
}

ApiResult<void> Adoptions::carry_out(const Adoption& adoption, const std::stop_token& stop) {
  const Object& owner = adoption.owner;
  const auto now =
      present(types::workload_of_kind(owner.kind.view()), owner.space, owner.name, stop);
  if (!now)
    return now.error();
  const cluster::ObjectMeta meta = cluster::meta_of(*now);
  if (meta.uid != owner.uid || meta.is_leaving)
    return {};  // a watch is about to tell
  for (const Value& revision : adoption.orphans.revisions)
    if (auto taken = take_over(types::revisions, revision, owner, stop); !taken)
      return taken;
  for (const Value& pod : adoption.orphans.pods)
    if (auto taken = take_over(types::pods, pod, owner, stop); !taken)
      return taken;
  return {};
}

/// By a list of one: whoever follows objects may list them, and to get one is another right.
ApiResult<Value> Adoptions::present(const kubernetes::ResourceType& type, const Name& space,
                                    const Name& name, const std::stop_token& stop) {
  const auto listed =
      client_.list(type, space.str(), {.field_selector = cat("metadata.name=", name)}, stop);
  if (!listed)
    return listed.error();
  return listed->items.empty() ? Value() : listed->items.front();
}

ApiResult<void> Adoptions::take_over(const kubernetes::ResourceType& type, const Value& object,
                                     const Object& owner, const std::stop_token& stop) {
  cluster::ObjectMeta meta = cluster::meta_of(object);
  if (!cluster::is_orphan(meta)) {
    const auto now = present(type, meta.space, meta.name, stop);
    if (!now)
      return now.error();
    meta = cluster::meta_of(*now);
    if (now->is_null() || !cluster::is_orphan(meta))
      return {};  // the matter of the garbage collector
  }
  const auto answer = client_.patch(
      type, {meta.space.str(), meta.name.str()}, kubernetes::PatchType::strategic,
      cluster::change_of_owner(meta, owner), {.urgency = kubernetes::Urgency::availability}, stop);
  if (answer)
    objects_.take_answer(type.kind, *answer);
  // It is gone, or another one has its name.
  const bool is_other = !answer && (answer.error().reason == ApiReason::not_found ||
                                    answer.error().reason == ApiReason::conflict);
  if (!answer && !is_other)
    return answer.error();
  return {};
}

}  // namespace fettle
