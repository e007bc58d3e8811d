#pragma once
/// Operators, indexing, attributes and iteration, for each type. Errors go to the machine.

#include "starlark/code/code.h"
#include "starlark/eval/vm.h"
#include "starlark/heap/make.h"
#include "starlark/values/hash.h"

namespace fettle::starlark {

bool truth(Value v);
/// Notes that somebody looked at an unknown value.
void note_look(Value v);
std::string_view type_name_of(Value v);
std::string_view type_name_of(Kind kind);

Value binary_operation(Vm& vm, Op op, Value x, Value y);
Value unary_operation(Vm& vm, Op op, Value x);
/// `+=` and `|=`: lists, dicts and sets change in place.
Value add_in_place(Vm& vm, Value x, Value y);
Value or_in_place(Vm& vm, Value x, Value y);

/// 1, 0, or -1 after an error. `op` is one of the six comparisons.
int compare(Vm& vm, Op op, Value x, Value y);
/// The result of `==`. Never fails for values without cycles.
int equal_values(Vm& vm, Value x, Value y);
/// Whether two keys of a dict are the same. Only tuples and structures can be deep keys.
bool keys_equal(Vm& vm, Value x, Value y);
/// -1, 0, 1; or -2 after an error. For sorting.
int order(Vm& vm, Value x, Value y);

/// False after an error: the value has no hash, or a limit is reached.
bool hash_of_any(Vm& vm, Value v, uint64_t& hash);
/// The same, fast for most keys.
inline bool hash_of(Vm& vm, const Value& v, uint64_t& hash) {
  constexpr uint32_t long_text = 4096;  // which costs steps
  if (v.is_small())
    hash = hash_of_small(v.small());
  else if (v.is_short_text() || (is_kind(v, Kind::string) && v.object()->count <= long_text))
    hash = hash_of_text(v);
  else
    return hash_of_any(vm, v, hash);
  return true;
}
/// The same, without an error if the value has no hash.
bool hash_if_any(Vm& vm, Value v, uint64_t& hash);

Value get_index(Vm& vm, Value object, Value key);
bool set_index(Vm& vm, Value object, Value key, Value value);
Value get_slice(Vm& vm, Value object, Value low, Value high, Value step);
/// An error if there is none; with `optional`, `unset`.
Value get_attribute(Vm& vm, Value object, Value name, bool optional = false);
bool set_attribute(Vm& vm, Value object, Value name, Value value);
std::vector<std::string> attribute_names(Vm& vm, Value object);
/// 1, 0, or -1 after an error.
int contains(Vm& vm, Value container, Value item);
/// None: the value has no length.
std::optional<int64_t> length_of_value(Value v);
/// `len(v)`.
Value length_value(Vm& vm, Value v);

// Iteration. A running one locks lists, dicts and sets.
bool is_iterable(Value v);
struct Iteration {
  Value over;
  int64_t position = 0;
};
/// False: the value cannot be iterated over. No error is set.
bool begin_iteration(Value over, Iteration& state);
/// False: the end is reached. `item` is `Value::error()` only if memory is short.
bool next_item(Vm& vm, Iteration& state, Value& item);
void end_iteration(Value over);
/// Begins a loop over `range(arguments…)` that makes no object: `state` receives the first number,
/// the count, and the step; beyond small integers, it receives the range. False: the arguments are
/// wrong, and there is an error.
bool begin_range(Vm& vm, const Value* arguments, uint32_t count, Value* state);
/// The number of items to come, at the beginning of an iteration, if it is known; else 0.
size_t length_hint(Value v);

/// Calls `f(item)` for each item; stops and returns false if `f` does. If the value is not
/// iterable, the error is worded for the caller: "{what}: got T, want iterable".
template <typename F>
bool for_each(Vm& vm, Value over, F&& f) {
  Iteration state;
  if (!begin_iteration(over, state))
    return false;
  Value item;
  bool ok = true;
  while (ok && next_item(vm, state, item))
    ok = vm.charge(1) && f(item);
  end_iteration(over);
  return ok && !vm.failed;
}

/// Checks that a list, dict or set may change now. Otherwise the error is "cannot {verb} frozen
/// list".
bool check_mutable(Vm& vm, Object* object, const char* verb);

// Integers.
/// Of any integer; false for others or when it has over 64 bits.
bool to_int64(Value v, int64_t& n);
/// Reads an index. starlark-go has none of more than 32 bits.
inline bool to_index_number(Vm& vm, Value v, int64_t& n) {
  return to_int64(v, n) && (n == static_cast<int32_t>(n) || vm.is_spec());
}
/// Ends early, with a shortened text, if nobody wants the evaluation any more.
std::string integer_text(Vm& vm, Value v, int radix = 10);
double integer_to_double(Value v);                           ///< nearest; infinite when too large
bool float_to_integer(Heap& heap, double x, Value& result);  ///< truncates; false for inf and nan
int integer_sign(Value v);
/// Charges for turning an integer into digits.
inline bool charge_digits(Vm& vm, Value v) {
  if (!v.is_object())
    return true;
  const uint64_t limbs = v.object()->count;
  return vm.charge(2 + limbs * limbs / 64);
}
Value integer_binary(Vm& vm, Op op, Value x, Value y);
Value integer_negate(Heap& heap, Value x);
Value integer_invert(Heap& heap, Value x);
int compare_integers(Value x, Value y);
int compare_integer_float(Value x, double y);
uint64_t hash_integer(Value v);

/// Text as Go's `%g` with the shortest digits, always with `.`, `e` or a letter.
std::string float_text(double x);

// Functions as values.
std::string function_name_of(Value v);

// Text of values.
/// As `str` and `repr`; false after an error.
bool write_str(Vm& vm, std::string& out, Value v);
bool write_repr(Vm& vm, std::string& out, Value v);
void quote_text(std::string& out, std::string_view text);
void quote_bytes(std::string& out, std::string_view bytes);

void freeze_value(Value v, bool share);
/// A value for the host: dicts, lists and scalars.
Result<fettle::Value> to_plain(Vm& vm, Value value);

/// The universe of a profile: name and value of each built-in.
const std::vector<std::pair<std::string_view, Value>>& universe();

}  // namespace fettle::starlark
