#pragma once
/// The update of one pod whose turn has come: in place, or anew.

#include "workloads/pods/in_place.h"

namespace fettle::workloads {

enum class Turn {
  updates,   ///< it changes in place from now on
  prepares,  ///< a hook holds it since now
  held,      ///< a hook holds it still
  recreate,  ///< it has to be made anew
  refused,   ///< it cannot change in place, and may not be made anew
};

/// Begins the update, and says so.
Turn take_turn(Rollout& rollout, InPlace& in_place, size_t row, const Revision& target);

/// Tells that a pod is made anew for a revision.
void tell_recreated(Rollout& rollout, size_t row, const Revision& target);

/// Whether a pod would change in place while its node is away. Such pods count as unavailable
/// already, so all of them could be told to change, and would do so at the same moment when the
/// node is back, where they may have been serving all the time: they are passed over.
bool is_on_lost_node(const Rollout& rollout, InPlace& in_place, const Revision& target,
                     uint32_t row);

}  // namespace fettle::workloads
