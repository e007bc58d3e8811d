#pragma once
/// For fuzzers: what must hold of any input.

#include <cstdio>
#include <cstdlib>

namespace fettle {

inline void require(bool holds, const char* what) {
  if (holds)
    return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

}  // namespace fettle
