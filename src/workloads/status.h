#pragma once
/// What a workload's `status` says: computed whenever somebody asks, never stored.

#include "workloads/fleet.h"

namespace fettle::workloads {

/// As OpenKruise shows it; beside that `imagePulls`, how far each image of the rollout is. Null
/// when there is no such workload.
///
/// `phase` is for scripts: `complete`, `partitioned` and `paused` are as asked for, `failed` says
/// why in `reason`, `progressing` is none of these.
Value status_of(const Fleet& fleet, const Name& owner, Time now);

/// NodeImage: what is on a node and what is being pulled there, at most `most` of each.
Value node_image_of(const Fleet& fleet, const Name& node, size_t most = 256);

}  // namespace fettle::workloads
