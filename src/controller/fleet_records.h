#pragma once
/// The records of a fleet, by owner: those of one owner are found without a look at those of
/// others.

#include <unordered_set>

#include "core/record.h"

namespace fettle {

class FleetRecords {
 public:
  using Keys = std::unordered_set<Key, KeyHash>;

  /// `known` must outlive it; who changes it does so here.
  explicit FleetRecords(Known& known);

  /// A record as it is by now; none: it is gone. Whether it was another one.
  bool put(const Key& key, const RecordPointer& record);
  /// None when nothing is recorded.
  const RecordPointer& find(const Key& key) const;
  /// The keys that an owner is recorded to want.
  const Keys& of(const Name& owner) const;
  /// Of the last success (`Record::sequence`).
  uint64_t sequence() const { return sequence_; }

 private:
  void note(const Key& key, const Record& record);
  void forget(const Key& key, const Record& record);

  Known& known_;
  std::unordered_map<Name, Keys> by_owner_;
  uint64_t sequence_ = 0;
};

}  // namespace fettle
