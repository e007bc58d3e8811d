#pragma once
/// Hashes of texts, which need nothing but the text. Hashes of other values are in ops.h.

#include <atomic>

#include "starlark/values/objects.h"

namespace fettle::starlark {

/// 0 until it is first needed.
inline std::atomic<uint64_t> known_hash_seed{0};
uint64_t draw_hash_seed();
/// Each process has another number, so that nobody can write keys that collide. Nothing that a
/// program sees depends on it.
inline uint64_t hash_seed() {
  const uint64_t known = known_hash_seed.load(std::memory_order_relaxed);
  return known != 0 ? known : draw_hash_seed();
}

uint64_t hash_text(std::string_view text);
/// The same, remembered by the text.
uint64_t hash_of_long_text(String* text);

inline uint64_t hash_of_text(const Value& v) {
  if (!v.is_short_text())
    return hash_of_long_text(as<String>(v));
  uint64_t x = (v.word() ^ hash_seed()) * 0x9E3779B97F4A7C15u;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  return x ^ x >> 29;
}

inline uint64_t hash_of_small(int64_t n) {
  const auto mix = [](uint64_t x) { return (x ^ x >> 32) * 0xd6e8feb86659fd93u; };
  const uint64_t mixed = mix(mix(u64(n) + hash_seed()));
  return mixed ^ mixed >> 32;
}

}  // namespace fettle::starlark
