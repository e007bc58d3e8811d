#pragma once
/// Reads the part of a Pod's `status` that rollouts look at.

#include "workloads/fleet.h"

namespace fettle::workloads {

/// Null: it was not found.
void read_status(const State& status, FleetPod& pod);

}  // namespace fettle::workloads
