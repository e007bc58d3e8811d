#pragma once
/// Remembers who said what, for a version, where each set is what some instances contributed. The
/// contributor is always the instance for which the present task writes.

#include <deque>
#include <vector>

#include "model/evaluate/underway.h"

namespace fettle::model {

class Contributions {
 public:
  Contributions(bool is_for_version, const Underway& now) : is_kept_(is_for_version), now_(now) {}

  /// Notes that a relation was read or, with `no_slot`, that an instance was found by an index.
  void read(const Instance* instance, uint32_t slot, Place at) {
    if (is_kept_ && !now_.is_probing)
      readings_.push_back({instance, slot, now_.by, at});
  }
  /// Notes that the value of an attribute was read. A reader's own values do not count, nor those
  /// that it gave to an instance that it made.
  void read_value(const Instance* instance, uint32_t slot, const Datum& value, Place at) {
    const bool is_own =
        value.by == now_.by || (value.by == instance->number + 1 && instance->maker == now_.by);
    if (is_kept_ && !is_own)
      read(instance, slot, at);
  }
  /// Notes that somebody gave a value that `first` had given before.
  void repeat(Instance* owner, uint32_t slot, const Datum& value, Contributor first, Place at) {
    if (is_kept_ && first != now_.by && now_.by != owner->number + 1)
      repetitions_.push_back({owner, slot, now_.by, value, at});
  }
  /// Notes that a plugin gives a value to nobody else.
  void allocate(const Datum& value) { allocations_.push_back({now_.by, value}); }

  const std::deque<Repetition>& repetitions() const { return repetitions_; }
  std::span<const ReadMark> readings() const { return readings_; }
  std::span<const Allocation> allocations() const { return allocations_; }

 private:
  bool is_kept_;
  const Underway& now_;
  std::deque<Repetition> repetitions_;
  std::vector<ReadMark> readings_;
  std::vector<Allocation> allocations_;
};

}  // namespace fettle::model
