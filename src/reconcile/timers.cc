#include "reconcile/timers.h"

namespace fettle {

std::optional<NodeId> Agenda::take(Instant now) {
  if (moments_.empty() || moments_.begin()->first > now)
    return std::nullopt;
  return moments_.extract(moments_.begin()).value().second;
}

std::optional<Instant> Timers::next() const {
  std::optional<Instant> next = deadline;
  for (const Agenda* agenda : {&calls, &limits})
    if (const auto& moments = agenda->moments(); !moments.empty())
      next = std::min(next.value_or(Instant::max()), moments.begin()->first);
  return next;
}

void Watchers::turn(NodeId id, const std::vector<Key>& from, const std::vector<Key>& to) {
  for (const Key& key : from)
    nodes_[key].erase(id);
  for (const Key& key : to)
    nodes_[key].insert(id);
}

std::set<NodeId> Watchers::of(const Key& key) const {
  const auto found = nodes_.find(key);
  return found == nodes_.end() ? std::set<NodeId>() : found->second;
}

}  // namespace fettle
