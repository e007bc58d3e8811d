#pragma once
/// What a workload wants now: pods, revisions, jobs, pulls, claims and notices, in the order of its
/// rollout. Pure: all that it remembers are attributes of what it emitted.
///
///   Wanted wanted = want(fleet, owner, now);
///   fleet.accept(wanted);   // and what it names is brought about
///
/// It is asked again when `Fleet::take_changed` names the owner, and at `ask` at the latest. Asked
/// twice about the same fleet it answers the same; asked after `accept` it changes nothing more.

#include <optional>

#include "workloads/fleet.h"

namespace fettle::workloads {

struct Wanted {
  Name owner;
  /// All that it wants. What is as before is the very resource that the fleet has: whoever keeps
  /// answers finds out what changed by looking at pointers.
  std::vector<Boxed<Resource>> resources;
  /// The pods of the last ones of `resources`, until the fleet is another one; null: a new pod.
  std::vector<const Pod*> pods;
  std::map<Name, int> pools;    ///< how many of its acts may go on at once
  std::optional<Time> ask;      ///< when it is to be asked again at the latest
  bool waits_for_room = false;  ///< no node had room for one of its pods
  bool is_expired = false;      ///< a job whose time to live is over: its object may be deleted
};

/// Of an owner whose object is gone: an empty set, which removes what it had.
Wanted want(const Fleet& fleet, const Name& owner, Time now);

}  // namespace fettle::workloads
