#include "documents/versions.h"

#include "value/json.h"

namespace fettle {
namespace {

Value item_value(const WholeItem& one) {
  return Value::dict({{"id", one.item.id},
                      {"set", text_or_null(one.set)},
                      {"shared_by", list_of(one.contributors)},
                      {"state", to_string(one.state)},
                      {"origin", one.item.origin},
                      {"requires", list_of(one.item.needs)},
                      {"attributes", one.item.attributes}});
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

Value change_value(const SetChange& change) {
  return Value::dict({{"set", text_or_null(change.set)},
                      {"added", list_of(change.added)},
                      {"changed", list_of(change.changed)},
                      {"removed", list_of(change.removed)}});
}

}  // namespace

Value value_of(const VersionHead& head) {
  return Value::dict({{"version", head.number},
                      {"created", to_string(head.created)},
                      {"partial", head.detail.bool_at("partial")},
                      {"released", head.released ? Value(to_string(*head.released)) : Value()}});
}

Value document_of(const WholeVersion& whole) {
  std::vector<Value> resources, unknowns;
  for (const WholeItem& one : whole.items)
    resources.push_back(item_value(one));
  for (const Unknown& unknown : whole.unknowns)
    unknowns.push_back(Value::dict({{"resource", unknown.resource},
                                    {"parameter", unknown.parameter},
                                    {"source", unknown.source}}));
  return Value::dict({{"version", value_of(whole.head)},
                      {"resources", Value::list(std::move(resources))},
                      {"unknowns", Value::list(std::move(unknowns))}});
}

Value value_of(const ItemDifference& difference) {
  return Value::dict({{"id", difference.id},
                      {"change", to_string(difference.type)},
                      {"set", text_or_null(difference.set)},
                      {"set_before", text_or_null(difference.set_before)},
                      {"fields", fields_value(difference)}});
}

Value document_of(const PushResult& pushed, bool is_dry) {
  std::vector<Value> sets;
  for (const SetChange& change : pushed.changes)
    sets.push_back(change_value(change));
  return Value::dict({{"version", pushed.number},
                      {"stored", !is_dry},
                      {"released", pushed.is_released},
                      {"kept_sets", pushed.kept_sets},
                      {"sets", Value::list(std::move(sets))}});
}

Value no_export_document() { return Value::dict({{"due", false}}); }

Value release_document(uint64_t number) { return Value::dict({{"released", number}}); }

Value value_of(const Finding& finding) {
  return Value::dict({{"set", finding.set},
                      {"rule", finding.rule},
                      {"text", finding.text},
                      {"where", finding.where}});
}

Value value_of(const SetHead& set) {
  return Value::dict({{"name", set.name}, {"resources", set.items}});
}

Value setting_value(const std::string& text) {
  const Result<Value> value = read_json(text, "");
  return value && (value->is_bool() || value->is_integer()) ? *value : Value(text);
}

Value document_of(const std::vector<Setting>& settings) {
  std::vector<Entry> entries;
  for (const Setting& one : settings)
    entries.push_back({Name(one.name), setting_value(one.value)});
  return Value::dict({{"settings", Value::dict(std::move(entries))}});
}

Value setting_document(const std::string& name, const std::string& text) {
  return Value::dict({{"name", name}, {"value", setting_value(text)}});
}

}  // namespace fettle
