#pragma once
/// What a workload wants now: pods, revisions, jobs, pulls, claims and notices, in the order of its
/// rollout. Pure: all that it remembers are attributes of what it emitted.
///
///   Wanted wanted = want(fleet, owner, now);
///   fleet.accept(wanted);   // and what it names is brought about
///
/// It is asked again when `Fleet::take_changed` names the owner, and at `ask` at the latest. Asked
/// twice about the same fleet it answers the same; asked after `accept` it changes nothing more.

#include "workloads/fleet.h"
#include "workloads/wanted.h"

namespace fettle::workloads {

/// Of an owner whose object is gone: an empty set, which removes what it had.
Wanted want(const Fleet& fleet, const Name& owner, Time now);

}  // namespace fettle::workloads
