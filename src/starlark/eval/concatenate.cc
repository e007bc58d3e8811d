#include "starlark/eval/concatenate.h"

#include <algorithm>

namespace fettle::starlark {

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
  if (!vm.charge(1 + size / 32))
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
  if (!copy_values(vm.heap(), a->items, a->size, made->items) ||
      !copy_values(vm.heap(), b->items, b->size, made->items + a->size))
    return Value::error();
  made->size = a->size + b->size;
  return Value::object(made);
}

Value join_tuples(Vm& vm, const Tuple* a, const Tuple* b) {
  if (!vm.charge(1 + (a->count + b->count) / 4))
    return Value::error();
  Tuple* made = make_tuple(vm.heap(), size_t{a->count} + b->count);
  if (made == nullptr)
    return vm.fail_memory();
  if (!copy_values(vm.heap(), a->items(), a->count, made->items()) ||
      !copy_values(vm.heap(), b->items(), b->count, made->items() + a->count))
    return Value::error();
  return Value::object(made);
}

namespace {

constexpr uint64_t most_repeated = u64(1) << 30;

/// How often a sequence of `size` is repeated. -1: the result is too large, and there is an error.
int64_t repeat_count(Vm& vm, Value count, uint64_t size, bool is_bytes_) {
  int64_t n = 0;
  if (!to_int64(count, n)) {
    if (integer_sign(count) < 0 || size == 0)
      return 0;
    vm.fail_with("repeat count ", integer_text(vm, count), " too large");
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

/// Repeats bytes: the part that is there is doubled, and later copied by the megabyte.
bool fill(Vm& vm, char* into, size_t size, std::string_view text) {
  constexpr size_t most = 1 << 20;
  for (size_t done = 0, more = 0; done < size; done += more) {
    const bool first = done < text.size();
    const size_t phase = done % text.size();
    more = std::min({first ? text.size() - done : done - phase, size - done, most});
    std::memcpy(into + done, first ? text.data() + done : into + phase, more);
    if (more == most && !vm.still_wanted())
      return false;
  }
  return true;
}

}  // namespace

bool is_repeatable(Value v) {
  const Kind kind = kind_of(v);
  return kind == Kind::string || kind == Kind::bytes || kind == Kind::list || kind == Kind::tuple;
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
    return fill(vm, made->inside(), size, text) ? Value::object(made) : Value::error();
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
  const std::string_view bytes(reinterpret_cast<const char*>(from), size * sizeof(Value));
  const bool done = total <= size
                        ? copy_values(vm.heap(), from, total, into)
                        : fill(vm, reinterpret_cast<char*>(into), total * sizeof(Value), bytes);
  return done ? result : Value::error();
}

}  // namespace fettle::starlark
