#include "base/invariant.h"

#include <cstdio>
#include <cstdlib>

namespace fettle {

void broken_invariant(const char* file, int line, const char* text) {
  std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, text);
  std::abort();
}

}  // namespace fettle
