#include "documents/versions.h"

#include "documents/parts.h"

namespace fettle {
namespace {

std::string_view word_of(ItemDifference::Type type) {
  using Type = ItemDifference::Type;
  return type == Type::added     ? "added"
         : type == Type::changed ? "changed"
         : type == Type::moved   ? "moved"
                                 : "removed";
}

Value fields_value(const ItemDifference& one) {
  std::vector<Value> fields;
  for (const std::string& field : one.fields) {
    std::vector<Entry> entries{{"field", field}};
    if (const Value* const before = field_of(one.before, field))
      entries.push_back({"before", *before});
    if (const Value* const after = field_of(one.after, field))
      entries.push_back({"after", *after});
    fields.push_back(Value::dict(std::move(entries)));
  }
  return Value::list(std::move(fields));
}

}  // namespace

std::string_view word_of(WholeItem::State state) {
  using State = WholeItem::State;
  return state == State::available   ? "available"
         : state == State::undefined ? "undefined"
                                     : "skipped_for_undefined";
}

const Value* field_of(const Value& attributes, const std::string& field) {
  return attributes.is_dict() ? follow(attributes, field) : nullptr;
}

Value version_value(const VersionHead& head) {
  return Value::dict({{"version", head.number},
                      {"created", to_string(head.created)},
                      {"partial", head.detail.bool_at("partial")},
                      {"released", head.released ? Value(to_string(*head.released)) : Value()}});
}

Value whole_value(const WholeVersion& whole) {
  std::vector<Value> resources, unknowns;
  for (const WholeItem& one : whole.items)
    resources.push_back(Value::dict({{"id", one.item.id},
                                     {"set", one.set.empty() ? Value() : Value(one.set)},
                                     {"shared_by", names_value(one.contributors)},
                                     {"state", word_of(one.state)},
                                     {"origin", one.item.origin},
                                     {"requires", names_value(one.item.needs)},
                                     {"attributes", one.item.attributes}}));
  for (const Unknown& unknown : whole.unknowns)
    unknowns.push_back(Value::dict({{"resource", unknown.resource},
                                    {"parameter", unknown.parameter},
                                    {"source", unknown.source}}));
  return Value::dict({{"version", version_value(whole.head)},
                      {"resources", Value::list(std::move(resources))},
                      {"unknowns", Value::list(std::move(unknowns))}});
}

Value differences_value(const std::vector<ItemDifference>& found) {
  std::vector<Value> values;
  for (const ItemDifference& one : found)
    values.push_back(
        Value::dict({{"id", one.id},
                     {"change", word_of(one.type)},
                     {"set", one.set.empty() ? Value() : Value(one.set)},
                     {"set_before", one.set_before.empty() ? Value() : Value(one.set_before)},
                     {"fields", fields_value(one)}}));
  return Value::list(std::move(values));
}

Value pushed_value(const Pushed& pushed, bool is_dry) {
  std::vector<Value> sets;
  for (const SetChange& change : pushed.changes)
    sets.push_back(Value::dict({{"set", change.set.empty() ? Value() : Value(change.set)},
                                {"added", names_value(change.added)},
                                {"changed", names_value(change.changed)},
                                {"removed", names_value(change.removed)}}));
  return Value::dict({{"version", pushed.number},
                      {"stored", !is_dry},
                      {"released", pushed.is_released},
                      {"kept_sets", pushed.kept_sets},
                      {"sets", Value::list(std::move(sets))}});
}

}  // namespace fettle
