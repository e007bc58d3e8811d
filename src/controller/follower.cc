#include "controller/follower.h"

#include <algorithm>

namespace fettle {
namespace {

constexpr Duration follow_pause = 500ms;  ///< between two looks at what somebody else does

}  // namespace

Follower::Follower(const Workplace& place, const Name& environment, const BringOptions& options)
    : place_(place),
      environment_(environment),
      options_(options),
      account_(place, options),
      source_(place, environment),
      cache_(place, source_),
      notifier_(place),
      pods_(place, source_, cache_, notifier_) {}

Result<std::optional<BringResult>> Follower::follow() {
  TRY(learn());
  changed_ = instant_from_clock();
  bool is_abandoned = false;
  while (!is_abandoned) {
    cache_.wishes().ask(place_.clock());
    account_.count(cache_.view());
    if (is_over())
      break;
    const Instant now = instant_from_clock();
    if (now - changed_ > options_.limit) {
      account_.summary().is_late = true;
      break;
    }
    account_.tell_waiting();
    if (!notifier_.rest(learned_ + follow_pause - now, *place_.interrupt)) {
      account_.summary().stopped = true;
      break;
    }
    is_abandoned = !TRY(catch_up());
  }
  BringResult brought = account_.close(cache_.view());
  return is_abandoned ? std::nullopt : std::optional(std::move(brought));
}

Status Follower::learn() {
  TRY(cache_.learn());
  learned_ = instant_from_clock();
  TRY(pods_.look_now());
  account_.expire();
  return {};
}

bool Follower::is_over() const {
  return cache_.wishes().is_brought_about(cache_.view().known) &&
         !account_.progress().is_any_awaited && account_.has_seen_available(pods_.looked_time());
}

Result<bool> Follower::catch_up() {
  (void)notifier_.take(Notifier::Cause::pods);
  if (instant_from_clock() - learned_ < follow_pause)
    return true;
  const bool is_still_kept = TRY(is_kept(place_, environment_));
  const uint64_t before = last_success();
  TRY(learn());
  if (last_success() != before)
    changed_ = instant_from_clock();
  return is_still_kept;
}

uint64_t Follower::last_success() const {
  uint64_t last = 0;
  for (const auto& [key, record] : cache_.view().known)
    last = std::max(last, record->sequence);
  return last + cache_.view().known.size();
}

}  // namespace fettle
