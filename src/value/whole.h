#pragma once
/// Whole numbers of any size as their decimal digits, with a sign in front of negative ones: for
/// languages whose integers have no limit. Code that computes in 64 bits uses them only after an
/// overflow.

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace fettle::whole {

/// Longer texts are not read, as Python refuses them.
constexpr size_t most_digits = 4300;

enum class Operation { add, subtract, multiply, divide, floor_divide, modulo, power };

/// The quotient of `divide` is cut off, that of `floor_divide` is rounded down, and the modulo has
/// the sign of `b`; there `b` is not zero. An exponent is not negative. Nothing when the result has
/// more than 2^18 bits.
std::optional<std::string> compute(Operation operation, std::string_view a, std::string_view b);
/// The nearest real to `a / b`, where `b` is not zero; infinite when none is near.
double quotient(std::string_view a, std::string_view b);
/// The nearest real; infinite when none is near.
double to_real(std::string_view digits);
/// The whole part of a finite real.
std::string of_real(double number);
std::strong_ordering compare(std::string_view a, std::string_view b);
std::partial_ordering compare(std::string_view a, double b);
/// Reads digits of base 2 to 36.
std::string of_base(std::string_view digits, int base);
/// Writes the number in base 2 to 36, with small letters.
std::string in_base(std::string_view digits, int base);

}  // namespace fettle::whole
