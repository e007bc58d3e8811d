#include "starlark/eval/ops.h"

#include <algorithm>
#include <cmath>

#include "starlark/eval/bind.h"
#include "starlark/eval/methods.h"
#include "starlark/eval/structure.h"
#include "starlark/eval/table.h"
#include "starlark/lib/strings.h"
#include "starlark/lib/time.h"
#include "starlark/syntax/spelling.h"

namespace fettle::starlark {
namespace {

std::string_view sign_of(Op op) {
  switch (op) {
    case Op::add:
    case Op::add_in_place:
      return "+";
    case Op::subtract:
      return "-";
    case Op::multiply:
      return "*";
    case Op::divide:
      return "/";
    case Op::floor_divide:
      return "//";
    case Op::modulo:
      return "%";
    case Op::bit_and:
      return "&";
    case Op::bit_or:
    case Op::or_in_place:
      return "|";
    case Op::bit_xor:
      return "^";
    case Op::shift_left:
      return "<<";
    default:
      return ">>";
  }
}

Value unknown(Vm& vm, Op op, Value x, Value y) {
  return vm.fail_with("unknown binary op: ", type_name_of(x), " ", sign_of(op), " ",
                      type_name_of(y));
}

bool is_number(Value v) { return is_int(v) || is_float(v); }

/// The operand as a float; false with an error when an integer is too large for one.
bool to_float(Vm& vm, Value v, double& x) {
  if (is_float(v)) {
    x = float_of(v);
    return true;
  }
  x = integer_to_double(v);
  if (std::isinf(x)) {
    vm.fail("int too large to convert to float");
    return false;
  }
  return true;
}

Value float_operation(Vm& vm, Op op, Value left, Value right) {
  double x = 0, y = 0;
  if (!to_float(vm, left, x) || !to_float(vm, right, y))
    return Value::error();
  switch (op) {
    case Op::add:
      return make_float(vm.heap(), x + y);
    case Op::subtract:
      return make_float(vm.heap(), x - y);
    case Op::multiply:
      return make_float(vm.heap(), x * y);
    case Op::divide:
      if (y == 0)
        return vm.fail("floating-point division by zero");
      return make_float(vm.heap(), x / y);
    case Op::floor_divide:
      if (y == 0)
        return vm.fail("floored division by zero");
      return make_float(vm.heap(), std::floor(x / y));
    case Op::modulo: {
      if (y == 0)
        return vm.fail("floating-point modulo by zero");
      double r = std::fmod(x, y);
      if (r != 0 && (r < 0) != (y < 0))
        r += y;
      return make_float(vm.heap(), r);
    }
    default:
      return unknown(vm, op, left, right);
  }
}

Value concatenate(Vm& vm, std::string_view a, std::string_view b, Kind kind) {
  const size_t size = a.size() + b.size();
  if (kind == Kind::string && size <= 7) {
    char joined[8];
    if (!a.empty())
      std::memcpy(joined, a.data(), a.size());
    if (!b.empty())
      std::memcpy(joined + a.size(), b.data(), b.size());
    return Value::short_text({joined, size});
  }
  if (!vm.charge(1 + size / 64))
    return Value::error();
  String* made = make_blank_text(vm.heap(), size, kind);
  if (made == nullptr)
    return vm.fail_memory();
  if (!a.empty())
    std::memcpy(made->inside(), a.data(), a.size());
  if (!b.empty())
    std::memcpy(made->inside() + a.size(), b.data(), b.size());
  return Value::object(made);
}

/// `a + b` for a long `a`: the result shares a buffer with it, in which `b` is appended when `a` is
/// what was made last. So a loop of `+=` is linear, and every text stays what it was.
Value append_text(Vm& vm, Value a, std::string_view b) {
  auto* left = as<String>(a);
  const size_t size = left->count + b.size();
  if (size > u64(0x7fffffff))
    return vm.fail_memory();
  Buffer* buffer = (left->flags & Object::indirect) ? left->buffer() : nullptr;
  if (buffer == nullptr || buffer->used != left->count || buffer->capacity < size ||
      (buffer->flags & Object::shared)) {
    const size_t capacity = size + size / 2;
    if (!vm.charge(1 + size / 64))
      return Value::error();
    auto* made = vm.heap().make<Buffer>(Kind::buffer, sizeof(Buffer) + capacity);
    if (made == nullptr)
      return vm.fail_memory();
    made->capacity = capacity;
    made->used = left->count;
    std::memcpy(made->data(), left->view().data(), left->count);
    buffer = made;
  }
  std::memcpy(buffer->data() + buffer->used, b.data(), b.size());
  buffer->used += b.size();
  auto* text = vm.heap().make<String>(Kind::string, sizeof(String) + sizeof(Buffer*));
  text->flags |= Object::frozen | Object::indirect;
  text->count = u32(size);
  text->hash = 0;
  std::memcpy(text->inside(), &buffer, sizeof buffer);
  return Value::object(text);
}

Value join_lists(Vm& vm, const List* a, const List* b) {
  if (!vm.charge(1 + (a->size + b->size) / 4))
    return Value::error();
  List* made = make_list(vm.heap(), size_t{a->size} + b->size);
  if (made == nullptr)
    return vm.fail_memory();
  std::copy_n(a->items, a->size, made->items);
  std::copy_n(b->items, b->size, made->items + a->size);
  made->size = a->size + b->size;
  return Value::object(made);
}

Value join_tuples(Vm& vm, const Tuple* a, const Tuple* b) {
  if (!vm.charge(1 + (a->count + b->count) / 4))
    return Value::error();
  Tuple* made = make_tuple(vm.heap(), size_t{a->count} + b->count);
  if (made == nullptr)
    return vm.fail_memory();
  std::copy_n(a->items(), a->count, made->items());
  std::copy_n(b->items(), b->count, made->items() + a->count);
  return Value::object(made);
}

constexpr uint64_t most_repeated = u64(1) << 30;

/// How often a sequence of `size` is repeated; -1 with an error when the result is too large.
int64_t repeat_count(Vm& vm, Value count, uint64_t size, bool is_bytes_) {
  int64_t n = 0;
  if (!to_int64(count, n)) {
    if (integer_sign(count) < 0 || size == 0)
      return 0;
    vm.fail_with("repeat count ", integer_text(count), " too large");
    return -1;
  }
  if (n <= 0 || size == 0)
    return 0;
  if (n >= i64(1) << 31) {
    vm.fail_with("repeat count ", n, " too large");
    return -1;
  }
  if (u64(n) >= most_repeated || size * u64(n) >= most_repeated) {
    vm.fail_with("excessive repeat (", size, " * ", n, " elements)");
    return -1;
  }
  if (!vm.charge(size * u64(n) / (is_bytes_ ? 64 : 4)))
    return -1;
  return n;
}

Value repeat(Vm& vm, Value what, Value count) {
  const Kind kind = kind_of(what);
  if (kind == Kind::string || kind == Kind::bytes) {
    const std::string_view text = view_of(what);
    const int64_t n = repeat_count(vm, count, text.size(), true);
    if (n < 0)
      return Value::error();
    if (n == 1 || n == 0)
      return n == 1                 ? what
             : kind == Kind::string ? Value::short_text("")
                                    : make_bytes(vm.heap(), "");
    const size_t size = text.size() * u64(n);
    if (kind == Kind::string && size <= 7) {
      std::string repeated;
      for (int64_t i = 0; i < n; ++i)
        repeated += text;
      return Value::short_text(repeated);
    }
    String* made = make_blank_text(vm.heap(), size, kind);
    if (made == nullptr)
      return vm.fail_memory();
    if (text.size() == 1) {
      std::memset(made->inside(), text[0], size);
    } else {
      for (size_t at = 0; at < size; at += text.size())
        std::memcpy(made->inside() + at, text.data(), text.size());
    }
    return Value::object(made);
  }
  const bool list = kind == Kind::list;
  const uint64_t size = list ? as<List>(what)->size : what.object()->count;
  const int64_t n = repeat_count(vm, count, size, false);
  if (n < 0)
    return Value::error();
  const size_t total = size * u64(n);
  Value* into;
  Value result;
  if (list) {
    List* made = make_list(vm.heap(), total);
    if (made == nullptr)
      return vm.fail_memory();
    made->size = u32(total);
    into = made->items;
    result = Value::object(made);
  } else {
    if (n == 1)
      return what;
    Tuple* made = make_tuple(vm.heap(), total);
    if (made == nullptr)
      return vm.fail_memory();
    into = made->items();
    result = Value::object(made);
  }
  const Value* from = list ? as<List>(what)->items : as<Tuple>(what)->items();
  if (size == 1) {
    std::fill_n(into, total, from[0]);
  } else {
    for (size_t at = 0; at < total; at += size)
      std::copy_n(from, size, into + at);
  }
  return result;
}

bool is_repeatable(Value v) {
  const Kind kind = kind_of(v);
  return kind == Kind::string || kind == Kind::bytes || kind == Kind::list || kind == Kind::tuple;
}

Value set_operation(Vm& vm, Op op, const Dict* a, const Dict* b) {
  if (!vm.charge(u64(3) * (u64(a->live) + b->live)))
    return Value::error();
  Dict* made = make_set(vm.heap());
  bool ok = true;
  const auto put = [&](const TableEntry& entry) {
    ok = table_put(vm.heap(), made, entry.key, entry.hash, Value::none());
    return ok;
  };
  const auto put_if = [&](const Dict* other, bool wanted) {
    return [&, other, wanted](const TableEntry& entry) {
      return (table_find(other, entry.key, entry.hash) != nullptr) != wanted || put(entry);
    };
  };
  switch (op) {
    case Op::bit_or:
      table_each(a, put);
      table_each(b, put);
      break;
    case Op::bit_and:
      table_each(a, put_if(b, true));
      break;
    case Op::subtract:
      table_each(a, put_if(b, false));
      break;
    default:
      table_each(a, put_if(b, false));
      table_each(b, put_if(a, false));
      break;
  }
  return ok ? Value::object(made) : vm.fail_memory();
}

Value merge_dicts(Vm& vm, const Dict* a, const Dict* b) {
  if (!vm.charge(u64(3) * (u64(a->live) + b->live)))
    return Value::error();
  Dict* made = make_dict(vm.heap(), a->live);
  if (made == nullptr)
    return vm.fail_memory();
  const auto put = [&](const TableEntry& entry) {
    return table_put(vm.heap(), made, entry.key, entry.hash, entry.value);
  };
  if (!table_each(a, put) || !table_each(b, put))
    return vm.fail_memory();
  return Value::object(made);
}

/// `a + b` of structures with one constructor: fields of both, those of `b` win.
Value merge_structures(Vm& vm, Structure* a, Structure* b) {
  const bool same =
      a->constructor.same(b->constructor) || keys_equal(a->constructor, b->constructor);
  if (!same) {
    std::string left, right;
    append_repr(left, a->constructor);
    append_repr(right, b->constructor);
    return vm.fail_with("cannot add structs of different constructors: ", left, " + ", right);
  }
  if (!vm.charge(u64(8) * (u64(a->count) + b->count)))
    return Value::error();
  std::vector<Value> names, values;
  uint32_t i = 0, j = 0;
  while (i < a->count || j < b->count) {
    int order_;
    if (i == a->count)
      order_ = 1;
    else if (j == b->count)
      order_ = -1;
    else
      order_ = view_of(a->shape->names()[i]).compare(view_of(b->shape->names()[j]));
    if (order_ < 0) {
      names.push_back(a->shape->names()[i]);
      values.push_back(a->values()[i++]);
    } else {
      names.push_back(b->shape->names()[j]);
      values.push_back(b->values()[j++]);
      i += order_ == 0;
    }
  }
  return make_structure(vm.heap(), Kind::structure, a->constructor, names, values);
}

}  // namespace

Value binary_operation(Vm& vm, Op op, Value x, Value y) {
  if (is_int(x) && is_int(y)) {
    if (op == Op::divide)
      return float_operation(vm, op, x, y);
    return integer_binary(vm, op, x, y);
  }
  if (is_int(x) && (op == Op::shift_left || op == Op::shift_right))
    return vm.fail_with("got ", type_name_of(y), ", want int");
  if (is_number(x) && is_number(y))
    return float_operation(vm, op, x, y);
  const Kind a = kind_of(x), b = kind_of(y);
  if (a != Kind::string &&
      (a == Kind::time || a == Kind::duration || b == Kind::time || b == Kind::duration)) {
    const Value result = time_binary(vm, op, x, y);
    return result.is_unset() ? unknown(vm, op, x, y) : result;
  }
  switch (op) {
    case Op::add:
      if (a != b)
        break;
      switch (a) {
        case Kind::string:
          return concatenate(vm, view_of(x), view_of(y), a);
        case Kind::bytes:
          return concatenate(vm, view_of(x), view_of(y), a);
        case Kind::list:
          return join_lists(vm, as<List>(x), as<List>(y));
        case Kind::tuple:
          return join_tuples(vm, as<Tuple>(x), as<Tuple>(y));
        case Kind::structure:
          return merge_structures(vm, as<Structure>(x), as<Structure>(y));
        default:
          break;
      }
      break;
    case Op::multiply:
      if (is_int(y) && is_repeatable(x))
        return repeat(vm, x, y);
      if (is_int(x) && is_repeatable(y))
        return repeat(vm, y, x);
      break;
    case Op::modulo:
      if (a == Kind::string)
        return percent_format(vm, x, y);
      break;
    case Op::bit_or:
      if (a == Kind::dict && b == Kind::dict)
        return merge_dicts(vm, as<Dict>(x), as<Dict>(y));
      [[fallthrough]];
    case Op::bit_and:
    case Op::bit_xor:
    case Op::subtract:
      if (a == Kind::set && b == Kind::set)
        return set_operation(vm, op, as<Dict>(x), as<Dict>(y));
      break;
    default:
      break;
  }
  return unknown(vm, op, x, y);
}

Value unary_operation(Vm& vm, Op op, Value x) {
  if (is_int(x)) {
    if (op == Op::positive)
      return x;
    if (x.is_object() && !vm.charge(x.object()->count / 8))
      return Value::error();
    return op == Op::negate ? integer_negate(vm.heap(), x) : integer_invert(vm.heap(), x);
  }
  if (is_float(x) && op != Op::invert)
    return op == Op::positive ? x : make_float(vm.heap(), -float_of(x));
  return vm.fail_with("unknown unary op: ",
                      op == Op::negate     ? "- "
                      : op == Op::positive ? "+ "
                                           : "~ ",
                      type_name_of(x));
}

bool check_mutable(Vm& vm, Object* object, const char* verb) {
  if (!object->is_frozen() && object->count == 0) [[likely]]
    return true;
  const std::string_view what = object->kind == Kind::list ? "list" : "hash table";
  if (object->is_frozen())
    vm.fail_with("cannot ", verb, " frozen ", what);
  else
    vm.fail_with("cannot ", verb, " ", what, " during iteration");
  return false;
}
bool check_table_mutable(Vm& vm, Object* object, const char* verb) {
  return check_mutable(vm, object, verb);
}

Value add_in_place(Vm& vm, Value x, Value y) {
  if (is_kind(x, Kind::string) && x.object()->count >= 128 && is_text(y) && !view_of(y).empty())
    return append_text(vm, x, view_of(y));
  if (!is_list(x) || !is_iterable(y))
    return binary_operation(vm, Op::add, x, y);
  auto* list = as<List>(x);
  if (!check_mutable(vm, list, "apply += to"))
    return Value::error();
  if (is_list(y)) {
    const uint32_t size = as<List>(y)->size;
    const size_t wanted = size_t{list->size} + size;
    if (!vm.charge(size / 4))
      return Value::error();
    if (wanted > list->capacity &&
        !list_reserve(vm.heap(), list,
                      std::max<size_t>(wanted, list->capacity + list->capacity / 2)))
      return vm.fail_memory();
    std::copy_n(as<List>(y)->items, size, list->items + list->size);
    list->size += size;
    return x;
  }
  if (!vm.heap().may_take(length_hint(y) * sizeof(Value)))
    return vm.fail_memory();
  const bool ok = for_each(vm, y, [&](Value item) { return list_push(vm.heap(), list, item); });
  return ok ? x : vm.failed ? Value::error() : vm.fail_memory();
}

Value or_in_place(Vm& vm, Value x, Value y) {
  const bool dicts = is_dict(x) && is_dict(y);
  const bool sets = vm.is_spec() && is_set(x) && is_set(y);
  if (!dicts && !sets)
    return binary_operation(vm, Op::bit_or, x, y);
  if (!check_mutable(vm, x.object(), "apply |= to"))
    return Value::error();
  if (x.same(y))
    return x;
  if (!vm.charge(u64(3) * as<Dict>(y)->live))
    return Value::error();
  const bool ok = table_each(as<Dict>(y), [&](const TableEntry& entry) {
    return table_put(vm.heap(), as<Dict>(x), entry.key, entry.hash, entry.value);
  });
  return ok ? x : vm.fail_memory();
}

namespace {

/// An index into a sequence; false with an error when it is none.
bool to_index(Vm& vm, Value object, Value key, int64_t size, int64_t& index) {
  if (!is_int(key)) {
    vm.fail_with(type_name_of(object), " index: got ", type_name_of(key), ", want int");
    return false;
  }
  if (!to_int64(key, index)) {
    vm.fail_with(type_name_of(object), " index: ", integer_text(key), " out of range");
    return false;
  }
  if (index < -size || index >= size) {
    if (size == 0)
      vm.fail_with("index ", integer_text(key), " out of range: empty ", type_name_of(object));
    else
      vm.fail_with(type_name_of(object), " index ", integer_text(key), " out of range [", -size,
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
      if (!hash_of(&vm, key, hash))
        return Value::error();
      if (const TableEntry* entry = table_find(as<Dict>(object), key, hash))
        return entry->value;
      std::string text;
      if (!write_repr(&vm, text, key))
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
      if (!hash_of(&vm, key, hash) || !check_mutable(vm, object.object(), "insert into"))
        return false;
      if (!table_put(vm.heap(), as<Dict>(object), key, hash, value)) {
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
      if (!to_int64(key, i)) {
        vm.fail_with(integer_text(key), " out of range");
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

/// One bound of a slice; false with an error when it is no integer.
bool slice_bound(Vm& vm, Value given, std::string_view what, int64_t& bound) {
  if (!is_int(given)) {
    vm.fail_with("invalid ", what, ": got ", type_name_of(given), ", want int");
    return false;
  }
  if (!to_int64(given, bound)) {
    vm.fail_with("invalid ", what, ": ", integer_text(given), " out of range");
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
      made->step = range->step * step;
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

int find_slot(const Shape* shape, Value name) {
  const auto* names = const_cast<Shape*>(shape)->names();
  uint32_t low = 0, high = shape->count;
  const std::string_view wanted = view_of(name);
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    const int order_ = names[middle].same(name) ? 0 : view_of(names[middle]).compare(wanted);
    if (order_ == 0)
      return int(middle);
    if (order_ < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return -1;
}

Value record_field(const Record* record, Value name) {
  const std::string_view wanted = view_of(name);
  const std::vector<std::string>& fields = record->type->fields;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i] == wanted)
      return const_cast<Record*>(record)->values()[i];
  }
  return Value::unset();
}

Value get_attribute(Vm& vm, Value object, Value name, bool optional) {
  const Kind kind = kind_of(object);
  switch (kind) {
    case Kind::structure:
    case Kind::module:
      if (const int slot = find_slot(as<Structure>(object)->shape, name); slot >= 0)
        return as<Structure>(object)->values()[slot];
      break;
    case Kind::record:
      if (const Value field = record_field(as<Record>(object), name); !field.is_unset())
        return field;
      break;
    case Kind::time:
    case Kind::duration:
      if (const Value field = time_field(vm, object, view_of(name)); !field.is_unset())
        return field;
      break;
    default:
      break;
  }
  const MethodRow* row = find_method_row(view_of(name));
  if (row != nullptr && row->of[static_cast<size_t>(kind)] != nullptr)
    return make_builtin(vm.heap(), row->name, row->of[static_cast<size_t>(kind)], object);
  if (optional)
    return Value::unset();
  if (kind == Kind::duration)
    return vm.fail_with("unrecognized ", type_name_of(object), " attribute \"", view_of(name),
                        "\"");
  const std::vector<std::string> names = attribute_names(vm, object);
  const std::string_view near =
      nearest_name(view_of(name), std::vector<std::string_view>(names.begin(), names.end()));
  return vm.fail_with(type_name_of(object), " has no .", view_of(name), " ",
                      kind == Kind::structure ? "attribute" : "field or method",
                      near.empty() ? std::string() : cat(" (did you mean .", near, "?)"));
}

std::vector<std::string> attribute_names(Vm&, Value object) {
  std::vector<std::string> names;
  switch (kind_of(object)) {
    case Kind::structure:
    case Kind::module: {
      auto* structure = as<Structure>(object);
      for (uint32_t i = 0; i < structure->count; ++i)
        names.emplace_back(view_of(structure->shape->names()[i]));
      break;
    }
    case Kind::record: {
      auto* record = as<Record>(object);
      for (uint32_t i = 0; i < record->count; ++i) {
        if (!record->values()[i].is_unset())
          names.push_back(record->type->fields[i]);
      }
      std::sort(names.begin(), names.end());
      break;
    }
    case Kind::time:
      names = {"day",    "hour", "minute",    "month", "nanosecond",
               "second", "unix", "unix_nano", "year"};
      break;
    case Kind::duration:
      names = {"hours", "microseconds", "milliseconds", "minutes", "nanoseconds", "seconds"};
      break;
    default:
      break;
  }
  for (const std::string_view method : method_names(kind_of(object)))
    names.emplace_back(method);
  std::sort(names.begin(), names.end());
  return names;
}

bool set_attribute(Vm& vm, Value object, Value name, Value) {
  vm.fail_with("can't assign to .", view_of(name), " field of ", type_name_of(object));
  return false;
}

void freeze_value(Value root, bool share) {
  std::vector<Object*> gray;
  const auto visit = [&](Value v) {
    if (v.is_object())
      gray.push_back(v.object());
  };
  const uint8_t wanted = share ? Object::frozen | Object::shared : Object::frozen;
  visit(root);
  while (!gray.empty()) {
    Object* o = gray.back();
    gray.pop_back();
    const bool container = o->kind == Kind::list || o->kind == Kind::dict || o->kind == Kind::set;
    if ((o->flags & wanted) == wanted)
      continue;
    if (!share && (o->flags & Object::shared))
      continue;
    if (container && !o->is_frozen())
      o->count = 0;
    o->flags |= wanted;
    const auto visit_all = [&](Value* values, size_t count) {
      for (size_t i = 0; i < count; ++i)
        visit(values[i]);
    };
    switch (o->kind) {
      case Kind::string:
      case Kind::bytes:
        if (o->flags & Object::indirect)
          static_cast<String*>(o)->buffer()->flags |= wanted;
        break;
      case Kind::list: {
        auto* list = static_cast<List*>(o);
        if (list->array() != nullptr)
          list->array()->flags |= wanted;
        visit_all(list->items, list->size);
        break;
      }
      case Kind::tuple:
        visit_all(static_cast<Tuple*>(o)->items(), o->count);
        break;
      case Kind::dict:
      case Kind::set: {
        auto* dict = static_cast<Dict*>(o);
        if (dict->entries != nullptr)
          Dict::owner(dict->entries)->flags |= wanted;
        if (dict->index != nullptr)
          Dict::owner(dict->index)->flags |= wanted;
        table_each(dict, [&](const TableEntry& entry) {
          visit(entry.key);
          visit(entry.value);
          return true;
        });
        break;
      }
      case Kind::function: {
        auto* function = static_cast<Function*>(o);
        if (function->defaults != nullptr)
          gray.push_back(function->defaults);
        visit_all(function->cells(), o->count);
        break;
      }
      case Kind::cell:
        visit(static_cast<Cell*>(o)->value);
        break;
      case Kind::builtin:
        visit(static_cast<Builtin*>(o)->self);
        break;
      case Kind::structure:
      case Kind::module: {
        auto* structure = static_cast<Structure*>(o);
        structure->shape->flags |= wanted;
        for (uint32_t i = 0; i < structure->shape->count; ++i)
          visit(structure->shape->names()[i]);
        visit(structure->constructor);
        visit_all(structure->values(), o->count);
        break;
      }
      case Kind::record:
        visit_all(static_cast<Record*>(o)->values(), o->count);
        break;
      case Kind::view:
        visit(static_cast<View*>(o)->text);
        break;
      case Kind::regex:
        visit(static_cast<RegexObject*>(o)->pattern);
        break;
      default:
        break;
    }
  }
}

}  // namespace fettle::starlark
