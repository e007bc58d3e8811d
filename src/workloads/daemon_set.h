#pragma once
/// One pod on each node that it is for.

#include "workloads/want.h"

namespace fettle::workloads {

Wanted want_daemon_set(const Fleet& fleet, const Workload& workload, Time now);

}  // namespace fettle::workloads
