#pragma once
/// Long arithmetic on limbs with GMP's `mpn` functions, in pieces of some milliseconds. Between two
/// pieces, the evaluation looks whether it is still wanted. If not, each of these functions returns
/// false.

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

/// Neither operand may be empty.
bool multiply_limbs(Work& work, LimbView x, LimbView y, Limbs& product);
/// `x` must have at least as many limbs as `y`, whose highest limb must not be zero.
bool divide_limbs(Work& work, LimbView x, LimbView y, Limbs& quotient, Limbs& remainder);
/// Appends the digits of a number whose highest limb is not zero.
bool write_digits(Work& work, LimbView x, int radix, std::string& text);
/// Reads digits. There must be some, and all must fit the radix.
bool read_digits(Work& work, std::string_view text, int radix, Limbs& limbs);

}  // namespace fettle::starlark
