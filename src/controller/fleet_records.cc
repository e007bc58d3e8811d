#include "controller/fleet_records.h"

#include <algorithm>

namespace fettle {

FleetRecords::FleetRecords(Known& known) : known_(known) {
  for (const auto& [key, record] : known_)
    note(key, *record);
}

void FleetRecords::note(const Key& key, const Record& record) {
  sequence_ = std::max(sequence_, record.sequence);
  for (const auto& [owner, wish] : record.wanted_by)
    if (wish != Digest())
      by_owner_[owner].insert(key);
}

void FleetRecords::forget(const Key& key, const Record& record) {
  for (const auto& [owner, wish] : record.wanted_by)
    if (const auto found = by_owner_.find(owner); found != by_owner_.end()) {
      found->second.erase(key);
      if (found->second.empty())
        by_owner_.erase(found);
    }
}

bool FleetRecords::put(const Key& key, const RecordPointer& record) {
  const auto found = known_.find(key);
  if (found == known_.end() && record == nullptr)
    return false;
  if (found != known_.end()) {
    if (found->second == record)
      return false;
    forget(key, *found->second);
  }
  if (record == nullptr) {
    known_.erase(found);
    return true;
  }
  known_[key] = record;
  note(key, *record);
  return true;
}

const RecordPointer& FleetRecords::find(const Key& key) const {
  static const RecordPointer none;
  const auto found = known_.find(key);
  return found == known_.end() ? none : found->second;
}

const FleetRecords::Keys& FleetRecords::of(const Name& owner) const {
  static const Keys none;
  const auto found = by_owner_.find(owner);
  return found == by_owner_.end() ? none : found->second;
}

}  // namespace fettle
