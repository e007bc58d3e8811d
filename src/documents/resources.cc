#include "documents/resources.h"

#include "base/text.h"
#include "core/open_payload.h"
#include "verbs/environments/explain.h"
#include "workplace/field_changes.h"

namespace fettle {
namespace {

Value needs_value(const Resource& resource) {
  std::vector<Value> needs;
  for (const Need& need : resource.needs)
    for (const Key& needed : need.keys)
      needs.push_back(Value::dict({{"key", value_of(needed)}, {"bond", to_string(need.bond)}}));
  return Value::list(std::move(needs));
}

Value fate_value(const Key& key, std::string_view fate, Value used_by, Value why) {
  return Value::dict({{"key", value_of(key)},
                      {"fate", fate},
                      {"used_by", std::move(used_by)},
                      {"why", std::move(why)}});
}

}  // namespace

Value value_of(const Workplace& place, const Key& key, const Record& record, bool is_at_work) {
  const Resource* resource = resource_of_then(record);
  std::vector<Value> sets;
  for (const auto& [set, wish] : record.wanted_by)
    sets.emplace_back(set);
  return Value::dict(
      {{"key", value_of(key)},
       {"origin", resource == nullptr ? Value() : Value(resource->origin)},
       {"attributes", resource == nullptr ? Value() : shown(place, resource->attributes)},
       {"outputs", dict_of(record.outputs)},
       {"needs", resource == nullptr ? Value::list({}) : needs_value(*resource)},
       {"wanted_by", Value::list(std::move(sets))},
       {"incarnation", record.incarnation},
       {"done", record.applied.has_value()},
       {"attempt", !record.attempt          ? Value()
                   : record.attempt->failed ? Value(cat("failed: ", record.attempt->error))
                                            : Value(state_of(record, is_at_work))}});
}

Value value_of(const Orphan& orphan) {
  return Value::dict({{"environment", orphan.key.environment},
                      {"key", value_of(orphan.key)},
                      {"origin", orphan.origin},
                      {"wanted_by_before", list_of(orphan.sets)},
                      {"finished", to_string(orphan.finished)},
                      {"was_found", orphan.was_found}});
}

Value document_of(const Name& environment, const ChosenOrphans& chosen, const Known& known) {
  std::vector<Value> values;
  for (const Orphan& orphan : chosen.going)
    values.push_back(fate_value(orphan.key, fate_of(orphan, known), {}, {}));
  for (const UsedOrphan& one : chosen.used)
    values.push_back(fate_value(one.key, "kept", value_of(one.user),
                                cat("`", to_string(one.user), "` still uses it")));
  for (const auto& [key, sharer] : chosen.shared)
    values.push_back(fate_value(key, "kept", {}, to_string(sharer, environment)));
  return Value::list(std::move(values));
}

}  // namespace fettle
