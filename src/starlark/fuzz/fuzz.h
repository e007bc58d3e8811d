#pragma once
/// What the fuzzers share: a session with small limits, and checks that end the process.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "starlark/starlark.h"

namespace fettle::starlark {

inline void require(bool holds, const char* what) {
  if (holds)
    return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

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
