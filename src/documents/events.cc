#include "documents/events.h"

namespace fettle {
namespace {

std::pair<Value, Value> key_and_verb(const Event& event) {
  if (event.key.kind.empty())
    return {};
  return {value_of(event.key), to_string(event.verb)};
}

}  // namespace

Value value_of(const Event& event) {
  const auto [key, verb] = key_and_verb(event);
  return Value::dict({{"sequence", event.sequence},
                      {"time", to_string(event.time)},
                      {"environment", event.environment},
                      {"type", to_string(event.type)},
                      {"key", key},
                      {"verb", verb},
                      {"text", event.text},
                      {"detail", event.detail}});
}

Value line_of(const Event& event) {
  const auto [key, verb] = key_and_verb(event);
  return Value::dict({{"event", to_string(event.type)},
                      {"key", key},
                      {"verb", verb},
                      {"text", event.text},
                      {"time", to_string(event.time)}});
}

Value brief_of(const Event& event) {
  return Value::dict({{"event", to_string(event.type)},
                      {"verb", to_string(event.verb)},
                      {"time", to_string(event.time)},
                      {"text", event.text}});
}

Value document_of(const Name& environment, const Key& key, const std::vector<Cause>& causes) {
  std::vector<Value> lines, values;
  for (const Cause& cause : causes) {
    lines.emplace_back(to_string(cause));
    if (cause.outcome)
      lines.emplace_back(outcome_text(cause));
    if (cause.is_settled_since)
      lines.emplace_back(since_text(cause));
    values.push_back(
        Value::dict({{"key", value_of(cause.key)},
                     {"origin", text_or_null(cause.origin)},
                     {"event", cause.event ? brief_of(*cause.event) : Value()},
                     {"outcome", cause.outcome ? brief_of(*cause.outcome) : Value()}}));
  }
  return Value::dict({{"environment", environment},
                      {"key", value_of(key)},
                      {"because", Value::list(std::move(lines))},
                      {"causes", Value::list(std::move(values))}});
}

Value document_of(const Name& environment, const WorkloadWhy& why) {
  return Value::dict({{"environment", environment},
                      {"key", why.owner},
                      {"because", list_of(why.lines)},
                      {"causes", Value::list({})}});
}

Value value_of(const Drift& drift) {
  return Value::dict(
      {{"key", value_of(drift.key)}, {"verb", to_string(drift.verb)}, {"why", drift.why}});
}

}  // namespace fettle
