#include "cli/long_texts.h"

#include "base/text.h"
#include "value/empty.h"
#include "value/with.h"

namespace fettle {
namespace {

bool is_long_text(const Value& value) {
  constexpr size_t short_text = 80;
  const std::string_view text = value.text().view();
  return text.size() > short_text || text.find('\n') != text.npos;
}

bool are_long_texts(const Value& before, const Value& after) {
  return before.is_text() && after.is_text() && !before.is_secret() && !after.is_secret() &&
         (is_long_text(before) || is_long_text(after));
}

/// In place of what was there; nothing, if nothing is left of it.
void put(std::vector<Entry>& entries, const Name& key, Value left) {
  std::erase_if(entries, [&](const Entry& one) { return one.key == key; });
  if (!is_empty(left))
    entries.push_back({key, std::move(left)});
}

/// Both states without their long texts, which are added to `found`.
std::pair<Value, Value> without_long_texts(const Value& before, const Value& after,
                                           const std::string& path, std::vector<LongTexts>& found) {
  std::vector<Entry> old_entries(before.entries().begin(), before.entries().end());
  std::vector<Entry> new_entries(after.entries().begin(), after.entries().end());
  for (const Entry& entry : before.entries()) {
    const Value* const now = after.find(entry.key);
    const std::string place = cat(path, path.empty() ? "" : ".", entry.key);
    if (now == nullptr || *now == entry.value)
      continue;
    if (are_long_texts(entry.value, *now)) {
      found.push_back({place, entry.value, *now});
      put(old_entries, entry.key, {});
      put(new_entries, entry.key, {});
    } else if (entry.value.is_dict() && now->is_dict()) {
      const size_t known = found.size();
      auto [old_part, new_part] = without_long_texts(entry.value, *now, place, found);
      if (found.size() > known) {
        put(old_entries, entry.key, std::move(old_part));
        put(new_entries, entry.key, std::move(new_part));
      }
    }
  }
  return {Value::dict(std::move(old_entries)), Value::dict(std::move(new_entries))};
}

}  // namespace

SplitChanges split_changes(const Value& changes) {
  const Value &before = changes.at("old"), &after = changes.at("new");
  SplitChanges split{changes, {}};
  if (!before.is_dict() || !after.is_dict())
    return split;
  const auto [old_rest, new_rest] = without_long_texts(before, after, "", split.long_texts);
  if (split.long_texts.empty())
    return split;
  std::vector<Entry> entries(changes.entries().begin(), changes.entries().end());
  put(entries, "old", old_rest);
  put(entries, "new", new_rest);
  split.rest = Value::dict(std::move(entries));
  return split;
}

}  // namespace fettle
