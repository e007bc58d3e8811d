#pragma once
/// Gives equal names and small dicts that are met one after another one place in memory.
///
/// Values that are read or made one after another mostly share their keys and small parts, and each
/// would have its own. There is one place for each hash, modulo their number, and what comes later
/// takes it: what is met often is back soon, and nothing has to be thrown out. Secrets are not kept.
///
/// Used by one thread, which has its own (`shared_values`).

#include <array>
#include <vector>

#include "value/value.h"

namespace fettle {

class SharedValues {
 public:
  Name name(std::string_view text) {
    if (text.size() > longest)
      return Name(text);
    Name& kept = names_[std::hash<std::string_view>()(text) % names_.size()];
    if (kept.view() != text)
      kept = Name(text);
    return kept;
  }
  Value dict(std::vector<Entry> entries) {
    const bool is_small = entries.size() <= most_entries;
    Value made = Value::dict(std::move(entries));
    if (!is_small || made.depth() > deepest_shared || made.has_secret())
      return made;
    Value& kept = dicts_[made.digest().high % dicts_.size()];
    if (kept != made)
      kept = std::move(made);
    return kept;
  }

 private:
  static constexpr size_t longest = 64, most_entries = 8;
  static constexpr uint32_t deepest_shared = 3;
  std::array<Name, 512> names_;
  std::array<Value, 256> dicts_;
};

inline SharedValues& shared_values() {
  static thread_local SharedValues one;
  return one;
}

}  // namespace fettle
