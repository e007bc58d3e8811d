#pragma once
/// Limbs as GMP's `mpn` functions take them.

#include <gmp.h>

#include <cstddef>
#include <cstdint>

namespace fettle::starlark {

static_assert(sizeof(mp_limb_t) == sizeof(uint64_t));

inline mp_limb_t* mp(uint64_t* limbs) { return reinterpret_cast<mp_limb_t*>(limbs); }
inline const mp_limb_t* mp(const uint64_t* limbs) {
  return reinterpret_cast<const mp_limb_t*>(limbs);
}
inline mp_size_t mp_size(size_t n) { return static_cast<mp_size_t>(n); }

}  // namespace fettle::starlark
