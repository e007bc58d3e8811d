#pragma once
/// The most that `read_file`, and others who read whole inputs, take into memory.

#include <cstddef>

namespace fettle {

inline constexpr size_t largest_file = size_t{256} << 20;  ///< bytes

}  // namespace fettle
