#include "documents/events.h"

namespace fettle {
namespace {

Value event_value(const Event& event) {
  return Value::dict({{"event", to_string(event.type)},
                      {"verb", to_string(event.verb)},
                      {"time", to_string(event.time)},
                      {"text", event.text}});
}

}  // namespace

std::pair<Value, Value> key_and_verb(const Event& event) {
  if (event.key.kind.empty())
    return {};
  return {to_string(event.key), to_string(event.verb)};
}

Value why_value(const Name& environment, const Key& key, const std::vector<Cause>& causes) {
  std::vector<Value> lines, values;
  for (const Cause& cause : causes) {
    lines.emplace_back(to_string(cause));
    if (cause.outcome)
      lines.emplace_back(outcome_text(cause));
    if (cause.is_settled_since)
      lines.emplace_back(since_text(cause));
    values.push_back(
        Value::dict({{"key", to_string(cause.key)},
                     {"origin", cause.origin.empty() ? Value() : Value(cause.origin)},
                     {"event", cause.event ? event_value(*cause.event) : Value()},
                     {"outcome", cause.outcome ? event_value(*cause.outcome) : Value()}}));
  }
  return Value::dict({{"environment", environment},
                      {"key", to_string(key)},
                      {"because", Value::list(std::move(lines))},
                      {"causes", Value::list(std::move(values))}});
}

Value why_value(const Name& environment, const WorkloadWhy& why) {
  return Value::dict({{"environment", environment},
                      {"key", why.owner},
                      {"because", Value::list({why.lines.begin(), why.lines.end()})},
                      {"causes", Value::list({})}});
}

}  // namespace fettle
