#pragma once
/// The pause before looking again at something that is still pending. To add an algorithm: an
/// enumerator in `core/resource.h`, a row in wait.cc, a case in wait_test.cc.

#include "base/prng.h"
#include "core/resource.h"

namespace fettle {

/// The pause after call number `call`, counted from 1; `before` is the pause before that call, 0 at
/// the first. The pause is never above `pace.longest`, and below `pace.shortest` only by jitter. It
/// depends on nothing but the arguments and `prng`, so that a seed replays a run exactly.
Duration pause(const Pace& pace, int call, Duration before, Prng& prng);

}  // namespace fettle
