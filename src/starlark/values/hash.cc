#include "starlark/values/hash.h"

#define XXH_INLINE_ALL
#include <sys/random.h>
#include <xxhash.h>

namespace fettle::starlark {

uint64_t draw_hash_seed() {
  uint64_t random = 0;
  if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random)
    random = std::bit_cast<uint64_t>(&random);  // where the stack lies is not known either
  random |= 1;
  uint64_t known = 0;
  return known_hash_seed.compare_exchange_strong(known, random) ? random : known;
}

uint64_t hash_text(std::string_view text) {
  const uint64_t hash = XXH3_64bits_withSeed(text.data(), text.size(), hash_seed());
  return hash == 0 ? 1 : hash;
}

uint64_t hash_of_long_text(String* text) {
  // Everybody computes the same value: it may be written twice, but it must be one write.
  const std::atomic_ref<uint64_t> hash(text->hash);
  uint64_t known = hash.load(std::memory_order_relaxed);
  if (known == 0) {
    known = hash_text(text->view());
    hash.store(known, std::memory_order_relaxed);
  }
  return known;
}

}  // namespace fettle::starlark
