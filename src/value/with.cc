#include "value/with.h"

#include <algorithm>

namespace fettle {

Value with(const Value& dict, std::string_view key, Value value) {
  return with(dict, {{key, std::move(value)}});
}

Value with(const Value& dict, std::initializer_list<Entry> more) {
  std::vector<Entry> entries;
  entries.reserve(dict.entries().size() + more.size());
  entries.insert(entries.end(), dict.entries().begin(), dict.entries().end());
  for (const Entry& entry : more) {
    const auto at = std::ranges::lower_bound(entries, entry.key.view(), {},
                                             [](const Entry& one) { return one.key.view(); });
    if (at != entries.end() && at->key == entry.key)
      at->value = entry.value;
    else
      entries.insert(at, entry);
  }
  return Value::dict(std::move(entries));
}

}  // namespace fettle
