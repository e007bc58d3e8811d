#pragma once
/// What a workload wants now: pods, revisions, jobs, pulls, claims and notices, in the order of its
/// rollout. Pure: all that it remembers are attributes of what it emitted.
///
///   Wanted wanted = want(fleet, owner, now);
///   fleet.accept(owner, wanted.intent);   // and the intent is brought about
///
/// It is asked again when `Fleet::take_changed` names the owner, and at `ask` at the latest. Asked
/// twice about the same fleet it answers the same; asked after `accept` it changes nothing more.

#include <optional>

#include "workloads/fleet.h"

namespace fettle::workloads {

struct Wanted {
  Intent intent;            ///< the owner's set, named as the owner
  std::optional<Time> ask;  ///< when it is to be asked again at the latest
  bool is_expired = false;  ///< a job whose time to live is over: its object may be deleted
};

/// Of an owner whose object is gone: an empty set, which removes what it had.
Wanted want(const Fleet& fleet, const Name& owner, Time now);

}  // namespace fettle::workloads
