/// Functions of the universe that turn one value into another: `int`, `str`, `ord` and their like.

#include "starlark/lib/conversions.h"

#include <charconv>
#include <cmath>

#include "base/text.h"
#include "starlark/eval/bind.h"
#include "starlark/eval/texts.h"

namespace fettle::starlark {

Value core_bool(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 0, 1))
    return Value::error();
  return Value::boolean(a.count == 1 && truth(a.positional[0]));
}

Value core_bytes(Vm& vm, const Arguments& a) {
  if (!want_exactly_one(vm, a))
    return Value::error();
  const Value from = a.positional[0];
  if (is_bytes(from))
    return from;
  std::string bytes;
  if (is_text(from)) {
    if (!vm.charge(view_of(from).size() / 4))
      return Value::error();
    // Bytes that are no UTF-8 are replaced.
    for (std::string_view rest = view_of(from); !rest.empty();) {
      size_t length = 1;
      const uint32_t c = decode(rest, length);
      if (c == 0xFFFD && length == 1)
        bytes += "\xEF\xBF\xBD";
      else
        bytes += rest.substr(0, length);
      rest.remove_prefix(length);
    }
  } else if (is_iterable(from)) {
    size_t index = 0;
    const bool ok = for_each(vm, from, [&](Value item) {
      int64_t n = 0;
      if (!is_int(item)) {
        vm.fail_with("bytes: at index ", index, ", got ", type_name_of(item), ", want int");
        return false;
      }
      if (!to_int64(item, n) || n < 0 || n > 255) {
        vm.fail_with("bytes: at index ", index, ", ", integer_text(vm, item),
                     " out of range (want value in unsigned 8-bit range)");
        return false;
      }
      bytes += static_cast<char>(n);
      ++index;
      if (bytes.size() % 65536 == 0 && !vm.heap().may_take(bytes.size() * 2)) {
        vm.fail_memory();
        return false;
      }
      return true;
    });
    if (!ok)
      return Value::error();
  } else {
    return vm.fail_with("bytes: got ", type_name_of(from),
                        ", want string, bytes, or iterable of ints");
  }
  const Value made = make_bytes(vm.heap(), bytes);
  return made.is_error() ? vm.fail_memory() : made;
}

Value core_chr(Vm& vm, const Arguments& a) {
  if (!want_no_names(vm, a) || !want_positional(vm, a, 1, 1))
    return Value::error();
  if (!is_int(a.positional[0]))
    return vm.fail_with("chr: got ", type_name_of(a.positional[0]), ", want int");
  int64_t n = 0;
  if (!to_int64(a.positional[0], n) || n != static_cast<int32_t>(n))
    return vm.fail_with("chr: ", integer_text(vm, a.positional[0]), " out of range");
  if (n < 0)
    return vm.fail_with("chr: Unicode code point ", integer_text(vm, a.positional[0]),
                        " out of range (<0)");
  if (n > 0x10FFFF) {
    std::string digits = integer_text(vm, a.positional[0], 16);
    for (char& c : digits)
      c = static_cast<char>(c >= 'a' ? c - 32 : c);
    return vm.fail_with("chr: Unicode code point U+", digits, " out of range (>0x10FFFF)");
  }
  std::string text;
  append_utf8(text, u32(n));
  return make_text(vm.heap(), text);
}

Value core_float(Vm& vm, const Arguments& a) {
  if (!want_no_names(vm, a))
    return Value::error();
  if (a.count > 1)
    return vm.fail_with("float got ", a.count, " arguments, wants 1");
  if (a.count == 0)
    return make_float(vm.heap(), 0);
  const Value x = a.positional[0];
  if (x.is_bool())
    return make_float(vm.heap(), x.is_true() ? 1 : 0);
  if (is_float(x))
    return x;
  if (is_int(x)) {
    const double d = integer_to_double(x);
    if (std::isinf(d))
      return vm.fail("float: int too large to convert to float");
    return make_float(vm.heap(), d);
  }
  if (!is_text(x))
    return vm.fail_with("float got ", type_name_of(x), ", want number or string");
  const std::string_view text = view_of(x);
  if (text.empty())
    return vm.fail("float: empty string");
  if (!vm.charge(1 + text.size() / 4))
    return Value::error();
  std::string_view rest = text;
  double sign = 1;
  if (rest.starts_with('+') || rest.starts_with('-')) {
    sign = rest[0] == '-' ? -1 : 1;
    rest.remove_prefix(1);
  }
  const std::string lower = lower_case(rest);
  if (lower == "inf" || lower == "infinity")
    return make_float(vm.heap(), sign * HUGE_VAL);
  if (lower == "nan")
    return make_float(vm.heap(), std::nan(""));
  const auto invalid = [&] { return vm.fail_with("invalid float literal: ", text); };
  if (rest.empty() || rest.find_first_not_of("0123456789.eE+-") != std::string_view::npos ||
      (rest[0] != '.' && (rest[0] < '0' || rest[0] > '9')))
    return invalid();
  double d = 0;
  const auto [end, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), d);
  if (end != rest.data() + rest.size() || problem == std::errc::invalid_argument)
    return invalid();
  if (problem == std::errc::result_out_of_range) {
    const size_t e = lower.find('e');
    if (e != std::string::npos && lower[e + 1] == '-')
      return make_float(vm.heap(), sign * 0.0);
    return vm.fail("floating-point number too large");
  }
  return make_float(vm.heap(), sign * d);
}

/// Java's hash of the UTF-16 units of a text; FNV-1a of bytes.
Value core_hash(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 1, 1))
    return Value::error();
  const Value x = a.positional[0];
  if (is_text(x)) {
    uint32_t hash = 0;
    if (!vm.charge(view_of(x).size() / 4))
      return Value::error();
    for (std::string_view rest = view_of(x); !rest.empty();) {
      size_t length = 1;
      const uint32_t c = decode(rest, length);
      rest.remove_prefix(length);
      if (c >= 0x10000 && vm.is_spec()) {  // starlark-go counts code points
        hash = hash * 31 + 0xD800 + ((c - 0x10000) >> 10);
        hash = hash * 31 + 0xDC00 + ((c - 0x10000) & 0x3FF);
      } else {
        hash = hash * 31 + c;
      }
    }
    return Value::small(static_cast<int32_t>(hash));
  }
  if (is_bytes(x)) {
    uint32_t hash = 2166136261u;
    for (const char c : view_of(x))
      hash = (hash ^ static_cast<uint8_t>(c)) * 16777619u;
    return Value::small(hash);
  }
  return vm.fail_with("hash: got ", type_name_of(x), ", want string or bytes");
}

static Value parse_int(Vm& vm, std::string_view text, int64_t base) {
  const auto invalid = [&] {
    return vm.fail_with("int: invalid literal with base ", base, ": ", text);
  };
  std::string_view rest = text;
  bool negative = false;
  if (rest.starts_with('+') || rest.starts_with('-')) {
    negative = rest[0] == '-';
    rest.remove_prefix(1);
  }
  int radix = int(base);
  if (rest.size() > 1 && rest[0] == '0') {
    const char kind = static_cast<char>(rest[1] | 32);
    const int prefixed = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 0;
    if (prefixed != 0 && (base == 0 || base == prefixed)) {
      radix = prefixed;
      rest.remove_prefix(2);
    } else if (base == 0 && rest.find_first_not_of('0') != std::string_view::npos) {
      return invalid();
    }
  }
  if (radix == 0)
    radix = 10;
  if (rest.empty())
    return invalid();
  for (const char c : rest) {
    const int digit = c >= '0' && c <= '9'                 ? c - '0'
                      : (c | 32) >= 'a' && (c | 32) <= 'z' ? (c | 32) - 'a' + 10
                                                           : 99;
    if (digit >= radix)
      return invalid();
  }
  if (!vm.charge(rest.size() / 2 + rest.size() * rest.size() / (1 << 17)))
    return Value::error();
  const Value made = parse_integer(vm.heap(), rest, radix, negative);
  return made.is_error() ? vm.fail("int: integer too large") : made;
}

Value core_int(Vm& vm, const Arguments& a) {
  Value given[2];
  static constexpr const char* names[] = {"x", "base?"};
  if (!want_named(vm, a, names, given))
    return Value::error();
  const Value x = given[0];
  if (is_text(x)) {
    int64_t base = 10;
    if (!given[1].is_unset()) {
      if (!is_int(given[1]))
        return vm.fail_with("int: for base, got ", type_name_of(given[1]), ", want int");
      if (!to_int64(given[1], base) || (base != 0 && (base < 2 || base > 36)))
        return vm.fail("int: base must be an integer >= 2 && <= 36");
    }
    return parse_int(vm, view_of(x), base);
  }
  if (!given[1].is_unset())
    return vm.fail("int: can't convert non-string with explicit base");
  if (x.is_bool())
    return Value::small(x.is_true());
  if (is_int(x))
    return x;
  if (is_float(x)) {
    Value whole;
    if (float_to_integer(vm.heap(), float_of(x), whole))
      return whole;
    return vm.fail_with("int: cannot convert float ", std::isnan(float_of(x)) ? "NaN" : "infinity",
                        " to integer");
  }
  return vm.fail_with("int: cannot convert ", type_name_of(x), " to int");
}

Value core_ord(Vm& vm, const Arguments& a) {
  if (!want_no_names(vm, a) || !want_positional(vm, a, 1, 1))
    return Value::error();
  const Value x = a.positional[0];
  if (is_text(x)) {
    const std::string_view text = view_of(x);
    size_t count = 0;
    uint32_t code = 0;
    for (std::string_view rest = text; !rest.empty() && count < 2; ++count) {
      size_t length = 1;
      code = decode(rest, length);
      rest.remove_prefix(length);
    }
    if (count != 1) {
      if (!vm.charge(text.size() / 4))
        return Value::error();
      count = 0;
      for (std::string_view rest = text; !rest.empty(); ++count) {
        size_t length = 1;
        decode(rest, length);
        rest.remove_prefix(length);
      }
      return vm.fail_with("ord: string encodes ", count, " Unicode code points, want 1");
    }
    return Value::small(code);
  }
  if (is_bytes(x)) {
    if (x.object()->count != 1)
      return vm.fail_with("ord: bytes has length ", x.object()->count, ", want 1");
    return Value::small(static_cast<uint8_t>(view_of(x)[0]));
  }
  return vm.fail_with("ord: got ", type_name_of(x), ", want string or bytes");
}

static Value finish_text(Vm& vm, const std::string& text) {
  const Value made = make_text(vm.heap(), text);
  return made.is_error() ? vm.fail_memory() : made;
}

Value core_repr(Vm& vm, const Arguments& a) {
  std::string text;
  if (!want_positional(vm, a, 1, 1) || !write_repr(vm, text, a.positional[0]))
    return Value::error();
  return finish_text(vm, text);
}

Value core_str(Vm& vm, const Arguments& a) {
  if (!want_exactly_one(vm, a))
    return Value::error();
  const Value x = a.positional[0];
  if (is_text(x))
    return x;
  if (x.is_small()) {
    char digits[24];
    const auto [end, ignored] = std::to_chars(digits, digits + sizeof digits, x.small());
    const std::string_view text(digits, end);
    return vm.charge(text.size() / 2) ? make_text(vm.heap(), text) : Value::error();
  }
  std::string text;
  if (is_bytes(x)) {
    if (!vm.heap().may_take(x.object()->count * u64(4)))
      return vm.fail_memory();
    if (!write_str(vm, text, x) || !vm.charge(text.size() / 4))
      return Value::error();
  } else if (!write_repr(vm, text, x)) {
    return Value::error();
  }
  return finish_text(vm, text);
}

Value core_type(Vm& vm, const Arguments& a) {
  if (!want_exactly_one(vm, a))
    return Value::error();
  return make_text(vm.heap(), type_name_of(a.positional[0]));
}

}  // namespace fettle::starlark
