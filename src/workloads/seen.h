#pragma once
/// Reads the part of a Pod's `status` that rollouts look at.

#include "workloads/fleet.h"

namespace fettle::workloads {

/// Null: it was not found. Returns whether it differs from the last look in more than the number of
/// restarts.
bool read_status(const State& status, FleetPod& pod);

}  // namespace fettle::workloads
