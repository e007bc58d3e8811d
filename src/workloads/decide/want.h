#pragma once
/// Decides what a workload wants now: pods, revisions, jobs, pulls, claims and notices, in the
/// order of its rollout. It is pure: all that it remembers are attributes of what it emitted.
///
///   Wanted wanted = want(fleet, owner, now);
///   fleet.accept(wanted);   // and what it names is brought about
///
/// It has to be asked again when `Fleet::take_changed` names the owner, and at `ask` at the latest.
/// Asked twice about the same fleet, it gives the same answer. Asked again after `accept`, it wants
/// no further change.

#include "workloads/fleet.h"
#include "workloads/wanted.h"

namespace fettle::workloads {

/// For an owner whose object is gone, the answer is an empty set, which removes what it had.
Wanted want(const Fleet& fleet, const Name& owner, Time now);

}  // namespace fettle::workloads
