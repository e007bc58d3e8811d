/// Integers of any size: small ones in a word, large ones as limbs for GMP's `mpn` functions, which
/// work on memory that the caller provides. Sizes are checked before every operation.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "starlark/eval/ops.h"
#include "starlark/eval/wide.h"
#include "starlark/heap/gmp_limbs.h"
#include "starlark/heap/limbs.h"

namespace fettle::starlark {
namespace {

/// Any integer as sign and limbs. The limbs of a large one are not copied.
struct Magnitude {
  uint64_t one = 0;
  const uint64_t* limbs;
  size_t size;
  bool negative;

  explicit Magnitude(Value v) {
    if (v.is_small()) {
      const int64_t n = v.small();
      negative = n < 0;
      one = negative ? u64(0) - u64(n) : u64(n);
      limbs = &one;
      size = one != 0;
    } else {
      const auto* big = as<BigInt>(v);
      negative = big->negative();
      limbs = big->limbs();
      size = big->count;
    }
  }
  LimbView view() const { return {limbs, size}; }
  Magnitude(const Magnitude&) = delete;
  Magnitude& operator=(const Magnitude&) = delete;
};

Value too_large(Vm& vm) { return vm.fail("integer too large"); }

int compare_magnitudes(const Magnitude& x, const Magnitude& y) {
  if (x.size != y.size)
    return x.size < y.size ? -1 : 1;
  return x.size == 0 ? 0 : mpn_cmp(mp(x.limbs), mp(y.limbs), mp_size(x.size));
}

/// x + y, or x - y when `subtract`.
Value add(Vm& vm, const Magnitude& x, const Magnitude& y, bool subtract) {
  const bool y_negative = y.negative != subtract;
  if (x.negative == y_negative) {
    const Magnitude& longer = x.size >= y.size ? x : y;
    const Magnitude& shorter = x.size >= y.size ? y : x;
    if (longer.size >= most_limbs)
      return too_large(vm);
    Limbs sum(longer.size + 1);
    if (shorter.size == 0)
      std::copy_n(longer.limbs, longer.size, sum.begin());
    else
      sum[longer.size] = mpn_add(mp(sum.data()), mp(longer.limbs), mp_size(longer.size),
                                 mp(shorter.limbs), mp_size(shorter.size));
    return make_int(vm.heap(), x.negative, sum);
  }
  const int order_ = compare_magnitudes(x, y);
  if (order_ == 0)
    return Value::small(0);
  const Magnitude& larger = order_ > 0 ? x : y;
  const Magnitude& smaller = order_ > 0 ? y : x;
  Limbs difference(larger.size);
  if (smaller.size == 0)
    std::copy_n(larger.limbs, larger.size, difference.begin());
  else
    mpn_sub(mp(difference.data()), mp(larger.limbs), mp_size(larger.size), mp(smaller.limbs),
            mp_size(smaller.size));
  return make_int(vm.heap(), order_ > 0 ? x.negative : y_negative, difference);
}

Value multiply(Vm& vm, const Magnitude& x, const Magnitude& y) {
  if (x.size == 0 || y.size == 0)
    return Value::small(0);
  if (x.size + y.size > most_limbs)
    return too_large(vm);
  if (!vm.charge(x.size * y.size / 32))
    return Value::error();
  Limbs product;
  if (!multiply_limbs(vm, x.view(), y.view(), product))
    return Value::error();
  return make_int(vm.heap(), x.negative != y.negative, product);
}

/// Floored quotient or remainder.
Value divide(Vm& vm, const Magnitude& x, const Magnitude& y, bool want_quotient) {
  if (!vm.charge(x.size * y.size / 32))
    return Value::error();
  Limbs quotient;
  Limbs remainder(y.size);
  if (x.size < y.size) {
    std::copy_n(x.limbs, x.size, remainder.begin());
  } else if (!divide_limbs(vm, x.view(), y.view(), quotient, remainder)) {
    return Value::error();
  }
  const bool exact =
      std::all_of(remainder.begin(), remainder.end(), [](uint64_t limb) { return limb == 0; });
  const bool round = !exact && x.negative != y.negative;
  if (want_quotient) {
    if (round) {
      quotient.push_back(0);
      for (uint64_t& limb : quotient) {
        if (++limb != 0)
          break;
      }
    }
    return make_int(vm.heap(), x.negative != y.negative, quotient);
  }
  if (round) {
    Limbs rounded(y.size);
    mpn_sub_n(mp(rounded.data()), mp(y.limbs), mp(remainder.data()), mp_size(y.size));
    remainder = std::move(rounded);
  }
  return make_int(vm.heap(), exact ? false : y.negative, remainder);
}

/// Two's complement in `size` limbs.
Limbs complement(const Magnitude& x, size_t size) {
  Limbs limbs(size, 0);
  std::copy_n(x.limbs, x.size, limbs.begin());
  if (x.negative) {
    bool carry = true;
    for (uint64_t& limb : limbs) {
      limb = ~limb + carry;
      carry = carry && limb == 0;
    }
  }
  return limbs;
}

Value from_complement(Heap& heap, Limbs limbs) {
  const bool negative = !limbs.empty() && limbs.back() >> 63 != 0;
  if (negative) {
    bool carry = true;
    for (uint64_t& limb : limbs) {
      limb = ~limb + carry;
      carry = carry && limb == 0;
    }
  }
  return make_int(heap, negative, limbs);
}

Value bitwise(Vm& vm, Op op, const Magnitude& x, const Magnitude& y) {
  const size_t size = std::max(x.size, y.size) + 1;
  Limbs a = complement(x, size);
  const Limbs b = complement(y, size);
  for (size_t i = 0; i < size; ++i)
    a[i] = op == Op::bit_and ? a[i] & b[i] : op == Op::bit_or ? a[i] | b[i] : a[i] ^ b[i];
  return from_complement(vm.heap(), std::move(a));
}

Value shift_left(Vm& vm, const Magnitude& x, uint64_t count) {
  if (x.size == 0)
    return Value::small(0);
  if (count / 64 + x.size + 1 > most_limbs)
    return too_large(vm);
  if (!vm.charge((count / 64 + x.size) / 16))
    return Value::error();
  Limbs shifted(x.size + count / 64 + 1, 0);
  std::copy_n(x.limbs, x.size, shifted.begin() + i64(count / 64));
  if (count % 64 != 0)
    mpn_lshift(mp(shifted.data()), mp(shifted.data()), mp_size(shifted.size()),
               static_cast<unsigned>(count % 64));
  return make_int(vm.heap(), x.negative, shifted);
}

/// Rounds towards minus infinity.
Value shift_right(Vm& vm, const Magnitude& x, uint64_t count) {
  if (count / 64 >= x.size)
    return Value::small(x.negative ? -1 : 0);
  if (!vm.charge(x.size / 16))
    return Value::error();
  const size_t dropped = count / 64;
  Limbs shifted(x.limbs + dropped, x.limbs + x.size);
  bool lost = std::any_of(x.limbs, x.limbs + dropped, [](uint64_t limb) { return limb != 0; });
  if (count % 64 != 0)
    lost |= mpn_rshift(mp(shifted.data()), mp(shifted.data()), mp_size(shifted.size()),
                       static_cast<unsigned>(count % 64)) != 0;
  if (x.negative && lost) {
    shifted.push_back(0);
    for (uint64_t& limb : shifted) {
      if (++limb != 0)
        break;
    }
  }
  return make_int(vm.heap(), x.negative, shifted);
}

Value shift(Vm& vm, Op op, Value x, Value y) {
  int64_t count = 0;
  const bool known = to_int64(y, count);
  const bool countable =
      vm.is_spec() ? known || integer_sign(y) > 0 : known && count == static_cast<int32_t>(count);
  if (!countable)
    return vm.fail_with(integer_text(vm, y), " out of range");
  if (known && count < 0)
    return vm.fail_with("negative shift count: ", integer_text(vm, y));
  const Magnitude magnitude(x);
  if (op == Op::shift_right)
    return shift_right(vm, magnitude, known ? u64(count) : ~u64(0));
  if (!known || (!vm.is_spec() && count >= 512))
    return vm.fail_with("shift count too large: ", integer_text(vm, y));
  return shift_left(vm, magnitude, u64(count));
}

}  // namespace

bool to_int64(Value v, int64_t& n) {
  if (v.is_small()) {
    n = v.small();
    return true;
  }
  if (!is_kind(v, Kind::big_int) || v.object()->count != 1)
    return false;
  const auto* big = as<BigInt>(v);
  const uint64_t magnitude = big->limbs()[0];
  if (magnitude > (u64(1) << 63) - (big->negative() ? 0 : 1))
    return false;
  n = big->negative() ? i64(u64(0) - magnitude) : i64(magnitude);
  return true;
}

int integer_sign(Value v) {
  if (v.is_small())
    return v.small() < 0 ? -1 : v.small() > 0;
  return as<BigInt>(v)->negative() ? -1 : 1;
}

std::string integer_text(Vm& vm, Value v, int radix) {
  char small[72];
  if (v.is_small()) {
    const auto [end, ignored] = std::to_chars(small, small + sizeof small, v.small(), radix);
    return {small, end};
  }
  const Magnitude x(v);
  std::string text = x.negative ? "-" : "";
  write_digits(vm, x.view(), radix, text);
  return text;
}

double integer_to_double(Value v) {
  if (v.is_small())
    return double(v.small());
  const Magnitude x(v);
  if (x.size > 16)  // at least 2 ** 1024
    return x.negative ? -std::numeric_limits<double>::infinity()
                      : std::numeric_limits<double>::infinity();
  // The top 64 bits, with a bit for whatever is below, rounded once by the conversion.
  const auto zeros = size_t(std::countl_zero(x.limbs[x.size - 1]));
  uint64_t top = x.limbs[x.size - 1] << zeros;
  bool rest = false;
  if (x.size > 1) {
    if (zeros > 0)
      top |= x.limbs[x.size - 2] >> (64 - zeros);
    rest = (x.limbs[x.size - 2] << zeros) != 0;
    for (size_t i = 0; i + 2 < x.size; ++i)
      rest |= x.limbs[i] != 0;
  }
  // Keep 62 bits so that the bit for the rest does not touch what is rounded to.
  const uint64_t sticky = (top >> 2) | ((top & 3) != 0 || rest ? 1 : 0);
  const int exponent = int(x.size * 64 - zeros) - 62;
  const double magnitude = std::ldexp(double(sticky), exponent);
  return x.negative ? -magnitude : magnitude;
}

bool float_to_integer(Heap& heap, double x, Value& result) {
  if (!std::isfinite(x))
    return false;
  x = std::trunc(x);
  if (std::fabs(x) < 9e18) {
    result = make_int(heap, i64(x));
    return true;
  }
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(x), &exponent);
  const auto mantissa = uint64_t(std::ldexp(fraction, 53));
  const auto count = size_t(exponent - 53);
  Limbs limbs(count / 64 + 2, 0);
  limbs[count / 64] = mantissa << (count % 64);
  if (count % 64 != 0)
    limbs[count / 64 + 1] = mantissa >> (64 - count % 64);
  result = make_int(heap, x < 0, limbs);
  return true;
}

Value integer_negate(Heap& heap, Value x) {
  const Magnitude magnitude(x);
  return make_int(heap, !magnitude.negative, {magnitude.limbs, magnitude.size});
}

Value integer_invert(Heap& heap, Value x) {
  if (x.is_small())
    return Value::small(~x.small());
  Limbs limbs = complement(Magnitude(x), as<BigInt>(x)->count + size_t{1});
  for (uint64_t& limb : limbs)
    limb = ~limb;
  return from_complement(heap, std::move(limbs));
}

Value integer_binary(Vm& vm, Op op, Value x, Value y) {
  if (op == Op::shift_left || op == Op::shift_right)
    return shift(vm, op, x, y);
  if ((op == Op::floor_divide || op == Op::modulo) && integer_sign(y) == 0)
    return vm.fail(op == Op::modulo ? "integer modulo by zero" : "floored division by zero");
  if (const Value made = wide_operation(vm.heap(), op, x, y); !made.is_unset()) [[likely]]
    return made;
  const Magnitude a(x), b(y);
  if (!vm.charge((a.size + b.size) / 16))
    return Value::error();
  switch (op) {
    case Op::add:
      return add(vm, a, b, false);
    case Op::subtract:
      return add(vm, a, b, true);
    case Op::multiply:
      return multiply(vm, a, b);
    case Op::floor_divide:
      return divide(vm, a, b, true);
    case Op::modulo:
      return divide(vm, a, b, false);
    default:
      return bitwise(vm, op, a, b);
  }
}

int compare_integers(Value x, Value y) {
  if (x.is_small() && y.is_small())
    return x.small() < y.small() ? -1 : x.small() > y.small();
  const Magnitude a(x), b(y);
  if (a.negative != b.negative)
    return a.negative ? -1 : 1;
  const int order_ = compare_magnitudes(a, b);
  return a.negative ? -order_ : order_;
}

/// Exact; NaN is above everything.
int compare_integer_float(Value x, double y) {
  if (std::isnan(y) || y == HUGE_VAL)
    return -1;
  if (y == -HUGE_VAL)
    return 1;
  if (x.is_small() && std::fabs(y) < 9e18) {
    const int64_t whole = i64(y);
    if (x.small() != whole)
      return x.small() < whole ? -1 : 1;
    const double fraction = y - double(whole);
    return fraction > 0 ? -1 : fraction < 0;
  }
  const double rounded = integer_to_double(x);
  if (rounded != y)
    return rounded < y ? -1 : 1;
  if (std::isinf(rounded))
    return 1;
  // Equal after rounding, so it is compared with the exact integer of the float.
  Limbs limbs;
  int exponent = 0;
  const auto mantissa = uint64_t(std::ldexp(std::frexp(std::fabs(y), &exponent), 53));
  const auto count = size_t(std::max(exponent - 53, 0));
  limbs.assign(count / 64 + 2, 0);
  limbs[count / 64] = mantissa << (count % 64);
  if (count % 64 != 0)
    limbs[count / 64 + 1] = mantissa >> (64 - count % 64);
  while (!limbs.empty() && limbs.back() == 0)
    limbs.pop_back();
  const Magnitude a(x);
  int order_ = 0;
  if (a.size != limbs.size())
    order_ = a.size < limbs.size() ? -1 : 1;
  else
    order_ = mpn_cmp(mp(a.limbs), mp(limbs.data()), mp_size(a.size));
  return a.negative ? -order_ : order_;
}

uint64_t hash_integer(Value v) {
  const auto mix = [](uint64_t x) {
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    return x ^ x >> 32;
  };
  if (v.is_small())
    return hash_of_small(v.small());
  const Magnitude x(v);
  uint64_t hash = hash_seed() + (x.negative ? 0x51ED270B : 0x2545F491);
  for (size_t i = 0; i < x.size; ++i)
    hash = mix(hash ^ x.limbs[i]);
  return hash;
}

}  // namespace fettle::starlark
