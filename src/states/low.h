#pragma once
/// From high data to chunks: one for each call, in the order in which Idem has them.

#include "states/compiled.h"
#include "states/high.h"

namespace fettle::states {

struct Low {
  std::vector<Chunk> chunks;
  std::vector<const Body*> bodies;  ///< of each chunk
};

/// Arguments still hold references as texts. `high` outlives the answer. `own_waits`: the waits of
/// users.
Low make_low(const High& high, const Waits& own_waits, Report& report);

}  // namespace fettle::states
