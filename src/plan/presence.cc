#include "plan/presence.h"

#include <algorithm>

namespace fettle {

void LastTransition::see(const Record& act, const Kind& kind) {
  const std::optional<Presence> leaves = kind.leaves_host();
  if (!leaves || !act.applied || act.sequence < sequence_)
    return;
  const bool inside = std::any_of(act.acted_on.begin(), act.acted_on.end(), [&](const Version& v) {
    return v.key == host_ && v.incarnation == incarnation_;
  });
  if (!inside)
    return;
  sequence_ = act.sequence;
  left_ = *leaves;
}

std::unordered_map<Key, Presence, KeyHash> presences_left(const Known& known, const Kinds& kinds) {
  std::unordered_map<Key, LastTransition, KeyHash> last;
  std::unordered_map<Key, Presence, KeyHash> left;
  for (const auto& [key, record] : known) {
    const Kind* kind = kinds.find(key.kind);
    if (kind == nullptr || !record->applied)
      continue;
    if (kind->awaits_host(record->applied->attributes))
      for (const Version& version : record->acted_on)
        if (version.incarnation != 0)
          left[version.key] = Presence::serving;
    if (!kind->leaves_host())
      continue;
    for (const Version& version : record->acted_on)
      if (const auto host = known.find(version.key); host != known.end())
        last.try_emplace(version.key, version.key, host->second->incarnation)
            .first->second.see(*record, *kind);
  }
  for (const auto& [key, transition] : last)
    if (transition.left() != Presence::running)
      left[key] = transition.left();
  return left;
}

}  // namespace fettle
