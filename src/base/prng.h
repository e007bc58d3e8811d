#pragma once
/// A pseudo-random generator that is passed in: the same seed gives the same run (xoshiro256**).

#include <array>
#include <bit>
#include <cstdint>

namespace fettle {

class Prng {
 public:
  explicit Prng(uint64_t seed) {
    for (uint64_t& word : state_) {  // splitmix64, as the generator's authors advise
      seed += 0x9E3779B97F4A7C15u;
      uint64_t z = seed;
      z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
      z = (z ^ z >> 27) * 0x94D049BB133111EBu;
      word = z ^ z >> 31;
    }
  }
  uint64_t next() {
    const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }
  /// Uniform in [0, limit); 0 when `limit` is 0.
  uint64_t below(uint64_t limit) { return limit == 0 ? 0 : next() % limit; }
  /// True with a probability of `percent` in 100.
  bool chance(unsigned percent) { return below(100) < percent; }

 private:
  std::array<uint64_t, 4> state_{};
};

}  // namespace fettle
