#include "value/changes.h"

#include <set>

namespace fettle {
namespace {

struct Sides {
  std::vector<Entry> before, after;
};

Value dict_of(Sides sides) {
  std::vector<Entry> entries;
  if (!sides.before.empty())
    entries.push_back({"old", Value::dict(std::move(sides.before))});
  if (!sides.after.empty())
    entries.push_back({"new", Value::dict(std::move(sides.after))});
  return Value::dict(std::move(entries));
}

void add_difference(Sides& sides, const Name& key, const Value* before, const Value* after) {
  if (before != nullptr && after != nullptr && *before == *after)
    return;
  if (before != nullptr && after != nullptr && before->is_dict() && after->is_dict()) {
    const Value below = changes_between(*before, *after);
    if (const Value* old = below.find("old"))
      sides.before.push_back({key, *old});
    if (const Value* now = below.find("new"))
      sides.after.push_back({key, *now});
    return;
  }
  if (before != nullptr)
    sides.before.push_back({key, *before});
  if (after != nullptr)
    sides.after.push_back({key, *after});
}

}  // namespace

Value changes_between(const Value& before, const Value& after) {
  if (before == after)
    return Value::dict({});
  std::set<Name> keys;
  for (const Value* side : {&before, &after})
    if (side->is_dict())
      for (const Entry& entry : side->entries())
        keys.insert(entry.key);
  Sides sides;
  for (const Name& key : keys)
    add_difference(sides, key, before.find(key), after.find(key));
  return dict_of(std::move(sides));
}

}  // namespace fettle
