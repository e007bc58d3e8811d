#pragma once
/// Memory for RapidJSON, whose own allocator writes through null when memory ends.

#include <cstdlib>

#include "base/out_of_memory.h"

namespace fettle {

struct JsonMemory {
  static constexpr bool kNeedFree = true;
  void* Malloc(size_t size) { return size == 0 ? nullptr : checked(std::malloc(size)); }
  void* Realloc(void* old, size_t /*before*/, size_t size) {
    if (size != 0)
      return checked(std::realloc(old, size));
    std::free(old);
    return nullptr;
  }
  static void Free(void* memory) noexcept { std::free(memory); }

 private:
  static void* checked(void* memory) {
    if (memory == nullptr)
      out_of_memory();
    return memory;
  }
};

}  // namespace fettle
