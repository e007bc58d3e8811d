#include "controller/fleet_wishes.h"

#include <algorithm>

#include "core/record.h"
#include "reconcile/run.h"
#include "workloads/decide/pulls.h"
#include "workplace/engines.h"

namespace fettle {
namespace {

constexpr int most_rounds = 1'000;  ///< of owners that change one another
constexpr int acts_of_node = 4, most_acts = 64, most_pulls = 1'000;

/// Whether the thing is only remembered, so that no engine is needed. Elsewhere a revision and a job
/// are objects, and a notice an event.
bool is_memory(const Resource& resource) {
  const Name& kind = resource.key.kind;
  return (kind == "revision" || kind == "notice" || kind == "pull_job") &&
         is_engine(resource.driver);
}

using Resources = std::span<const Box<Resource>>;

/// A digest of resources in any order.
Digest sum_of(const std::vector<const Resource*>& resources) {
  Digest sum;
  for (const Resource* resource : resources) {
    const Digest one = combine(combine(resource->key.kind.digest(), resource->key.name.digest()),
                               wish_of(*resource));
    sum.high += one.high;
    sum.low += one.low;
  }
  return sum;
}

/// Whether two lists want the same. The same object in the same place need not be compared.
bool are_same(Resources before, Resources after) {
  if (before.size() != after.size())
    return false;
  std::vector<const Resource*> old_ones, new_ones;
  for (size_t i = 0; i < before.size(); ++i)
    if (&*before[i] != &*after[i]) {
      old_ones.push_back(&*before[i]);
      new_ones.push_back(&*after[i]);
    }
  return sum_of(old_ones) == sum_of(new_ones);
}

/// What an owner wants of a record's resource, as the record says. An empty digest: nothing.
Digest recorded_wish(const RecordPointer& record, const Name& owner) {
  if (record == nullptr)
    return {};
  const auto wish = record->wanted_by.find(owner);
  return wish == record->wanted_by.end() ? Digest() : wish->second;
}

/// Whether a record says that it is as it is wanted.
bool is_as_wanted(const Record& record, const Box<Resource>& resource, const Digest& wish) {
  return record.applied && !record.attempt && record.by_hand == ByHand::nothing &&
         (&*record.applied == &*resource || record.applied->attributes == resource->attributes) &&
         wish == wish_of(*resource);
}

}  // namespace

/// Collects what is due, owner by owner.
class FleetWishes::DueCollection {
 public:
  DueCollection(const FleetRecords& records, const DueScope& scope)
      : records_(records), scope_(scope) {}

  void add(const Name& owner, const Wish& wish) {
    intent_.sets[owner] = Leftover::remove;
    intent_.pools.insert(wish.pools.begin(), wish.pools.end());
    resources_ = &intent_.resources[owner];
    size_t recorded = 0;
    for (const Box<Resource>& resource : wish.resources) {
      const RecordPointer& record = records_.find(resource->key);
      const Digest recorded_as = recorded_wish(record, owner);
      if (recorded_as != Digest())
        ++recorded;
      if (record == nullptr || stays_in_run(resource->key) ||
          !is_as_wanted(*record, resource, recorded_as))
        take(resource, record);
    }
    if (recorded < records_.of(owner).size())
      add_what_goes(owner, wish);
    add_needs(wish);
  }

  Due due() { return {std::make_shared<const Intent>(std::move(intent_)), std::move(known_)}; }
  Intent& intent() { return intent_; }

 private:
  bool stays_in_run(const Key& key) const {
    return scope_.is_all || (scope_.in_run != nullptr && scope_.in_run->contains(key)) ||
           (scope_.drifted != nullptr && scope_.drifted->contains(key));
  }

  void take(const Box<Resource>& resource, const RecordPointer& record) {
    if (!taken_.insert(resource->key).second)
      return;
    resources_->push_back(*resource);
    if (is_memory(*resource))
      resources_->back().driver = "host";
    if (scope_.failed != nullptr &&
        scope_.failed->is_held(resource->key, wish_of(*resource), scope_.now))
      resources_->back().mandate = Mandate::none;
    if (record != nullptr)
      known_.emplace(resource->key, record);
    has_needs_ |= !resource->needs.empty();
  }

  /// Adds what the owner once wanted and does not want any more, and whatever used it.
  void add_what_goes(const Name& owner, const Wish& wish) {
    FleetRecords::Keys gone = records_.of(owner);
    for (const Box<Resource>& resource : wish.resources)
      gone.erase(resource->key);
    bool is_used = false;
    for (const Key& key : gone) {
      if (scope_.failed != nullptr && scope_.failed->is_held(key, scope_.now))
        continue;
      known_.emplace(key, records_.find(key));
      is_used |= key.kind == "claim";
    }
    for (const Box<Resource>& resource : is_used ? Resources(wish.resources) : Resources())
      for (const Need& need : resource->needs)
        if (std::ranges::any_of(need.keys, [&](const Key& key) { return gone.contains(key); }))
          take(resource, records_.find(resource->key));
  }

  /// Adds what the taken resources need, which the same owner wants.
  void add_needs(const Wish& wish) {
    if (!std::exchange(has_needs_, false))
      return;
    FleetRecords::Keys needed;
    for (const Resource& resource : *resources_)
      for (const Need& need : resource.needs)
        needed.insert(need.keys.begin(), need.keys.end());
    for (const Box<Resource>& resource : wish.resources)
      if (needed.contains(resource->key))
        take(resource, records_.find(resource->key));
    has_needs_ = false;
  }

  const FleetRecords& records_;
  const DueScope& scope_;
  Intent intent_;
  Known known_;
  FleetRecords::Keys taken_;
  std::vector<Resource>* resources_ = nullptr;  ///< those of the owner
  bool has_needs_ = false;
};

bool FleetWishes::ask(Time now) {
  for (const auto& [owner, time] : asks_)
    if (time <= now)
      open_.insert(owner);
  for (Name& owner : fleet_.take_changed())
    open_.insert(std::move(owner));
  bool is_any_new = false;
  for (int round = 0; round < most_rounds && !open_.empty(); ++round) {
    for (const Name& owner : std::exchange(open_, {})) {
      workloads::Wanted wanted = workloads::want(fleet_, owner, now);
      fleet_.accept(wanted);
      asks_.erase(owner);
      if (wanted.ask)
        asks_[owner] = *wanted.ask;
      if (wanted.is_expired)
        expired_.insert(owner);
      is_any_new |= take(std::move(wanted));
    }
    for (Name& owner : fleet_.take_changed())
      open_.insert(std::move(owner));
  }
  return is_any_new;
}

/// Takes a wish, and returns whether it differs from the last one.
bool FleetWishes::take(workloads::Wanted wanted) {
  const auto [found, is_new] = wanted_.try_emplace(wanted.owner);
  Wish& before = found->second;
  Wish after{std::move(wanted.resources), wanted.pods.size(), std::move(wanted.pools)};
  const auto others = [](const Wish& wish) {
    return Resources(wish.resources).first(wish.resources.size() - wish.pods);
  };
  const auto pods = [](const Wish& wish) { return Resources(wish.resources).last(wish.pods); };
  const bool is_another = renewed_.erase(wanted.owner) > 0 || is_new ||
                          !are_same(others(before), others(after)) ||
                          !are_same(pods(before), pods(after));
  before = std::move(after);
  if (before.resources.empty() && fleet_.workload(wanted.owner) == nullptr)
    gone_.insert(wanted.owner);
  else
    gone_.erase(wanted.owner);
  if (is_another)
    changed_.insert(wanted.owner);
  return is_another;
}

Due FleetWishes::due(const std::set<Name>& owners, const FleetRecords& records,
                     const DueScope& scope) const {
  DueCollection gathering(records, scope);
  gathering.intent().environment = fleet_.environment();
  // Pulls have budgets of their own: as many images come as allowed while pods change.
  gathering.intent().pools[Name()] = other_acts();
  for (const Name& owner : owners)
    if (const auto found = wanted_.find(owner); found != wanted_.end())
      gathering.add(owner, found->second);
  return gathering.due();
}

int FleetWishes::other_acts() const {
  if (fleet_.is_cluster)
    return std::clamp(fleet_.acts_at_once, 1, most_acts);
  return std::min(most_acts, acts_of_node * std::max(1, static_cast<int>(fleet_.nodes().size())));
}

int FleetWishes::acts_at_once() const {
  if (fleet_.is_cluster)
    return other_acts() + workloads::orders_at_once;
  int pulls = 0;
  for (const auto& [name, node] : fleet_.nodes())
    pulls = std::min(most_pulls, pulls + node.pulls);
  return other_acts() + pulls;
}

std::optional<Time> FleetWishes::ask_at() const {
  std::optional<Time> first;
  for (const auto& [owner, time] : asks_)
    if (!first || time < *first)
      first = time;
  return first;
}

std::vector<Name> FleetWishes::take_expired() {
  const std::set<Name> expired = std::exchange(expired_, {});
  return {expired.begin(), expired.end()};
}

void FleetWishes::forget_gone(const FleetRecords& records) {
  std::erase_if(gone_, [&](const Name& owner) {
    if (fleet_.workload(owner) != nullptr || !records.of(owner).empty() || open_.contains(owner) ||
        changed_.contains(owner))
      return false;
    wanted_.erase(owner);
    return true;
  });
}

bool FleetWishes::is_brought_about(const Known& known) const {
  std::set<Key> keys;
  for (const auto& [owner, wish] : wanted_)
    for (const Box<Resource>& resource : wish.resources) {
      keys.insert(resource->key);
      const auto found = known.find(resource->key);
      if (found == known.end() || !found->second->applied || found->second->attempt ||
          found->second->applied->attributes != resource->attributes)
        return false;
    }
  return std::ranges::all_of(known, [&](const auto& each) {
    return keys.contains(each.first) || each.second->wanted_by.empty();
  });
}

}  // namespace fettle
