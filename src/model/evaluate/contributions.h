#pragma once
/// Who said what: kept for a version, where each set is what some instances contributed.

#include <deque>
#include <vector>

#include "model/program/instance.h"

namespace fettle::model {

class Contributions {
 public:
  explicit Contributions(bool is_for_version) : is_kept_(is_for_version) {}

  /// That somebody read a relation, or (`no_slot`) found an instance by an index.
  void read(const Instance* instance, uint32_t slot, Contributor by, Place at) {
    if (is_kept_)
      readings_.push_back({instance, slot, by, at});
  }
  /// That `by` gave a value that `first` gave before.
  void repeat(Instance* owner, uint32_t slot, const Datum& value, Contributor first, Contributor by,
              Place at) {
    if (is_kept_ && first != by && by != owner->number + 1)
      repetitions_.push_back({owner, slot, by, value, at});
  }
  /// That a plugin gives a value to nobody else.
  void allocate(const Datum& value, Contributor by) { allocations_.push_back({by, value}); }

  const std::deque<Repetition>& repetitions() const { return repetitions_; }
  std::span<const Reading> readings() const { return readings_; }
  std::span<const Allocation> allocations() const { return allocations_; }

 private:
  bool is_kept_;
  std::deque<Repetition> repetitions_;
  std::vector<Reading> readings_;
  std::vector<Allocation> allocations_;
};

}  // namespace fettle::model
