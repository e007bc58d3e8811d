#include "workplace/known_services.h"

#include <algorithm>

#include "plan/presence.h"

namespace fettle {

std::set<Key> removed_services(const Known& known, const Kinds& kinds) {
  const auto left = presences_left(known, kinds);
  std::set<Key> removed;
  for (const auto& [key, record] : known) {
    if (key.kind != "service" || !record->applied)
      continue;
    const auto presence = left.find(key);
    if (record->remote_id.empty() || record->by_hand == ByHand::removed ||
        (presence != left.end() && presence->second == Presence::absent))
      removed.insert(key);
  }
  return removed;
}

std::vector<RecordPointer> services_there(const Known& known, const Kinds& kinds) {
  const std::set<Key> removed = removed_services(known, kinds);
  std::vector<RecordPointer> there;
  for (const auto& [key, record] : known)
    if (key.kind == "service" && record->applied && !removed.contains(key))
      there.push_back(record);
  std::sort(there.begin(), there.end(), [](const RecordPointer& a, const RecordPointer& b) {
    return a->applied->key.name.view() < b->applied->key.name.view();
  });
  return there;
}

}  // namespace fettle
