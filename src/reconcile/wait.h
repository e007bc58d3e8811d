#pragma once
/// How long to pause before looking again at something that is still pending.
/// To add an algorithm: an enumerator in `core/resource.h`, a row in wait.cc, a case in
/// wait_test.cc.

#include "base/prng.h"
#include "core/resource.h"

namespace fettle {

Result<Wait> parse_wait(std::string_view text);

/// The pause before attempt number `attempt`, counted from 1. Never below `pace.shortest` nor above
/// `pace.longest`. Draws from `prng` only, so that a seed replays a run exactly.
Duration pause(const Pace& pace, int attempt, Prng& prng);

}  // namespace fettle
