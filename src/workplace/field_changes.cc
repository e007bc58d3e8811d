#include "workplace/field_changes.h"
#include "core/open_payload.h"

namespace fettle {
namespace {

Value at(const Value& attributes, const std::string& field) {
  const Value* const found = follow(attributes, field);
  return found == nullptr ? Value() : *found;
}

}  // namespace

Value shown(const Workplace& place, const Value& value) {
  return place.shows_secrets ? reveal(value) : mask_variables(value);
}

Value shown(const Workplace& place, const Attributes& attributes) {
  return shown(place, dict_of(attributes));
}

std::vector<FieldChange> changes_of(const Workplace& place, const Step& step) {
  std::vector<FieldChange> changes;
  const bool is_known = step.known != nullptr && step.known->applied;
  if (!is_known && step.seen.is_null())
    return changes;
  const Value applied = is_known ? dict_of(step.known->applied->attributes) : Value();
  const Value wanted = step.wanted == nullptr ? applied : dict_of(step.wanted->attributes);
  const Value& seen = dict_of(step.seen);
  const Value told_applied = shown(place, applied), told_wanted = shown(place, wanted),
              told_seen = shown(place, seen);
  for (const std::string& field : step.fields) {
    const bool is_seen = !at(seen, field).is_null();
    // A field that is found beside the described ones, such as the id of an image, has no wanted
    // value.
    if (is_seen && at(wanted, field).is_null())
      continue;
    const Value& side = is_seen ? at(seen, field) : at(applied, field);
    if (side != at(wanted, field))
      changes.push_back(
          {field, at(is_seen ? told_seen : told_applied, field), at(told_wanted, field)});
  }
  return changes;
}

std::vector<FieldChange> changes_of(const Workplace& place, const Value& found) {
  std::vector<FieldChange> changes;
  const Value told = shown(place, found);
  if (told.is_dict())
    for (const Entry& entry : told.entries())
      changes.push_back({entry.key.str(), entry.value.at("current"), entry.value.at("desired")});
  return changes;
}

}  // namespace fettle
