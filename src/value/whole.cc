#include "value/whole.h"

#include <gmpxx.h>

#include <cmath>
#include <cstdlib>
#include <limits>

namespace fettle::whole {
namespace {

constexpr size_t most_bits = size_t{1} << 18;

mpz_class read(std::string_view digits) { return mpz_class(std::string(digits), 10); }

size_t bits_of(const mpz_class& number) { return mpz_sizeinbase(number.get_mpz_t(), 2); }

std::optional<mpz_class> power(const mpz_class& base, const mpz_class& exponent) {
  if (abs(base) <= 1)
    return base < 0 && exponent % 2 == 0 ? mpz_class(1) : exponent == 0 ? mpz_class(1) : base;
  if (exponent > most_bits || exponent.get_ui() * bits_of(base) > 2 * most_bits)
    return std::nullopt;
  mpz_class made;
  mpz_pow_ui(made.get_mpz_t(), base.get_mpz_t(), exponent.get_ui());
  return made;
}

std::optional<mpz_class> computed(Operation operation, const mpz_class& a, const mpz_class& b) {
  switch (operation) {
    case Operation::add:
      return a + b;
    case Operation::subtract:
      return a - b;
    case Operation::multiply:
      return a * b;
    case Operation::divide:
      return a / b;
    case Operation::modulo: {
      mpz_class rest;
      mpz_fdiv_r(rest.get_mpz_t(), a.get_mpz_t(), b.get_mpz_t());
      return rest;
    }
    case Operation::power:
      return power(a, b);
    case Operation::floor_divide: {
      mpz_class quotient;
      mpz_fdiv_q(quotient.get_mpz_t(), a.get_mpz_t(), b.get_mpz_t());
      return quotient;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> compute(Operation operation, std::string_view a, std::string_view b) {
  const std::optional<mpz_class> made = computed(operation, read(a), read(b));
  if (!made || bits_of(*made) > most_bits)
    return std::nullopt;
  return made->get_str();
}

/// The quotient is scaled to 64 bits or a few more, of which the last tells whether there is a
/// rest: then it is rounded once.
double quotient(std::string_view a, std::string_view b) {
  mpz_class dividend = read(a);
  mpz_class divisor = read(b);
  const bool is_negative = (dividend < 0) != (divisor < 0);
  dividend = abs(dividend);
  divisor = abs(divisor);
  if (dividend == 0)
    return 0;
  const long shift =
      66 + static_cast<long>(bits_of(divisor)) - static_cast<long>(bits_of(dividend));
  if (shift > 0)
    dividend <<= static_cast<unsigned long>(shift);
  else
    divisor <<= static_cast<unsigned long>(-shift);
  mpz_class scaled = dividend / divisor;
  bool has_rest = scaled * divisor != dividend;
  const long spare = static_cast<long>(bits_of(scaled)) - 63;
  mpz_class top = scaled >> static_cast<unsigned long>(spare);
  has_rest |= (top << static_cast<unsigned long>(spare)) != scaled;
  const double size = std::ldexp(static_cast<double>(top.get_ui() | (has_rest ? 1 : 0)),
                                 static_cast<int>(spare - shift));
  return is_negative ? -size : size;
}

double to_real(std::string_view digits) {
  return std::strtod(std::string(digits).c_str(), nullptr);
}

std::string of_real(double number) { return mpz_class(std::trunc(number)).get_str(); }

std::strong_ordering compare(std::string_view a, std::string_view b) {
  return cmp(read(a), read(b)) <=> 0;
}

std::partial_ordering compare(std::string_view a, double b) {
  if (std::isnan(b))
    return std::partial_ordering::unordered;
  return mpz_cmp_d(read(a).get_mpz_t(), b) <=> 0;
}

std::string of_base(std::string_view digits, int base) {
  return mpz_class(std::string(digits), base).get_str();
}

std::string in_base(std::string_view digits, int base) { return read(digits).get_str(base); }

}  // namespace fettle::whole
