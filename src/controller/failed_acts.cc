#include "controller/failed_acts.h"

#include "reconcile/run.h"

namespace fettle {

void FailedActs::fail(const Key& key, const Record& record, bool is_any, Instant now) {
  FailedAct& act = acts_[key];
  const bool has_wish = record.attempt && record.attempt->resource;
  const Digest wish = has_wish ? wish_of(*record.attempt->resource) : Digest();
  if (!is_any && act.wish != wish)
    act.backoff.reset();
  act.wish = wish;
  act.is_any = is_any;
  act.is_removal = record.attempt && record.attempt->verb == Verb::remove;
  act.is_taken = false;
  act.owners.clear();
  for (const auto& [owner, wanted] : record.wanted_by)
    act.owners.insert(owner);
  act.backoff.begin(now);
}

void FailedActs::forgive(FailedAct& act, Instant now) {
  act.backoff.reset();
  act.backoff.end(now);
  act.is_taken = false;
}

void FailedActs::forgive(const Key& key, Instant now) {
  if (const auto found = acts_.find(key); found != acts_.end())
    forgive(found->second, now);
}

void FailedActs::forgive_all_of(const Name& owner, Instant now) {
  for (auto& [key, act] : acts_)
    if (act.owners.contains(owner))
      forgive(act, now);
}

bool FailedActs::is_held(const Key& key, const Digest& wish, Instant now) const {
  const auto found = acts_.find(key);
  return found != acts_.end() && !found->second.backoff.is_over(now) && !found->second.is_removal &&
         (found->second.is_any || found->second.wish == wish);
}

bool FailedActs::is_held(const Key& key, Instant now) const {
  const auto found = acts_.find(key);
  return found != acts_.end() && !found->second.backoff.is_over(now) && found->second.is_removal;
}

/// What was tried again and is not heard of for long is wanted no more.
std::vector<FailedActs::Retry> FailedActs::take_due(Instant now) {
  std::erase_if(acts_, [&](const auto& each) {
    return each.second.is_taken && each.second.backoff.until() + Backoff::longest < now;
  });
  std::vector<Retry> due;
  for (auto& [key, act] : acts_)
    if (!act.is_taken && act.backoff.is_over(now)) {
      act.is_taken = true;
      due.push_back({key, act.owners});
    }
  return due;
}

std::optional<Instant> FailedActs::due() const {
  std::optional<Instant> first;
  for (const auto& [key, act] : acts_)
    if (!act.is_taken && (!first || act.backoff.until() < *first))
      first = act.backoff.until();
  return first;
}

}  // namespace fettle
