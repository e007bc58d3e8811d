#include "model/export/resource_json.h"

#include <algorithm>

#include "value/json.h"

namespace fettle::model {
namespace {

void append_id(std::string& json, const fettle::Name& id) {
  append_json_text(json, id);
  json.pop_back();
  json += ",v=0\"";
}

}  // namespace

Value without_unknowns(const Value& value) {
  if (!value.has_unknown())
    return value;
  if (value.is_unknown())
    return Value("<<undefined>>");
  if (value.is_list()) {
    std::vector<Value> items;
    for (const Value& item : value.items())
      items.push_back(without_unknowns(item));
    return Value::list(std::move(items));
  }
  std::vector<Entry> entries;
  for (const Entry& entry : value.entries())
    entries.push_back({entry.key, without_unknowns(entry.value)});
  return Value::dict(std::move(entries));
}

void append_fields(std::string& json, std::vector<Entry>& fields) {
  std::ranges::sort(fields, {}, [](const Entry& field) { return field.key.view(); });
  for (const Entry& field : fields) {
    if (&field != &fields.front())
      json += ',';
    append_json_text(json, field.key);
    json += ':';
    append_json(json, without_unknowns(field.value));
  }
}

Status write_resources(const ExportResult& exported, const ByteSink& write) {
  constexpr size_t piece = 64 * 1024;
  std::string json = "[";
  size_t begin = 0;
  for (size_t i = 0; i < exported.items.size(); ++i) {
    const Item& item = exported.items[i];
    json += i == 0 ? "{" : ", {";
    json.append(exported.bodies, begin, exported.body_ends[i] - begin);
    json += exported.body_ends[i] > begin ? ",\"id\":" : "\"id\":";
    begin = exported.body_ends[i];
    append_id(json, item.id);
    json += ",\"requires\":[";
    for (size_t need = 0; need < item.needs.size(); ++need) {
      json += need == 0 ? "" : ",";
      append_json_text(json, item.needs[need]);  // without a version, as Inmanta writes it
    }
    json += "]}";
    if (json.size() < piece)
      continue;
    TRY(write(json));
    json.clear();
  }
  json += "]\n";
  return write(json);
}

}  // namespace fettle::model
