#include <algorithm>
#include <array>

#include "base/invariant.h"
#include "core/driver.h"
#include "core/event.h"
#include "core/kind.h"
#include "core/open_payload.h"

namespace fettle {
namespace {

template <typename Enum, size_t count>
std::string_view name_of(Enum value, const std::array<std::string_view, count>& names) {
  const auto index = static_cast<size_t>(value);
  INVARIANT(index < count);
  return names[index];
}

}  // namespace

std::string_view to_string(When when) {
  return name_of(when, std::array<std::string_view, 5>{"succeeded", "changed", "failed", "finished",
                                                       "stirred"});
}

std::string_view to_string(Bond bond) {
  return name_of(bond, std::array<std::string_view, 4>{"order", "refresh", "inside", "past"});
}

std::string_view to_string(Wait wait) {
  return name_of(wait, std::array<std::string_view, 3>{"fixed", "random", "exponential"});
}

std::string_view to_string(Leftover leftover) {
  return name_of(leftover, std::array<std::string_view, 3>{"keep", "forget", "remove"});
}

std::string_view to_string(Verb verb) {
  return name_of(
      verb, std::array<std::string_view, 11>{"keep", "create", "update", "replace", "start", "stop",
                                             "remove", "forget", "run", "ensure", "blocked"});
}

std::string_view to_string(Obstacle obstacle) {
  return name_of(obstacle, std::array<std::string_view, 9>{"none", "need", "undefined",
                                                           "unavailable", "report_only", "host",
                                                           "at_work", "unmet", "given_up"});
}

std::string_view to_string(EventType type) {
  return name_of(
      type, std::array<std::string_view, 13>{"run_started", "planned", "started", "pending", "done",
                                             "kept", "failed", "blocked", "removed", "run_finished",
                                             "skipped", "unlocked", "failed_over"});
}

bool Plan::converged() const {
  return std::ranges::all_of(steps, [](const Step& step) {
    return step.verb == Verb::keep ||
           (step.verb == Verb::blocked && step.obstacle == Obstacle::unmet);
  });
}

Comparison Kind::compare(const Record& /*known*/, const Observation& seen,
                         Presence expected) const {
  const bool there = seen.state.has_value();
  if (there == (expected != Presence::absent))
    return {};
  if (there)
    return {Verb::remove, {}, "it exists again after it was removed"};
  return {Verb::create, {}, "it is gone"};
}

const Record* Act::need(std::string_view kind) const {
  for (const RecordPointer& record : needs)
    if (record->applied && record->applied->key.kind == kind)
      return record.get();
  return nullptr;
}

Status Driver::ready(std::span<const Resource* const>, std::stop_token) { return {}; }

namespace {

/// Whether the wish differs from what was applied, as far as that shows: it holds no values of
/// others.
bool differs(const Value& applied, const Value& wanted) {
  return std::ranges::any_of(wanted.entries(), [&](const Entry& entry) {
    const Value& before = applied.at(entry.key);
    return !before.has_deferred() && before != entry.value;
  });
}

}  // namespace

Result<Outcome> perform(Driver& driver, const Act& act, const ProgressSink& progress,
                        std::stop_token stop) {
  if (act.compares == nullptr)
    return driver.apply(act, progress, std::move(stop));
  // A look on behalf of another resource has its own name, and is about the results of that one.
  RecordPointer known = act.known;
  if (known == nullptr && !act.needs.empty() && act.needs.back()->applied &&
      act.needs.back()->applied->key.kind == act.key.kind)
    known = act.needs.back();
  Resource wanted;
  wanted.key = known != nullptr && known->applied ? known->applied->key : act.key;
  wanted.attributes = act.attributes;
  const Subject subject{wanted.key, &wanted, known};
  const std::vector<Observation> seen = TRY(driver.observe(std::span(&subject, 1), stop));
  if (!seen.front().unavailable.empty())
    return world_error(seen.front().unavailable);
  Record as_wanted = known == nullptr ? Record() : *known;
  as_wanted.applied = std::move(wanted);
  const Comparison found = act.compares->compare(as_wanted, seen.front(), Presence::running);
  const bool is_other = known != nullptr && known->applied &&
                        differs(dict_of(known->applied->attributes), dict_of(act.attributes)) &&
                        !act.compares->in_place_changes(known->applied->attributes, act.attributes);
  return Outcome(Done{Value::dict({}), {}, found.verb != Verb::keep || is_other, {}});
}

void Driver::watch(const Name&, const std::function<void(const Key&)>&, std::stop_token) {}

}  // namespace fettle
