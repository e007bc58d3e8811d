#pragma once
/// Whether a rollout makes progress, as the condition `Progressing`.

#include "workloads/rollout.h"

namespace fettle::workloads {

/// How many pods have come how far.
struct Counts {
  int64_t all = 0, ready = 0, available = 0;
  int64_t updated = 0, updated_ready = 0, updated_available = 0;
  int64_t current = 0;  ///< of the current revision, which may be the update revision
};
Counts counts_of(const Rollout& rollout);

/// Remembers when the rollout last made progress, if a CloneSet has a deadline.
void follow_progress(Rollout& rollout);

/// `CloneSetAvailable`, `CloneSetPaused`, `ProgressPartitionAvailable`, `ProgressDeadlineExceeded`
/// or `CloneSetUpdated`.
std::string_view progress_reason(const Rollout& rollout);

}  // namespace fettle::workloads
