#include "verbs/fleet_wishes.h"

#include <algorithm>

#include "core/record.h"
#include "reconcile/run.h"

namespace fettle {
namespace {

constexpr int most_rounds = 1'000;  ///< of owners that change one another
constexpr int acts_of_node = 4, most_acts = 64, most_pulls = 1'000;

/// What is only remembered needs no engine.
bool is_memory(const Name& kind) {
  return kind == "revision" || kind == "pull_job" || kind == "notice";
}

}  // namespace

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
      fleet_.accept(owner, wanted.intent);
      asks_.erase(owner);
      if (wanted.ask)
        asks_[owner] = *wanted.ask;
      if (wanted.is_expired)
        expired_.insert(owner);
      is_any_new |= take(owner, std::move(wanted.intent));
    }
    for (Name& owner : fleet_.take_changed())
      open_.insert(std::move(owner));
  }
  return is_any_new;
}

/// Whether it is another wish than before.
bool FleetWishes::take(const Name& owner, Intent intent) {
  Digest digest;
  for (auto& [set, resources] : intent.resources)
    for (Resource& resource : resources) {
      if (is_memory(resource.key.kind))
        resource.driver = "host";
      const Digest one = combine(combine(resource.key.kind.digest(), resource.key.name.digest()),
                                 wish_of(resource));
      digest.high += one.high;
      digest.low += one.low;
    }
  const auto [found, is_new] = wanted_.try_emplace(owner);
  const bool is_another = is_new || found->second.digest != digest;
  found->second = {std::move(intent), digest};
  if (is_another)
    changed_.insert(owner);
  return is_another;
}

std::shared_ptr<const Intent> FleetWishes::intent(const std::set<Name>& owners) const {
  auto merged = std::make_shared<Intent>();
  merged->environment = fleet_.environment();
  // Pulls have budgets of their own: pods change while as many images come as may.
  merged->pools[Name()] = other_acts();
  for (const Name& owner : owners) {
    const auto found = wanted_.find(owner);
    if (found == wanted_.end())
      continue;
    const Intent& intent = found->second.intent;
    merged->sets.insert(intent.sets.begin(), intent.sets.end());
    merged->pools.insert(intent.pools.begin(), intent.pools.end());
    for (const auto& [set, resources] : intent.resources) {
      std::vector<Resource>& all = merged->resources[set];
      all.insert(all.end(), resources.begin(), resources.end());
    }
  }
  return merged;
}

int FleetWishes::other_acts() const {
  return std::min(most_acts, acts_of_node * std::max(1, static_cast<int>(fleet_.nodes().size())));
}

int FleetWishes::acts_at_once() const {
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

bool FleetWishes::is_brought_about(const Known& known) const {
  std::set<Key> keys;
  for (const auto& [owner, wanted] : wanted_)
    for (const auto& [set, resources] : wanted.intent.resources)
      for (const Resource& resource : resources) {
        keys.insert(resource.key);
        const auto found = known.find(resource.key);
        if (found == known.end() || !found->second->applied || found->second->attempt ||
            found->second->applied->attributes != resource.attributes)
          return false;
      }
  return std::ranges::all_of(known, [&](const auto& each) {
    return keys.contains(each.first) || each.second->wanted_by.empty();
  });
}

}  // namespace fettle
