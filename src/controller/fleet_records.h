#pragma once
/// The records of a fleet, by owner: those of one owner are found without looking at others.

#include <unordered_set>

#include "core/record.h"

namespace fettle {

class FleetRecords {
 public:
  using Keys = std::unordered_set<Key, KeyHash>;

  /// `known` must outlive it, and is only changed through it.
  explicit FleetRecords(Known& known);

  /// Notes the present record of a key; null: it is gone. Returns whether it has changed.
  bool put(const Key& key, const RecordPointer& record);
  /// Null: nothing is recorded.
  const RecordPointer& find(const Key& key) const;
  /// The keys that an owner wants, by the records.
  const Keys& of(const Name& owner) const;
  /// The sequence of the last success (`Record::sequence`).
  uint64_t sequence() const { return sequence_; }

 private:
  void note(const Key& key, const Record& record);
  void forget(const Key& key, const Record& record);

  Known& known_;
  std::unordered_map<Name, Keys> by_owner_;
  uint64_t sequence_ = 0;
};

}  // namespace fettle
