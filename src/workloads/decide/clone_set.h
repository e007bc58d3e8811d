#pragma once
/// Pods that are all alike: how many there are, and which revision each has.

#include "workloads/decide/want.h"

namespace fettle::workloads {

class Rollout;

Wanted want_clone_set(const Fleet& fleet, const Workload& workload, Time now);

/// The numbers from which a CloneSet's rules compute.
struct Numbers numbers_of(const Rollout& rollout);

}  // namespace fettle::workloads
