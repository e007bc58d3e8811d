#include "controller/pods_since.h"

#include "base/text.h"
#include "core/open_payload.h"
#include "kinds/pod.h"
#include "value/with.h"

namespace fettle {
namespace {

/// Times that nobody asks for are forgotten some day. Those that somebody asks for are renewed.
constexpr Duration renewed_after = 1h;

/// Whether the pod has probes. Otherwise the engine says since when its containers are ready: since
/// they run.
bool has_probes(const Record& record) {
  const Resource* const then = resource_of_then(record);
  if (then == nullptr)
    return false;
  const Value spec = pod_spec(then->attributes);
  for (const char* part : {"containers", "initContainers"})
    if (const Value& containers = spec.at(part); containers.is_list())
      for (const Value& container : containers.items())
        if (container.at("readinessProbe").is_dict() || container.at("startupProbe").is_dict())
          return true;
  return false;
}

Value conditions_of(const State& state) { return read_one<&PodSeen::conditions>(state).value(); }

/// Another one when a container is another one, or was started again.
std::string sign_of(const State& state) {
  std::string sign;
  const List rows = read_one<&PodSeen::containers>(state);
  for (const Value& row : rows.items())
    sign += cat(row.text_at("containerID"), " ", row.integer_at("restartCount"), " ",
                row.at("state").at("running").text_at("startedAt"), "\n");
  return sign;
}

/// The conditions, with the times of those that have not changed.
Value with_times(const Value& conditions, const Value& before) {
  std::vector<Value> now;
  for (const Value& condition : conditions.items()) {
    Value since;
    if (before.is_list())
      for (const Value& other : before.items())
        if (other.at("type") == condition.at("type") &&
            other.at("status") == condition.at("status"))
          since = other.at("lastTransitionTime");
    now.push_back(since.is_null() ? condition : with(condition, "lastTransitionTime", since));
  }
  return Value::list(std::move(now));
}

/// The part of conditions that is remembered: without the reasons in words, which change often.
Value times_of(const Value& conditions) {
  std::vector<Value> times;
  for (const Value& condition : conditions.items())
    times.push_back(Value::dict({{"type", condition.at("type")},
                                 {"status", condition.at("status")},
                                 {"lastTransitionTime", condition.at("lastTransitionTime")}}));
  return Value::list(std::move(times));
}

}  // namespace

Status remember_since(const Workplace& place, const FleetView& view, PodsSeen& answer) {
  for (auto& [key, observation] : answer.seen) {
    if (!observation.state || !has_probes(*answer.asked.at(key)))
      continue;
    const Value conditions = conditions_of(*observation.state);
    if (!conditions.is_list())
      continue;
    const std::string sign = sign_of(*observation.state);
    if (const auto last = view.seen.find(key);
        last != view.seen.end() && last->second.state && sign_of(*last->second.state) == sign) {
      const Value before = conditions_of(*last->second.state);
      if (before.is_list() && times_of(before) == times_of(conditions))
        continue;
      Value now = with_times(conditions, before);
      const bool is_known = times_of(now) == times_of(before);
      observation.state = with(dict_of(*observation.state), "conditions", std::move(now));
      if (is_known)
        continue;
    }
    const std::string name = cat("conditions of ", key.environment, " ", key.name);
    const std::optional<Value> kept = TRY(place.store->cached(name));
    const Value before = kept && kept->text_at("sign") == sign ? kept->at("conditions") : Value();
    const Value now = with_times(conditions_of(*observation.state), before);
    const Time written =
        kept ? Time(Duration(kept->integer_at("written"))) : Time();  // former versions had no time
    if (times_of(now) != before || place.clock() - written > renewed_after)
      TRY(place.store->cache(name,
                             Value::dict({{"sign", sign},
                                          {"conditions", times_of(now)},
                                          {"written", place.clock().time_since_epoch().count()}}),
                             place.clock()));
    observation.state = with(dict_of(*observation.state), "conditions", now);
  }
  return {};
}

}  // namespace fettle
