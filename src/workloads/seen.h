#pragma once
/// What a Pod's `status` says, as far as rollouts care.

#include "workloads/fleet.h"

namespace fettle::workloads {

/// Null: it was not found.
void read_status(const Value& status, Pod& pod);

}  // namespace fettle::workloads
