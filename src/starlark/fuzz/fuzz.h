#pragma once
/// What the fuzzers share: a session with small limits, the dialect that allows everything, and
/// texts that repeat a part.

#include "base/fuzz/repeated_text.h"
#include "base/invariant.h"
#include "starlark/starlark.h"

namespace fettle::starlark {

inline Limits small_limits() {
  Limits limits;
  limits.steps = 20'000;
  limits.memory = 32 << 20;
  limits.depth = 200;
  return limits;
}

inline Dialect every_switch(Profile profile) {
  Dialect dialect = Dialect::of(profile);
  dialect.set = dialect.while_loops = dialect.top_level_control = true;
  dialect.global_reassign = dialect.recursion = true;
  return dialect;
}

}  // namespace fettle::starlark
