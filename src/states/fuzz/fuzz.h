#pragma once
/// A check that ends the process.

#include <cstdio>
#include <cstdlib>

namespace fettle::states {

inline void require(bool holds, const char* what) {
  if (holds)
    return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

}  // namespace fettle::states
