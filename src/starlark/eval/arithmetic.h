#pragma once
/// The fast cases of operators, for the machine: small integers, and floats that fit into a word.
/// Each returns whether there is a result; `binary_operation` does the rest.

#include "starlark/values/objects.h"

namespace fettle::starlark {

inline bool both_small(Value x, Value y) { return ((x.word() | y.word()) & 7) == 0; }
inline bool both_packed(Value x, Value y) { return x.is_packed_float() && y.is_packed_float(); }

/// Whether two values are equal exactly if their words are: integers and short texts, and any value
/// beside None, False or True.
inline bool equal_as_words(Value x, Value y) {
  constexpr uint32_t plain = 1 << 0 | 1 << 3 | 1 << 6, single = 1 << 6;  // by tag
  const uint32_t a = 1u << (x.word() & 7), b = 1u << (y.word() & 7);
  if (((a | b) & ~plain) == 0)
    return true;
  if (((a | b) & single) == 0)
    return false;
  const Value other = (a & single) != 0 ? y : x;  // an unknown notes that it was compared
  return !is_kind(other, Kind::unknown);
}

[[gnu::always_inline]] inline bool pack(double x, Value& made) {
  uint64_t word;
  if (!Value::packs(x, word))
    return false;
  made = Value::of_word(word);
  return true;
}

// The word of a small integer is eight times the integer, so words are added as they are.

[[gnu::always_inline]] inline bool quick_add(Value x, Value y, Value& made) {
  int64_t sum;
  if (both_small(x, y)) [[likely]] {
    if (__builtin_add_overflow(i64(x.word()), i64(y.word()), &sum)) [[unlikely]]
      return false;
    made = Value::of_word(u64(sum));
    return true;
  }
  return both_packed(x, y) && pack(x.packed_float() + y.packed_float(), made);
}

[[gnu::always_inline]] inline bool quick_subtract(Value x, Value y, Value& made) {
  int64_t difference;
  if (both_small(x, y)) [[likely]] {
    if (__builtin_sub_overflow(i64(x.word()), i64(y.word()), &difference)) [[unlikely]]
      return false;
    made = Value::of_word(u64(difference));
    return true;
  }
  return both_packed(x, y) && pack(x.packed_float() - y.packed_float(), made);
}

[[gnu::always_inline]] inline bool quick_multiply(Value x, Value y, Value& made) {
  int64_t product;
  if (both_small(x, y)) [[likely]] {
    if (__builtin_mul_overflow(x.small(), i64(y.word()), &product)) [[unlikely]]
      return false;
    made = Value::of_word(u64(product));
    return true;
  }
  return both_packed(x, y) && pack(x.packed_float() * y.packed_float(), made);
}

[[gnu::always_inline]] inline bool quick_divide(Value x, Value y, Value& made) {
  if (!both_packed(x, y) || y.packed_float() == 0)
    return false;
  return pack(x.packed_float() / y.packed_float(), made);
}

[[gnu::always_inline]] inline bool quick_floor_divide(Value x, Value y, Value& made) {
  if (!both_small(x, y) || y.small() <= 0)
    return false;
  const int64_t n = x.small(), d = y.small();
  made = Value::small(n / d - (n % d < 0));
  return true;
}

[[gnu::always_inline]] inline bool quick_modulo(Value x, Value y, Value& made) {
  if (!both_small(x, y) || y.small() <= 0)
    return false;
  const int64_t d = y.small();
  const int64_t r = x.small() % d;
  made = Value::small(r < 0 ? r + d : r);
  return true;
}

[[gnu::always_inline]] inline bool quick_bit_and(Value x, Value y, Value& made) {
  made = Value::of_word(x.word() & y.word());
  return both_small(x, y);
}

[[gnu::always_inline]] inline bool quick_bit_or(Value x, Value y, Value& made) {
  made = Value::of_word(x.word() | y.word());
  return both_small(x, y);
}

[[gnu::always_inline]] inline bool quick_bit_xor(Value x, Value y, Value& made) {
  made = Value::of_word(x.word() ^ y.word());
  return both_small(x, y);
}

[[gnu::always_inline]] inline bool quick_shift_left(Value x, Value y, Value& made) {
  if (!both_small(x, y) || y.small() < 0 || y.small() >= 60)
    return false;
  const int64_t n = x.small();
  const int64_t shifted = i64(u64(n) << y.small());
  if (shifted >> y.small() != n || !Value::fits(shifted))
    return false;
  made = Value::small(shifted);
  return true;
}

[[gnu::always_inline]] inline bool quick_shift_right(Value x, Value y, Value& made) {
  if (!both_small(x, y) || y.small() < 0 || y.small() > INT32_MAX)
    return false;
  made = Value::small(x.small() >> (y.small() > 62 ? 62 : y.small()));
  return true;
}

// The same with an integer of 16 bits on the right.

[[gnu::always_inline]] inline bool quick_add_small(Value x, int64_t n, Value& made) {
  int64_t sum;
  if (!x.is_small() || __builtin_add_overflow(i64(x.word()), n * 8, &sum)) [[unlikely]]
    return false;
  made = Value::of_word(u64(sum));
  return true;
}

[[gnu::always_inline]] inline bool quick_subtract_small(Value x, int64_t n, Value& made) {
  int64_t difference;
  if (!x.is_small() || __builtin_sub_overflow(i64(x.word()), n * 8, &difference)) [[unlikely]]
    return false;
  made = Value::of_word(u64(difference));
  return true;
}

[[gnu::always_inline]] inline bool quick_multiply_small(Value x, int64_t n, Value& made) {
  int64_t product;
  if (!x.is_small() || __builtin_mul_overflow(i64(x.word()), n, &product)) [[unlikely]]
    return false;
  made = Value::of_word(u64(product));
  return true;
}

[[gnu::always_inline]] inline bool quick_floor_divide_small(Value x, int64_t d, Value& made) {
  if (!x.is_small() || d <= 0) [[unlikely]]
    return false;
  const int64_t n = x.small();
  made = Value::small(n / d - (n % d < 0));
  return true;
}

[[gnu::always_inline]] inline bool quick_modulo_small(Value x, int64_t d, Value& made) {
  if (!x.is_small() || d <= 0) [[unlikely]]
    return false;
  const int64_t r = x.small() % d;
  made = Value::small(r < 0 ? r + d : r);
  return true;
}

}  // namespace fettle::starlark
