#include "model/values/numbers.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "value/whole.h"

namespace fettle::model {
namespace {

constexpr double exact_reals = 9007199254740992;  ///< 2^53: below, reals and integers agree

bool is_exact(int64_t number) {
  return number >= -static_cast<int64_t>(exact_reals) &&
         number <= static_cast<int64_t>(exact_reals);
}

/// The result in 64 bits. None: it, or one of the numbers, does not fit.
std::optional<int64_t> compute_small(Operator op, const Datum& a, const Datum& b) {
  if (a.tag == Tag::large || b.tag == Tag::large)
    return std::nullopt;
  const int64_t i = as_integer(a);
  const int64_t j = as_integer(b);
  int64_t made = 0;
  switch (op) {
    case Operator::add:
      return __builtin_add_overflow(i, j, &made) ? std::nullopt : std::optional(made);
    case Operator::subtract:
      return __builtin_sub_overflow(i, j, &made) ? std::nullopt : std::optional(made);
    case Operator::multiply:
      return __builtin_mul_overflow(i, j, &made) ? std::nullopt : std::optional(made);
    case Operator::modulo:
      made = j == -1 ? 0 : i % j;
      return made != 0 && (made < 0) != (j < 0) ? made + j : made;
    default:
      return std::nullopt;
  }
}

bool compute_whole(Arena& arena, Operator op, const Datum& a, const Datum& b, Datum& value,
                   std::string& error) {
  if (const std::optional<int64_t> small = compute_small(op, a, b)) {
    value = Datum::of(*small);
    return true;
  }
  const whole::Operation operation = op == Operator::add        ? whole::Operation::add
                                     : op == Operator::subtract ? whole::Operation::subtract
                                     : op == Operator::multiply ? whole::Operation::multiply
                                     : op == Operator::modulo   ? whole::Operation::modulo
                                                                : whole::Operation::power;
  const std::optional<std::string> made = whole::compute(operation, digits_of(a), digits_of(b));
  if (made)
    value = whole_of(arena, *made);
  else
    error = cat("the result of `", spelling(op), "` is too large");
  return made.has_value();
}

bool divide(const Datum& a, const Datum& b, Datum& value, std::string& error) {
  const bool is_plain = (a.tag != Tag::large && b.tag != Tag::large && is_exact(as_integer(a)) &&
                         is_exact(as_integer(b)));
  const double made =
      is_plain ? as_float(a) / as_float(b) : whole::quotient(digits_of(a), digits_of(b));
  if (std::isinf(made))
    error = "integer division result too large for a float";
  value = Datum::of(made);
  return error.empty();
}

bool compute_real(Operator op, double x, double y, Datum& value, std::string& error) {
  switch (op) {
    case Operator::add:
      value = Datum::of(x + y);
      return true;
    case Operator::subtract:
      value = Datum::of(x - y);
      return true;
    case Operator::multiply:
      value = Datum::of(x * y);
      return true;
    case Operator::divide:
      value = Datum::of(x / y);
      return true;
    case Operator::modulo: {
      const double rest = std::fmod(x, y);
      value = Datum::of(rest == 0               ? std::copysign(0.0, y)
                        : (rest < 0) != (y < 0) ? rest + y
                                                : rest);
      return true;
    }
    default:
      break;
  }
  const double made = std::pow(x, y);
  if (std::isinf(made) && std::isfinite(x) && std::isfinite(y))
    error = "(34, 'Numerical result out of range')";
  if (std::isnan(made) && !std::isnan(x) && !std::isnan(y))
    error = "a negative number cannot be raised to a fractional power";
  value = Datum::of(made);
  return error.empty();
}

}  // namespace

Datum whole_of(Arena& arena, std::string_view digits) {
  int64_t small = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), small).ec == std::errc())
    return Datum::of(small);
  const bool is_negative = digits.starts_with('-');
  digits.remove_prefix(is_negative ? 1 : 0);
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.empty())
    return Datum::of(int64_t{0});
  const std::string text = cat(is_negative ? "-" : "", digits);
  if (const auto read = std::from_chars(text.data(), text.data() + text.size(), small);
      read.ec == std::errc())
    return Datum::of(small);
  return Datum::large(arena.make<Text>(arena.copy(std::string_view(text))));
}

std::string digits_of(const Datum& whole) {
  return whole.tag == Tag::large ? std::string(whole.view()) : std::to_string(as_integer(whole));
}

int64_t as_integer(const Datum& whole) {
  if (whole.tag == Tag::boolean)
    return static_cast<int64_t>(whole.boolean);
  if (whole.tag != Tag::large)
    return whole.integer;
  return whole.view().starts_with('-') ? std::numeric_limits<int64_t>::min()
                                       : std::numeric_limits<int64_t>::max();
}

double as_float(const Datum& number) {
  if (number.tag == Tag::floating)
    return number.floating;
  return number.tag == Tag::large ? whole::to_real(number.view())
                                  : static_cast<double>(as_integer(number));
}

std::partial_ordering order_of(const Datum& a, const Datum& b) {
  if (a.tag == Tag::floating && b.tag == Tag::floating)
    return a.floating <=> b.floating;
  if (b.tag == Tag::floating) {
    if (a.tag != Tag::large && is_exact(as_integer(a)))
      return as_float(a) <=> b.floating;
    return whole::compare(digits_of(a), b.floating);
  }
  if (a.tag == Tag::floating)
    return 0 <=> order_of(b, a);
  if (a.tag == Tag::large || b.tag == Tag::large)
    return whole::compare(digits_of(a), digits_of(b));
  return as_integer(a) <=> as_integer(b);
}

Datum sum(Arena& arena, const Datum& a, const Datum& b) {
  Datum made;
  std::string error;
  compute_whole(arena, Operator::add, a, b, made, error);
  return made;
}

bool compute(Arena& arena, Operator op, const Datum& a, const Datum& b, Datum& value,
             std::string& error) {
  const bool are_whole = a.is_whole() && b.is_whole();
  const bool is_zero = b.tag == Tag::floating ? b.floating == 0 : as_integer(b) == 0;
  const bool is_root = op == Operator::power && order_of(b, Datum::of(int64_t{0})) < 0;
  if (op == Operator::divide && is_zero)
    error = are_whole ? "division by zero" : "float division by zero";
  else if (op == Operator::modulo && is_zero)
    error = are_whole ? "integer modulo by zero" : "float modulo by zero";
  else if (is_root && order_of(a, Datum::of(int64_t{0})) == 0)
    error = "0.0 cannot be raised to a negative power";
  if (!error.empty())
    return false;
  if (are_whole && op == Operator::divide)
    return divide(a, b, value, error);
  if (are_whole && !is_root)
    return compute_whole(arena, op, a, b, value, error);
  const double x = as_float(a);
  const double y = as_float(b);
  if ((a.tag == Tag::large && std::isinf(x)) || (b.tag == Tag::large && std::isinf(y))) {
    error = "int too large to convert to float";
    return false;
  }
  return compute_real(op, x, y, value, error);
}

}  // namespace fettle::model
