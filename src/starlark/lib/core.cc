/// The functions that every program sees.

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "starlark/eval/bind.h"
#include "starlark/eval/table.h"
#include "starlark/eval/texts.h"
#include "starlark/lib/collections.h"
#include "starlark/lib/library.h"
#include "starlark/syntax/spelling.h"

namespace fettle::starlark {
namespace {

Value core_abs(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 1, 1))
    return Value::error();
  const Value x = a.positional[0];
  if (is_int(x))
    return integer_sign(x) < 0 ? integer_negate(vm.heap(), x) : x;
  if (is_float(x))
    return make_float(vm.heap(), std::fabs(float_of(x)));
  return vm.fail_with("got ", type_name_of(x), ", want int or float");
}

Value any_or_all(Vm& vm, const Arguments& a, bool any) {
  if (!want_positional(vm, a, 1, 1))
    return Value::error();
  if (!is_iterable(a.positional[0]))
    return wrong_type(vm, a, 0, "iterable");
  bool found = false;
  for_each(vm, a.positional[0], [&](Value item) {
    found = truth(item) == any;
    return !found;
  });
  return vm.failed ? Value::error() : Value::boolean(found == any);
}
Value core_all(Vm& vm, const Arguments& a) { return any_or_all(vm, a, false); }
Value core_any(Vm& vm, const Arguments& a) { return any_or_all(vm, a, true); }

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
    // What is no UTF-8 is replaced.
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

Value core_dict(Vm& vm, const Arguments& a) {
  Dict* dict = make_dict(vm);
  return update_dict(vm, dict, a) ? Value::object(dict) : vm.fail_as("dict");
}

Value core_dir(Vm& vm, const Arguments& a) {
  if (!want_no_names(vm, a) || !want_positional(vm, a, 1, 1))
    return Value::error();
  List* list = make_list(vm.heap());
  const std::vector<std::string> names = attribute_names(vm, a.positional[0]);
  if (!vm.charge(names.size() * 16))
    return Value::error();
  for (const std::string& name : names) {
    // starlark-go knows no more than these of a set.
    const bool beyond_go = is_set(a.positional[0]) && !vm.is_spec() &&
                           (name == "isdisjoint" || name.ends_with("_update"));
    if (!beyond_go && !list_push(vm.heap(), list, make_text(vm.heap(), name)))
      return vm.fail_memory();
  }
  return Value::object(list);
}

Value core_enumerate(Vm& vm, const Arguments& a) {
  Value given[2] = {Value::unset(), Value::unset()};
  static constexpr const char* names[] = {"x", "start?"};
  if (vm.is_spec()) {  // there `start` may be given by name
    if (!want_named(vm, a, names, given))
      return Value::error();
  } else if (!want_positional(vm, a, 1, 2)) {
    return Value::error();
  } else {
    std::copy_n(a.positional, a.count, given);
  }
  if (!is_iterable(given[0]))
    return vm.fail_with("enumerate: for parameter 1: got ", type_name_of(given[0]),
                        ", want iterable");
  int64_t i = 0;
  if (!given[1].is_unset()) {
    Arguments start = a;  // by position or by name, its words are the same
    start.positional = given;
    if (!want_int64(vm, start, 1, i))
      return Value::error();
  }
  const size_t hint = length_hint(given[0]);
  if (!vm.heap().may_take(hint * 40))
    return vm.fail_memory();
  List* list = make_list(vm.heap(), hint);
  if (list == nullptr)
    return vm.fail_memory();
  bool is_beyond = false;
  const bool ok = for_each(vm, given[0], [&](Value item) {
    Value index = make_int(vm.heap(), i);
    if (is_beyond)  // a number of the specification has any size, one of Go wraps around
      index = integer_binary(vm, Op::add, make_int(vm.heap(), INT64_MAX), index);
    if (is_beyond || i != INT64_MAX)
      ++i;
    else if (vm.is_spec())
      is_beyond = (i = 1, true);
    else
      i = INT64_MIN;
    const Value pair = make_tuple(vm.heap(), {index, item});
    return vm.charge(2) && list_push(vm.heap(), list, pair);
  });
  return ok ? Value::object(list) : vm.failed ? Value::error() : vm.fail_memory();
}

/// Positional arguments as `print` shows them; `sep` may be given.
bool join_arguments(Vm& vm, const Arguments& a, std::string& text, bool raw_bytes) {
  std::string_view separator = " ";
  for (uint32_t i = 0; i < a.named_count; ++i) {
    if (view_of(a.names[i]) != "sep") {
      std::string shown;
      quote_text(shown, view_of(a.names[i]));
      vm.fail_with(a.name, ": unexpected keyword argument ", shown);
      return false;
    }
    if (!is_text(a.named[i])) {
      vm.fail_with(a.name, ": for parameter \"sep\": got ", type_name_of(a.named[i]),
                   ", want string");
      return false;
    }
    separator = view_of(a.named[i]);
  }
  for (uint32_t i = 0; i < a.count; ++i) {
    if (i > 0)
      text += separator;
    const Value v = a.positional[i];
    if (is_text(v))
      text += view_of(v);
    else if (raw_bytes && is_bytes(v))
      text += view_of(v);
    else if (!write_repr(vm, text, v))
      return false;
  }
  return true;
}

Value core_fail(Vm& vm, const Arguments& a) {
  std::string text = "fail: ";
  if (!join_arguments(vm, a, text, false))
    return Value::error();
  return vm.fail(std::move(text));
}

Value core_print(Vm& vm, const Arguments& a) {
  if (vm.dialect().profile == Profile::kurtosis)
    return vm.fail("print: use plan.print instead of print");
  std::string text;
  if (!join_arguments(vm, a, text, true))
    return Value::error();
  Session::State& session = vm.session;
  session.output += text.size() + 1;
  if (session.limits.output != 0 && session.output > session.limits.output)
    return vm.fail("print: too much output");
  if (!vm.charge(text.size() / 64))
    return Value::error();
  if (session.session->print) {
    Thread thread(static_cast<Thread::State*>(&vm));
    session.session->print(thread, text);
  } else {
    text += '\n';
    std::fwrite(text.data(), 1, text.size(), stderr);
  }
  return Value::none();
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

Value core_getattr(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 2, 3))
    return Value::error();
  if (!is_text(a.positional[1]))
    return wrong_type(vm, a, 1, "string");
  --vm.ticks;
  const Value found = get_attribute(vm, a.positional[0], a.positional[1], a.count == 3);
  if (found.is_error() && vm.failed) {
    vm.failure.hint.clear();
    return vm.fail_as("getattr");
  }
  return found.is_unset() ? a.positional[2] : found;
}

Value core_hasattr(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 2, 2))
    return Value::error();
  if (!is_text(a.positional[1]))
    return wrong_type(vm, a, 1, "string");
  --vm.ticks;
  const Value found = get_attribute(vm, a.positional[0], a.positional[1], true);
  return found.is_error() ? found : Value::boolean(!found.is_unset());
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

Value parse_int(Vm& vm, std::string_view text, int64_t base) {
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

Value core_len(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 1, 1))
    return Value::error();
  const std::optional<int64_t> length = length_of_value(a.positional[0]);
  if (!length)
    return vm.fail_with("len: value of type ", type_name_of(a.positional[0]), " has no len");
  return make_int(vm.heap(), *length);
}

Value core_list(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 0, 1))
    return Value::error();
  List* list = make_list(vm.heap());
  if (a.count == 1) {
    const Value from = a.positional[0];
    if (!is_iterable(from))
      return wrong_type(vm, a, 0, "iterable");
    if (add_in_place(vm, Value::object(list), from).is_error())
      return Value::error();
  }
  return Value::object(list);
}

Value least_or_most(Vm& vm, const Arguments& a, Op op) {
  if (a.count == 0)
    return vm.fail_with(a.name, " requires at least one positional argument");
  Value key = Value::unset();
  for (uint32_t i = 0; i < a.named_count; ++i) {
    if (view_of(a.names[i]) != "key") {
      std::string shown;
      quote_text(shown, view_of(a.names[i]));
      const std::string_view known[] = {"key"};
      return vm.fail_with(
          a.name, ": unexpected keyword argument ", shown,
          nearest_name(view_of(a.names[i]), known).empty() ? "" : " (did you mean key?)");
    }
    key = a.named[i];
    if (!is_kind(key, Kind::function) && !is_kind(key, Kind::builtin))
      return wrong_type(vm, a, "key", key, "callable");
  }
  RootScope roots(vm);
  Value best = Value::unset();
  Value best_key;
  const auto look = [&](Value item) {
    Value item_key = item;
    if (!key.is_unset()) {
      const size_t slot = vm.roots.size();
      roots.add(best);
      roots.add(best_key);
      roots.add(item);
      item_key = vm.call1(key, item);
      vm.roots.resize(slot);
      if (item_key.is_error())
        return false;
    }
    if (!best.is_unset() && !vm.charge(1))
      return false;
    if (!best.is_unset()) {
      const int better = compare(vm, op, item_key, best_key);
      if (better < 0) {
        vm.fail_as(a.name);
        return false;
      }
      if (better == 0)
        return true;
    }
    best = item;
    best_key = item_key;
    return true;
  };
  if (a.count == 1) {
    if (!is_iterable(a.positional[0]))
      return vm.fail_with(a.name, ": ", type_name_of(a.positional[0]), " value is not iterable");
    if (!for_each(vm, a.positional[0], look) && vm.failed)
      return Value::error();
    if (best.is_unset())
      return vm.fail_with(a.name, ": argument is an empty sequence");
    return best;
  }
  for (uint32_t i = 0; i < a.count; ++i) {
    if (!look(a.positional[i]))
      return Value::error();
  }
  return best;
}
Value core_min(Vm& vm, const Arguments& a) { return least_or_most(vm, a, Op::less); }
Value core_max(Vm& vm, const Arguments& a) { return least_or_most(vm, a, Op::greater); }

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

Value core_range(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 1, 3) || !check_range(vm, a.positional, a.count))
    return Value::error();
  int64_t n[3] = {0, 0, 1};
  for (uint32_t i = 0; i < a.count; ++i)
    to_int64(a.positional[i], n[i]);
  if (a.count == 1)
    return Value::object(make_range(vm.heap(), 0, n[0], 1));
  return Value::object(make_range(vm.heap(), n[0], n[1], n[2]));
}

Value finish_text(Vm& vm, const std::string& text) {
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

Value core_reversed(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 1, 1))
    return Value::error();
  if (!is_iterable(a.positional[0]))
    return wrong_type(vm, a, 0, "iterable");
  List* list = make_list(vm.heap());
  if (add_in_place(vm, Value::object(list), a.positional[0]).is_error())
    return Value::error();
  std::reverse(list->items, list->items + list->size);
  return Value::object(list);
}

Value core_set(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 0, 1))
    return Value::error();
  Dict* set = make_set(vm);
  if (a.count == 1) {
    if (!is_iterable(a.positional[0]))
      return wrong_type(vm, a, 0, "iterable");
    const bool ok = for_each(vm, a.positional[0], [&](Value item) {
      uint64_t hash = 0;
      if (!hash_of(vm, item, hash)) {
        vm.fail_as("set");
        return false;
      }
      if (!vm.charge(3))
        return false;
      if (!table_put(vm, set, item, hash, Value::none())) {
        vm.fail_memory();
        return false;
      }
      return true;
    });
    if (!ok)
      return Value::error();
  }
  return Value::object(set);
}

Value core_sorted(Vm& vm, const Arguments& a) {
  Value given[3];
  static constexpr const char* names[] = {"iterable", "key?", "reverse?"};
  static constexpr const char* spec_names[] = {"iterable", "key??", "reverse?"};
  static constexpr Accepted types[] = {Accepted::iterable, Accepted::callable, Accepted::boolean};
  if (!want_named(vm, a, vm.is_spec() ? spec_names : names, given, types))
    return Value::error();
  const bool keyed = !given[1].is_unset();
  if (!vm.heap().may_take(length_hint(given[0]) * 40))
    return vm.fail_memory();
  vm.ticks -= 2;
  RootScope roots(vm);
  std::vector<std::pair<Value, Value>> pairs;
  const bool ok = for_each(vm, given[0], [&](Value item) {
    Value key = item;
    if (keyed) {
      roots.add(item);
      key = vm.call1(given[1], item);
      if (key.is_error())
        return false;
      roots.add(key);
    }
    pairs.emplace_back(key, item);
    return true;
  });
  if (!ok || !sort_values(vm, pairs, given[2].is_true()))
    return Value::error();
  List* list = make_list(vm.heap(), pairs.size());
  if (list == nullptr)
    return vm.fail_memory();
  for (const auto& [key, item] : pairs)
    list->items[list->size++] = item;
  return Value::object(list);
}

Value core_tuple(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 0, 1))
    return Value::error();
  if (a.count == 0)
    return make_tuple(vm.heap(), {});
  const Value from = a.positional[0];
  if (is_tuple(from))
    return from;
  if (!is_iterable(from))
    return wrong_type(vm, a, 0, "iterable");
  List* list = make_list(vm.heap());
  if (add_in_place(vm, Value::object(list), from).is_error())
    return Value::error();
  Tuple* tuple = make_tuple(vm.heap(), list->size);
  if (tuple == nullptr)
    return vm.fail_memory();
  if (!copy_values(vm.heap(), list->items, list->size, tuple->items()))
    return Value::error();
  return Value::object(tuple);
}

Value core_type(Vm& vm, const Arguments& a) {
  if (!want_exactly_one(vm, a))
    return Value::error();
  return make_text(vm.heap(), type_name_of(a.positional[0]));
}

Value core_zip(Vm& vm, const Arguments& a) {
  if (a.named_count > 0)
    return vm.fail("zip does not accept keyword arguments");
  size_t rows = SIZE_MAX;
  std::vector<Iteration> sources;
  const auto finish = [&](Value result) {
    for (const Iteration& source : sources)
      end_iteration(source.over);
    return result;
  };
  for (uint32_t i = 0; i < a.count; ++i) {
    Iteration state;
    if (!begin_iteration(a.positional[i], state))
      return finish(vm.fail_with("zip: argument #", i + 1,
                                 " is not iterable: ", type_name_of(a.positional[i])));
    sources.push_back(state);
    if (const std::optional<int64_t> length = length_of_value(a.positional[i]))
      rows = std::min(rows, size_t(*length));
  }
  List* list = make_list(vm.heap());
  if (a.count == 0)
    return Value::object(list);
  if (rows != SIZE_MAX && !vm.heap().may_take(rows * (24 + 8 * a.count)))
    return finish(vm.fail_memory());
  std::vector<Value> row(a.count);
  for (;;) {
    if (!vm.charge(2 + a.count / 2))
      return finish(Value::error());
    for (uint32_t i = 0; i < a.count; ++i) {
      if (!next_item(vm, sources[i], row[i]))
        return finish(Value::object(list));
    }
    Tuple* tuple = make_tuple(vm.heap(), a.count);
    if (tuple == nullptr)
      return finish(vm.fail_memory());
    std::copy(row.begin(), row.end(), tuple->items());
    if (!list_push(vm.heap(), list, Value::object(tuple)))
      return finish(vm.fail_memory());
  }
}

constexpr MethodEntry core_table[] = {
    {"abs", core_abs},         {"all", core_all},       {"any", core_any},
    {"bool", core_bool},       {"bytes", core_bytes},   {"chr", core_chr},
    {"dict", core_dict},       {"dir", core_dir},       {"enumerate", core_enumerate},
    {"fail", core_fail},       {"float", core_float},   {"getattr", core_getattr},
    {"hasattr", core_hasattr}, {"hash", core_hash},     {"int", core_int},
    {"len", core_len},         {"list", core_list},     {"max", core_max},
    {"min", core_min},         {"ord", core_ord},       {"print", core_print},
    {"range", core_range},     {"repr", core_repr},     {"reversed", core_reversed},
    {"set", core_set},         {"sorted", core_sorted}, {"str", core_str},
    {"tuple", core_tuple},     {"type", core_type},     {"zip", core_zip}};

}  // namespace

std::span<const MethodEntry> core_functions() { return core_table; }

}  // namespace fettle::starlark
