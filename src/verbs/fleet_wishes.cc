#include "verbs/fleet_wishes.h"

#include <algorithm>

#include "core/record.h"
#include "reconcile/run.h"

namespace fettle {
namespace {

constexpr int most_rounds = 1'000;  ///< of owners that change one another

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
  if (open_.empty() && intent_ != nullptr)
    return false;
  for (int round = 0; round < most_rounds && !open_.empty(); ++round) {
    for (const Name& owner : std::exchange(open_, {})) {
      workloads::Wanted wanted = workloads::want(fleet_, owner, now);
      fleet_.accept(owner, wanted.intent);
      asks_.erase(owner);
      if (wanted.ask)
        asks_[owner] = *wanted.ask;
      if (wanted.is_expired)
        expired_.insert(owner);
      intents_[owner] = std::move(wanted.intent);
    }
    for (Name& owner : fleet_.take_changed())
      open_.insert(std::move(owner));
  }
  return merge();
}

bool FleetWishes::merge() {
  auto merged = std::make_shared<Intent>();
  merged->environment = fleet_.environment();
  std::map<Key, Digest> wishes;
  for (const auto& [owner, intent] : intents_) {
    merged->sets.insert(intent.sets.begin(), intent.sets.end());
    merged->pools.insert(intent.pools.begin(), intent.pools.end());
    for (const auto& [set, resources] : intent.resources) {
      std::vector<Resource>& all = merged->resources[set];
      for (const Resource& resource : resources) {
        all.push_back(resource);
        if (is_memory(resource.key.kind))
          all.back().driver = "host";
        wishes.emplace(resource.key, wish_of(resource));
      }
    }
  }
  const bool is_new = intent_ == nullptr || wishes != wishes_;
  wishes_ = std::move(wishes);
  intent_ = std::move(merged);
  return is_new;
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
  if (intent_ == nullptr)
    return false;
  for (const auto& [set, resources] : intent_->resources)
    for (const Resource& resource : resources) {
      const auto found = known.find(resource.key);
      if (found == known.end() || !found->second->applied || found->second->attempt ||
          found->second->applied->attributes != resource.attributes)
        return false;
    }
  return std::ranges::all_of(known, [&](const auto& each) {
    return wishes_.contains(each.first) || each.second->wanted_by.empty();
  });
}

}  // namespace fettle
