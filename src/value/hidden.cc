#include "value/hidden.h"

namespace fettle {

Value hidden(const Value& value) {
  if (value.is_list()) {
    std::vector<Value> items;
    for (const Value& item : value.items())
      items.push_back(hidden(item));
    return Value::list(std::move(items));
  }
  if (value.is_dict()) {
    std::vector<Entry> entries;
    for (const Entry& entry : value.entries())
      entries.push_back({entry.key, hidden(entry.value)});
    return Value::dict(std::move(entries));
  }
  return value.is_null() || value.is_bool() || value.is_secret() ? value : Value::secret(value);
}

Value hidden_at(const Value& value, const std::set<Name>& names) {
  if (value.is_list()) {
    std::vector<Value> items;
    for (const Value& item : value.items())
      items.push_back(hidden_at(item, names));
    return Value::list(std::move(items));
  }
  if (!value.is_dict())
    return value;
  std::vector<Entry> entries;
  for (const Entry& entry : value.entries())
    entries.push_back({entry.key, names.contains(entry.key) ? hidden(entry.value)
                                                            : hidden_at(entry.value, names)});
  return Value::dict(std::move(entries));
}

}  // namespace fettle
