#pragma once
/// The expected presence of hosts. The last transition (start, stop, remove) in a host says how the
/// host should be found.

#include "core/kind.h"
#include "core/record.h"

namespace fettle {

/// Follows the events in the present incarnation of one host. The last transition counts.
class LastTransition {
 public:
  LastTransition(const Key& host, uint64_t incarnation) : host_(host), incarnation_(incarnation) {}
  void see(const Record& act, const Kind& kind);
  Presence left() const { return left_; }

 private:
  Key host_;
  uint64_t incarnation_;
  uint64_t sequence_ = 0;
  Presence left_ = Presence::running;
};

/// The hosts that their last transition did not leave running, and the awaited ones.
std::unordered_map<Key, Presence, KeyHash> presences_left(const Known& known, const Kinds& kinds);

}  // namespace fettle
