#pragma once
/// Turns high data into chunks: one for each call, in Idem's order.

#include "states/compiled_states.h"
#include "states/high.h"

namespace fettle::states {

struct Low {
  std::vector<Chunk> chunks;
  std::vector<const Body*> bodies;  ///< of each chunk
};

/// Arguments still hold references as texts. `high` must outlive the result. `own_waits`: the waits
/// of users.
Low make_low(const High& high, const Waits& own_waits, Report& report);

}  // namespace fettle::states
