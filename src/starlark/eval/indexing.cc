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

}  // namespace

Value get_slice(Vm& vm, Value object, Value low, Value high, Value step_value) {
  const Kind kind = kind_of(object);
  const bool sliceable = kind == Kind::string || kind == Kind::bytes || kind == Kind::list ||
                         kind == Kind::tuple || kind == Kind::range;
  if (!sliceable)
    return vm.fail_with("invalid slice operand ", type_name_of(object));
  const int64_t size = *length_of_value(object);
  int64_t step = 1;
  if (!step_value.is_none()) {
    if (!slice_bound(vm, step_value, "slice step", step))
      return Value::error();
    if (step == 0)
      return vm.fail("zero is not a valid slice step");
  }
  const auto clamp = [&](int64_t i, int64_t least, int64_t most) {
    if (i < 0)
      i = i < -size ? least : i + size;
    return std::clamp(i, least, most);
  };
  int64_t start = 0, stop = 0;
  if (step > 0) {
    start = 0;
    stop = size;
    if (!low.is_none()) {
      if (!slice_bound(vm, low, "start index", start))
        return Value::error();
      start = clamp(start, 0, size);
    }
    if (!high.is_none()) {
      if (!slice_bound(vm, high, "end index", stop))
        return Value::error();
      stop = clamp(stop, 0, size);
    }
    stop = std::max(stop, start);
  } else {
    start = size - 1;
    stop = -1;
    if (!low.is_none()) {
      if (!slice_bound(vm, low, "start index", start))
        return Value::error();
      start = clamp(start, -1, size - 1);
    }
    if (!high.is_none()) {
      if (!slice_bound(vm, high, "end index", stop))
        return Value::error();
      stop = clamp(stop, -1, size - 1);
    }
  }
  step = std::clamp<int64_t>(step, -(i64(1) << 40), i64(1) << 40);
  const int64_t count = range_length(start, stop, step);
  // Items are words, letters are bytes; steps take each alone.
  const bool letters = kind == Kind::string || kind == Kind::bytes;
  if (kind != Kind::range && !vm.charge(1 + u64(count) / (!letters ? 4 : step == 1 ? 64 : 8)))
    return Value::error();
  switch (kind) {
    case Kind::string:
    case Kind::bytes: {
      const std::string_view text = view_of(object);
      if (step == 1) {
        const std::string_view part = text.substr(size_t(start), size_t(count));
        if (part.size() == text.size())
          return object;
        const Value made =
            kind == Kind::string ? make_text(vm.heap(), part) : make_bytes(vm.heap(), part);
        return made.is_error() ? vm.fail_memory() : made;
      }
      std::string part;
      part.reserve(size_t(count));
      for (int64_t i = 0; i < count; ++i)
        part += text[size_t(start + i * step)];
      const Value made =
          kind == Kind::string ? make_text(vm.heap(), part) : make_bytes(vm.heap(), part);
      return made.is_error() ? vm.fail_memory() : made;
    }
    case Kind::range: {
      const auto* range = as<Range>(object);
      Range* made = make_range(vm.heap(), 0, 0, 1);
      made->start = range->at(start);
      made->stop = range->at(stop);
      // If the product does not fit, the elements wrap around; for a single element, any step will
      // do.
      if (__builtin_mul_overflow(range->step, step, &made->step) && count <= 1)
        made->step = range->step;
      made->length = count;
      return Value::object(made);
    }
    case Kind::list: {
      List* made = make_list(vm.heap(), size_t(count));
      if (made == nullptr)
        return vm.fail_memory();
      for (int64_t i = 0; i < count; ++i)
        made->items[i] = as<List>(object)->items[start + i * step];
      made->size = u32(count);
      return Value::object(made);
    }
    default: {
      Tuple* made = make_tuple(vm.heap(), size_t(count));
      if (made == nullptr)
        return vm.fail_memory();
      for (int64_t i = 0; i < count; ++i)
        made->items()[i] = as<Tuple>(object)->items()[start + i * step];
      return Value::object(made);
    }
  }
}

}  // namespace fettle::starlark
