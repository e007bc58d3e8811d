#include "documents/resources.h"

#include "base/text.h"
#include "workplace/field_changes.h"

namespace fettle {

std::string_view state_of(const Record& record, bool is_at_work) {
  if (!record.attempt)
    return "done";
  if (record.attempt->failed)
    return "failed";
  if (record.attempt->verb == Verb::blocked)
    return "held back";
  if (is_at_work)
    return "under way";
  return record.attempt->course ? "not finished" : "interrupted";
}

Value record_value(const Workplace& place, const Key& key, const Record& record, bool is_at_work) {
  const Resource* resource = resource_of_then(record);
  std::vector<Value> needs;
  if (resource != nullptr)
    for (const Need& need : resource->needs)
      for (const Key& needed : need.keys)
        needs.push_back(Value::dict({{"key", to_string(needed)}, {"bond", to_string(need.bond)}}));
  std::vector<Value> sets;
  for (const auto& [set, wish] : record.wanted_by)
    sets.emplace_back(set);
  return Value::dict(
      {{"key", to_string(key)},
       {"origin", resource == nullptr ? Value() : Value(resource->origin)},
       {"attributes", resource == nullptr ? Value() : shown(place, resource->attributes)},
       {"outputs", record.outputs},
       {"needs", Value::list(std::move(needs))},
       {"wanted_by", Value::list(std::move(sets))},
       {"incarnation", record.incarnation},
       {"done", record.applied.has_value()},
       {"attempt", !record.attempt          ? Value()
                   : record.attempt->failed ? Value(cat("failed: ", record.attempt->error))
                                            : Value(state_of(record, is_at_work))}});
}

Value orphan_value(const Orphan& orphan) {
  std::vector<Value> sets;
  for (const Name& set : orphan.sets)
    sets.emplace_back(set);
  return Value::dict({{"environment", orphan.key.environment},
                      {"key", to_string(orphan.key)},
                      {"origin", orphan.origin},
                      {"wanted_by_before", Value::list(std::move(sets))},
                      {"finished", to_string(orphan.finished)},
                      {"was_found", orphan.was_found}});
}

}  // namespace fettle
