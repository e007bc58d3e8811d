#include "starlark/eval/wide.h"

#include "starlark/heap/make.h"

namespace fettle::starlark {
namespace {

__extension__ using Wide = __int128;
__extension__ using WideMagnitude = unsigned __int128;

bool to_wide(Value v, Wide& n) {
  if (v.is_small()) {
    n = v.small();
    return true;
  }
  const auto* big = as<BigInt>(v);
  const uint64_t high = big->count > 1 ? big->limbs()[1] : 0;
  if (big->count > 2 || high >> 62 != 0)
    return false;
  const auto magnitude = static_cast<Wide>(WideMagnitude{high} << 64 | big->limbs()[0]);
  n = big->negative() ? -magnitude : magnitude;
  return true;
}

Value of_wide(Heap& heap, Wide n) {
  if (n == i64(n))
    return make_int(heap, i64(n));
  const auto magnitude = static_cast<WideMagnitude>(n < 0 ? -n : n);
  const uint64_t limbs[] = {u64(magnitude), u64(magnitude >> 64)};
  return make_int(heap, n < 0, limbs);
}

}  // namespace

Value wide_operation(Heap& heap, Op op, Value x, Value y) {
  Wide a, b;
  if (!to_wide(x, a) || !to_wide(y, b))
    return Value::unset();
  switch (op) {
    case Op::add:
      return of_wide(heap, a + b);
    case Op::subtract:
      return of_wide(heap, a - b);
    case Op::multiply: {
      Wide product;
      // The smallest 128-bit number has no magnitude of 128 bits.
      if (__builtin_mul_overflow(a, b, &product) ||
          static_cast<WideMagnitude>(product) == WideMagnitude{1} << 127)
        return Value::unset();
      return of_wide(heap, product);
    }
    case Op::floor_divide:
      return of_wide(heap, a / b - (a % b != 0 && (a < 0) != (b < 0)));
    case Op::modulo: {
      const Wide rest = a % b;
      return of_wide(heap, rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
    }
    case Op::bit_and:
      return of_wide(heap, a & b);
    case Op::bit_or:
      return of_wide(heap, a | b);
    case Op::bit_xor:
      return of_wide(heap, a ^ b);
    default:
      return Value::unset();
  }
}

}  // namespace fettle::starlark
