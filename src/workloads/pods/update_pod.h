#pragma once
/// Updates one pod whose turn has come: in place, or by recreating it.

#include "workloads/pods/in_place.h"

namespace fettle::workloads {

enum class Turn {
  updates,   ///< it changes in place from now on
  prepares,  ///< from now on a hook holds it
  held,      ///< a hook still holds it
  recreate,  ///< it has to be recreated
  refused,   ///< it cannot change in place, and may not be recreated
};

/// Begins the update, and reports it.
Turn take_turn(Rollout& rollout, InPlace& in_place, size_t row, const Revision& target);

/// Reports that a pod is recreated for a revision.
void tell_recreated(Rollout& rollout, size_t row, const Revision& target);

/// Whether a pod would change in place while its node is away. Such pods count as unavailable
/// already, so all of them could be told to change. They would then all do so at the moment when
/// the node is back, although they may have served all the time. So they are passed over.
bool is_on_lost_node(const Rollout& rollout, InPlace& in_place, const Revision& target,
                     uint32_t row);

}  // namespace fettle::workloads
