#pragma once
/// Places as small numbers, for values that are remembered by the million.

#include <array>
#include <bit>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "model/syntax/ast.h"

namespace fettle::model {

class PlaceTable {
 public:
  /// 0 is no place. When the numbers run out, further places are reported as the last one.
  uint32_t number(Place at) {
    const auto word = std::bit_cast<uint64_t>(at);
    Known& recent = recent_[word * 0x9e3779b97f4a7c15 >> (64 - recent_bits)];
    if (recent.word == word) [[likely]]
      return recent.number;
    const uint32_t next = static_cast<uint32_t>(places_.size());
    const auto [known, is_new] = numbers_.try_emplace(word, std::min(next, Datum::last_place));
    if (is_new && next <= Datum::last_place)
      places_.push_back(at);
    recent = {word, known->second};
    return recent.number;
  }
  Place at(uint32_t number) const { return places_[number]; }

 private:
  static constexpr int recent_bits = 6;
  struct Known {
    uint64_t word = 0;
    uint32_t number = 0;
  };
  std::vector<Place> places_{Place()};
  boost::unordered_flat_map<uint64_t, uint32_t> numbers_{{0, 0}};
  std::array<Known, 1 << recent_bits> recent_{};  ///< few statements run at a time
};

}  // namespace fettle::model
