/// Indexing and slices.

#include <algorithm>

#include "starlark/eval/bind.h"
#include "starlark/eval/ops.h"
#include "starlark/eval/table.h"
#include "starlark/eval/texts.h"

namespace fettle::starlark {

namespace {

/// Reads an index into a sequence. False: it is none, and there is an error.
bool to_index(Vm& vm, Value object, Value key, int64_t size, int64_t& index) {
  if (!is_int(key)) {
    vm.fail_with(type_name_of(object), " index: got ", type_name_of(key), ", want int");
    return false;
  }
  if (!to_index_number(vm, key, index)) {
    vm.fail_with(type_name_of(object), " index: ", integer_text(vm, key), " out of range");
    return false;
  }
  if (index < -size || index >= size) {
    if (size == 0)
      vm.fail_with("index ", integer_text(vm, key), " out of range: empty ", type_name_of(object));
    else
      vm.fail_with(type_name_of(object), " index ", integer_text(vm, key), " out of range [", -size,
                   ":", size - 1, "]");
    return false;
  }
  if (index < 0)
    index += size;
  return true;
}

}  // namespace

Value get_index(Vm& vm, Value object, Value key) {
  const Kind kind = kind_of(object);
  int64_t i = 0;
  switch (kind) {
    case Kind::dict: {
      uint64_t hash = 0;
      if (!hash_of(vm, key, hash))
        return Value::error();
      if (const TableEntry* entry = table_find(vm, as<Dict>(object), key, hash))
        return entry->value;
      std::string text;
      if (!write_repr(vm, text, key))
        return Value::error();
      return vm.fail_with("key ", text, " not in dict");
    }
    case Kind::list:
      if (!to_index(vm, object, key, as<List>(object)->size, i))
        return Value::error();
      return as<List>(object)->items[i];
    case Kind::tuple:
      if (!to_index(vm, object, key, object.object()->count, i))
        return Value::error();
      return as<Tuple>(object)->items()[i];
    case Kind::string: {
      const std::string_view text = view_of(object);
      if (!to_index(vm, object, key, i64(text.size()), i))
        return Value::error();
      return Value::short_text(text.substr(size_t(i), 1));
    }
    case Kind::bytes: {
      const std::string_view bytes = view_of(object);
      if (!to_index(vm, object, key, i64(bytes.size()), i))
        return Value::error();
      if (vm.is_spec())
        return Value::small(static_cast<uint8_t>(bytes[size_t(i)]));
      return make_bytes(vm.heap(), bytes.substr(size_t(i), 1));
    }
    case Kind::range:
      if (!to_index(vm, object, key, as<Range>(object)->length, i))
        return Value::error();
      return make_int(vm.heap(), as<Range>(object)->at(i));
    case Kind::view:
      if (const std::optional<int64_t> length = length_of_view(*as<View>(object))) {
        if (!to_index(vm, object, key, *length, i))
          return Value::error();
        return index_of_view(vm, *as<View>(object), i);
      }
      [[fallthrough]];
    default:
      return vm.fail_with("unhandled index operation ", type_name_of(object), "[",
                          type_name_of(key), "]");
  }
}

bool set_index(Vm& vm, Value object, Value key, Value value) {
  switch (kind_of(object)) {
    case Kind::dict: {
      uint64_t hash = 0;
      if (!hash_of(vm, key, hash) || !check_mutable(vm, object.object(), "insert into"))
        return false;
      if (!table_put(vm, as<Dict>(object), key, hash, value)) {
        vm.fail_memory();
        return false;
      }
      return true;
    }
    case Kind::list: {
      auto* list = as<List>(object);
      int64_t i = 0;
      if (!is_int(key)) {
        vm.fail_with("got ", type_name_of(key), ", want int");
        return false;
      }
      if (!to_index_number(vm, key, i)) {
        vm.fail_with(integer_text(vm, key), " out of range");
        return false;
      }
      if (!to_index(vm, object, key, list->size, i) ||
          !check_mutable(vm, list, "assign to element of"))
        return false;
      list->items[i] = value;
      return true;
    }
    default:
      vm.fail_with(type_name_of(object), " value does not support item assignment");
      return false;
  }
}

namespace {

/// Reads one bound of a slice. False: it is no integer, and there is an error.
bool slice_bound(Vm& vm, Value given, std::string_view what, int64_t& bound) {
  if (!is_int(given)) {
    vm.fail_with("invalid ", what, ": got ", type_name_of(given), ", want int");
    return false;
  }
  if (!to_index_number(vm, given, bound)) {
    vm.fail_with("invalid ", what, ": ", integer_text(vm, given), " out of range");
    return false;
  }
  return true;
}

/// What a slice takes, as a range of indexes.
struct Slice {
  int64_t start = 0;
  int64_t stop = 0;
  int64_t step = 1;
  int64_t count = 0;
};

/// A bound within a sequence; false with an error. What is not given stays as it is.
bool clamp_bound(Vm& vm, Value given, std::string_view what, int64_t size, int64_t least,
                 int64_t& bound) {
  if (given.is_none())
    return true;
  if (!slice_bound(vm, given, what, bound))
    return false;
  if (bound < 0)
    bound = bound < -size ? least : bound + size;
  bound = std::clamp(bound, least, size + least);
  return true;
}

/// False with an error.
bool read_slice(Vm& vm, int64_t size, Value low, Value high, Value step, Slice& slice) {
  if (!step.is_none()) {
    if (!slice_bound(vm, step, "slice step", slice.step))
      return false;
    if (slice.step == 0) {
      vm.fail("zero is not a valid slice step");
      return false;
    }
  }
  const bool is_forward = slice.step > 0;
  const int64_t least = is_forward ? 0 : -1;  // backwards, the end is before the first
  slice.start = is_forward ? 0 : size - 1;
  slice.stop = is_forward ? size : -1;
  if (!clamp_bound(vm, low, "start index", size, least, slice.start) ||
      !clamp_bound(vm, high, "end index", size, least, slice.stop))
    return false;
  if (is_forward)
    slice.stop = std::max(slice.stop, slice.start);
  slice.step = std::clamp<int64_t>(slice.step, -(i64(1) << 40), i64(1) << 40);
  slice.count = range_length(slice.start, slice.stop, slice.step);
  return true;
}

/// Of a string or of bytes.
Value slice_letters(Vm& vm, Value object, const Slice& slice) {
  const std::string_view text = view_of(object);
  std::string_view part = text.substr(0, 0);
  std::string letters;
  if (slice.step == 1) {
    part = text.substr(size_t(slice.start), size_t(slice.count));
    if (part.size() == text.size())
      return object;
  } else {
    letters.reserve(size_t(slice.count));
    for (int64_t i = 0; i < slice.count; ++i)
      letters += text[size_t(slice.start + i * slice.step)];
    part = letters;
  }
  const Value made =
      kind_of(object) == Kind::string ? make_text(vm.heap(), part) : make_bytes(vm.heap(), part);
  return made.is_error() ? vm.fail_memory() : made;
}

Value slice_of_range(Vm& vm, const Range* range, const Slice& slice) {
  Range* made = make_range(vm.heap(), 0, 0, 1);
  made->start = range->at(slice.start);
  made->stop = range->at(slice.stop);
  // Where the product does not fit, the elements go round; of one alone any step will do.
  if (__builtin_mul_overflow(range->step, slice.step, &made->step) && slice.count <= 1)
    made->step = range->step;
  made->length = slice.count;
  return Value::object(made);
}

}  // namespace

Value get_slice(Vm& vm, Value object, Value low, Value high, Value step) {
  const Kind kind = kind_of(object);
  const bool has_letters = kind == Kind::string || kind == Kind::bytes;
  if (!has_letters && kind != Kind::list && kind != Kind::tuple && kind != Kind::range)
    return vm.fail_with("invalid slice operand ", type_name_of(object));
  Slice slice;
  if (!read_slice(vm, *length_of_value(object), low, high, step, slice))
    return Value::error();
  if (kind == Kind::range)
    return slice_of_range(vm, as<Range>(object), slice);
  // Items are words, letters are bytes; steps take each alone.
  if (!vm.charge(1 + u64(slice.count) / (!has_letters ? 4 : slice.step == 1 ? 64 : 8)))
    return Value::error();
  if (has_letters)
    return slice_letters(vm, object, slice);
  if (kind == Kind::list) {
    List* made = make_list(vm.heap(), size_t(slice.count));
    if (made == nullptr)
      return vm.fail_memory();
    for (int64_t i = 0; i < slice.count; ++i)
      made->items[i] = as<List>(object)->items[slice.start + i * slice.step];
    made->size = u32(slice.count);
    return Value::object(made);
  }
  Tuple* made = make_tuple(vm.heap(), size_t(slice.count));
  if (made == nullptr)
    return vm.fail_memory();
  for (int64_t i = 0; i < slice.count; ++i)
    made->items()[i] = as<Tuple>(object)->items()[slice.start + i * slice.step];
  return Value::object(made);
}

}  // namespace fettle::starlark
