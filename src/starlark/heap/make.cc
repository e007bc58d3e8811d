#include "starlark/heap/make.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "starlark/code/code.h"
#include "starlark/heap/limbs.h"
#include "starlark/starlark.h"
#include "starlark/values/hash.h"

namespace fettle::starlark {

Value make_int(Heap& heap, int64_t n) {
  if (Value::fits(n)) [[likely]]
    return Value::small(n);
  const uint64_t magnitude = n < 0 ? u64(0) - u64(n) : u64(n);
  return make_int(heap, n < 0, {&magnitude, 1});
}

Value make_int(Heap& heap, bool negative, std::span<const uint64_t> limbs) {
  size_t size = limbs.size();
  while (size > 0 && limbs[size - 1] == 0)
    --size;
  if (size == 0)
    return Value::small(0);
  if (size == 1) {
    const uint64_t top = u64(Value::largest_small) + (negative ? 1 : 0);
    if (limbs[0] <= top)
      return Value::small(negative ? i64(u64(0) - limbs[0]) : i64(limbs[0]));
  }
  auto* big = heap.make<BigInt>(Kind::big_int, sizeof(BigInt) + size * 8);
  if (big == nullptr)
    return Value::error();
  heap.spend(2 + size / 4);
  big->flags |= Object::frozen;
  big->extra = negative;
  big->count = u32(size);
  std::copy_n(limbs.begin(), size, big->limbs());
  return Value::object(big);
}

Value parse_integer(Heap& heap, std::string_view digits, int radix, bool negative) {
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.size() < 12) {
    int64_t n = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), n, radix);
    return Value::small(negative ? -n : n);
  }
  if (double(digits.size() - 1) * std::log2(radix) > double(most_limbs * 64))
    return Value::error();
  Limbs limbs;
  if (!read_digits(*heap.evaluation, digits, radix, limbs))
    return Value::error();
  if (limbs.size() > most_limbs)
    return Value::error();
  return make_int(heap, negative, limbs);
}

Value make_float(Heap& heap, double x) {
  uint64_t word;
  if (Value::packs(x, word))
    return Value::of_word(word);
  heap.spend(3);
  auto* boxed = heap.make<BoxedFloat>(Kind::boxed_float);
  boxed->flags |= Object::frozen;
  boxed->number = x;
  return Value::object(boxed);
}

String* make_blank_text(Heap& heap, size_t size, Kind kind) {
  if (size > u64(0x7fffffff))
    return nullptr;
  auto* text = heap.make<String>(kind, sizeof(String) + size);
  if (text == nullptr)
    return nullptr;
  text->flags |= Object::frozen;
  text->count = u32(size);
  text->hash = 0;
  return text;
}

Value make_text(Heap& heap, std::string_view text) {
  if (text.size() <= 7)
    return Value::short_text(text);
  String* made = make_blank_text(heap, text.size());
  if (made == nullptr)
    return Value::error();
  std::memcpy(made->inside(), text.data(), text.size());
  return Value::object(made);
}

Value make_constant_text(Heap& heap, std::string_view text) {
  const Value made = make_text(heap, text);
  if (made.is_object())
    as<String>(made)->hash = hash_text(text);
  return made;
}

Value make_bytes(Heap& heap, std::string_view bytes) {
  String* made = make_blank_text(heap, bytes.size(), Kind::bytes);
  if (made == nullptr)
    return Value::error();
  if (!bytes.empty())
    std::memcpy(made->inside(), bytes.data(), bytes.size());
  return Value::object(made);
}

bool copy_values(Heap& heap, const Value* from, size_t count, Value* into) {
  constexpr size_t most = 1 << 17;
  for (; count > most; count -= most, from += most, into += most) {
    std::copy_n(from, most, into);
    if (!heap.still_wanted())
      return false;
  }
  if (count > 0)
    std::copy_n(from, count, into);
  return true;
}

bool list_reserve(Heap& heap, List* list, size_t capacity) {
  if (capacity <= list->capacity)
    return true;
  if (capacity > u64(1) << 31)
    return false;
  auto* array = heap.make<Array>(Kind::array, sizeof(Array) + capacity * sizeof(Value));
  if (array == nullptr)
    return false;
  array->count = u32(capacity);
  if (!copy_values(heap, list->items, list->size, array->items()))
    return false;
  if (list->items != nullptr)
    heap.release(list->array(), sizeof(Array) + list->capacity * sizeof(Value));
  list->items = array->items();
  list->capacity = u32(capacity);
  return true;
}

List* make_list(Heap& heap, size_t capacity) {
  auto* list = heap.make<List>(Kind::list);
  list->items = nullptr;
  list->size = 0;
  list->capacity = 0;
  if (capacity > 0 && !list_reserve(heap, list, capacity))
    return nullptr;
  return list;
}

bool list_push(Heap& heap, List* list, Value value) {
  if (list->size == list->capacity) {
    const size_t grown = list->capacity == 0 ? 4 : size_t{list->capacity} + list->capacity / 2 + 1;
    if (!list_reserve(heap, list, grown))
      return false;
  }
  list->items[list->size++] = value;
  return true;
}

Tuple* make_tuple(Heap& heap, size_t size) {
  if (size > u64(1) << 31)
    return nullptr;
  auto* tuple = heap.make<Tuple>(Kind::tuple, sizeof(Tuple) + size * sizeof(Value));
  if (tuple == nullptr)
    return nullptr;
  tuple->count = u32(size);
  return tuple;
}

Value make_tuple(Heap& heap, std::initializer_list<Value> items) {
  Tuple* tuple = make_tuple(heap, items.size());
  std::copy(items.begin(), items.end(), tuple->items());
  return Value::object(tuple);
}

int64_t range_length(int64_t start, int64_t stop, int64_t step) {
  if (step > 0)
    return stop > start ? i64((u64(stop) - u64(start) - 1) / u64(step) + 1) : 0;
  return start > stop ? i64((u64(start) - u64(stop) - 1) / (u64(0) - u64(step)) + 1) : 0;
}

Range* make_range(Heap& heap, int64_t start, int64_t stop, int64_t step) {
  auto* range = heap.make<Range>(Kind::range);
  range->flags |= Object::frozen;
  range->start = start;
  range->stop = stop;
  range->step = step;
  range->length = range_length(start, stop, step);
  return range;
}

Value make_builtin(Heap& heap, const char* name, Native native, Value self) {
  auto* builtin = heap.make<Builtin>(Kind::builtin);
  builtin->serial = heap.next_serial();
  builtin->native = native;
  builtin->name = name;
  builtin->self = self;
  builtin->host = nullptr;
  return Value::object(builtin);
}

Cell* make_cell(Heap& heap, Value value) {
  auto* cell = heap.make<Cell>(Kind::cell);
  cell->value = value;
  return cell;
}

Function* make_function(Heap& heap, const Code* code, const Value* defaults, const Value* registers,
                        Function* outer) {
  Tuple* kept = nullptr;
  if (code->defaults != 0) {
    kept = make_tuple(heap, code->defaults);
    if (kept == nullptr)
      return nullptr;
    std::copy_n(defaults, code->defaults, kept->items());
  }
  const size_t cells = code->captures.size();
  auto* made = heap.make<Function>(Kind::function, sizeof(Function) + cells * sizeof(Value));
  if (made == nullptr)
    return nullptr;
  made->code = code;
  made->module = code->module;
  made->defaults = kept;
  made->serial = heap.next_serial();
  made->count = u32(cells);
  for (size_t i = 0; i < cells; ++i) {
    const Capture& capture = code->captures[i];
    made->cells()[i] =
        capture.from_register ? registers[capture.index] : outer->cells()[capture.index];
  }
  return made;
}

Value make_structure(Heap& heap, Kind kind, Value constructor, std::span<const Value> names,
                     std::span<const Value> values) {
  static std::atomic<uint64_t> next_id{1};
  uint64_t hash = names.size();
  for (const Value& name : names)
    hash = hash * 0x9E3779B97F4A7C15u + hash_of_text(name);
  Shape* shape = heap.find_shape(names, hash);
  if (shape == nullptr) {
    shape = heap.make<Shape>(Kind::shape, sizeof(Shape) + names.size() * sizeof(Value));
    if (shape == nullptr)
      return Value::error();
    shape->flags |= Object::frozen;
    shape->count = u32(names.size());
    shape->id = next_id.fetch_add(1, std::memory_order_relaxed);
    std::copy(names.begin(), names.end(), shape->names());
    heap.add_shape(shape, hash);
  }
  auto* made = heap.make<Structure>(kind, sizeof(Structure) + values.size() * sizeof(Value));
  if (made == nullptr)
    return Value::error();
  made->count = u32(values.size());
  made->shape = shape;
  made->constructor = constructor;
  std::copy(values.begin(), values.end(), made->values());
  return Value::object(made);
}

Value make_fields(Heap& heap, Kind kind, Value constructor, std::span<const NamedValue> fields) {
  std::vector<NamedValue> sorted(fields.begin(), fields.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const NamedValue& a, const NamedValue& b) { return a.name < b.name; });
  std::vector<Value> names, values;
  for (const NamedValue& field : sorted) {
    names.push_back(make_constant_text(heap, field.name));
    values.push_back(field.value);
  }
  return make_structure(heap, kind, constructor, names, values);
}

}  // namespace fettle::starlark
