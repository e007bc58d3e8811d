#pragma once
/// Long arithmetic on limbs by GMP's `mpn` functions, in pieces of some milliseconds: between two
/// of them the evaluation looks whether it is still wanted. Each function is false when it is not.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fettle::starlark {

struct Work;
/// A magnitude, least limb first.
using Limbs = std::vector<uint64_t>;
using LimbView = std::span<const uint64_t>;

/// Larger results are refused.
constexpr uint64_t most_limbs = (uint64_t{1} << 22) / 64;

/// Of two that are not empty.
bool multiply_limbs(Work& work, LimbView x, LimbView y, Limbs& product);
/// Of an `x` that has at least the limbs of `y`, whose highest is not zero.
bool divide_limbs(Work& work, LimbView x, LimbView y, Limbs& quotient, Limbs& remainder);
/// Appends the digits of a number whose highest limb is not zero.
bool write_digits(Work& work, LimbView x, int radix, std::string& text);
/// Reads digits, of which there are some and all fit the radix.
bool read_digits(Work& work, std::string_view text, int radix, Limbs& limbs);

}  // namespace fettle::starlark
