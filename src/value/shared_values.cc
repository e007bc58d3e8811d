#include "value/shared_values.h"

namespace fettle {

Value SharedValues::shared(const Value& value) {
  if (!value.is_text() && !value.is_list() && !value.is_dict())
    return value;
  const Digest digest = value.digest();
  auto found = young_.find(digest);
  if (found == young_.end()) {
    std::optional<Value> before;
    bool was_met = false;
    if (const auto old = old_.find(digest); old != old_.end()) {
      before = std::move(old->second);
      was_met = true;
      old_.erase(old);
    }
    if (!was_met || !before) {
      // Its parts may push out what was just found, so it is added after them.
      Value made = rebuilt(value);
      if (young_.size() >= most_)
        old_ = std::exchange(young_, {});
      young_[digest] = was_met ? std::optional(made) : std::nullopt;
      return made;
    }
    found = young_.emplace(digest, std::move(before)).first;
  }
  if (found->second && *found->second == value)
    return *found->second;
  Value made = rebuilt(value);
  young_[digest] = made;
  return made;
}

Value SharedValues::rebuilt(const Value& value) {
  if (value.is_list()) {
    std::vector<Value> items;
    items.reserve(value.items().size());
    for (const Value& item : value.items())
      items.push_back(shared(item));
    return Value::list(std::move(items));
  }
  if (value.is_dict()) {
    std::vector<Entry> entries;
    entries.reserve(value.entries().size());
    for (const Entry& entry : value.entries())
      entries.push_back({shared_key(entry.key), shared(entry.value)});
    return Value::dict(std::move(entries));
  }
  return value;
}

Name SharedValues::shared_key(const Name& key) {
  if (keys_.size() >= most_)
    keys_.clear();
  return *keys_.insert(key).first;
}

}  // namespace fettle
