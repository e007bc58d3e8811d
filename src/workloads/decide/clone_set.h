#pragma once
/// Pods that are all alike: how many there are, and which revision they have.

#include "workloads/decide/want.h"

namespace fettle::workloads {

class Rollout;

Wanted want_clone_set(const Fleet& fleet, const Workload& workload, Time now);

/// What a CloneSet's numbers are made of.
struct Numbers numbers_of(const Rollout& rollout);

}  // namespace fettle::workloads
