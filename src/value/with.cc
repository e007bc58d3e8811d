#include "value/with.h"

namespace fettle {

Value with(const Value& dict, std::string_view key, Value value) {
  return with(dict, {{key, std::move(value)}});
}

Value with(const Value& dict, std::initializer_list<Entry> more) {
  std::vector<Entry> entries(dict.entries().begin(), dict.entries().end());
  entries.insert(entries.end(), more);  // of one key the last one counts
  return Value::dict(std::move(entries));
}

}  // namespace fettle
