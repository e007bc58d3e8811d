/// Iteration, length and membership.

#include <algorithm>

#include "base/text.h"
#include "starlark/eval/bind.h"
#include "starlark/eval/table.h"
#include "starlark/eval/texts.h"

namespace fettle::starlark {

bool is_iterable(Value v) {
  switch (kind_of(v)) {
    case Kind::list:
    case Kind::tuple:
    case Kind::dict:
    case Kind::set:
    case Kind::range:
    case Kind::view:
      return v.is_object();
    default:
      return false;
  }
}

bool begin_iteration(Value over, Iteration& state) {
  if (!is_iterable(over))
    return false;
  state = {over, 0};
  Object* o = over.object();
  if ((o->kind == Kind::list || o->kind == Kind::dict || o->kind == Kind::set) && !o->is_frozen())
    ++o->count;
  return true;
}

void end_iteration(Value over) {
  if (!over.is_object())
    return;
  Object* o = over.object();
  if ((o->kind == Kind::list || o->kind == Kind::dict || o->kind == Kind::set) && !o->is_frozen() &&
      o->count > 0)
    --o->count;
}

bool next_item(Vm& vm, Iteration& state, Value& item) {
  Object* o = state.over.object();
  switch (o->kind) {
    case Kind::list: {
      const auto* list = static_cast<List*>(o);
      if (state.position >= list->size)
        return false;
      item = list->items[state.position++];
      return true;
    }
    case Kind::tuple:
      if (state.position >= o->count)
        return false;
      item = static_cast<Tuple*>(o)->items()[state.position++];
      return true;
    case Kind::dict:
    case Kind::set: {
      const auto* dict = static_cast<Dict*>(o);
      state.position = std::max<int64_t>(state.position, dict->first);
      while (state.position < dict->used && dict->entries[state.position].key.is_unset())
        ++state.position;
      if (state.position >= dict->used)
        return false;
      item = dict->entries[state.position++].key;
      return true;
    }
    case Kind::range: {
      const auto* range = static_cast<Range*>(o);
      if (state.position >= range->length)
        return false;
      item = make_int(vm.heap(), range->at(state.position++));
      return true;
    }
    default:
      return next_of_view(vm, *static_cast<View*>(o), state.position, item);
  }
}

size_t length_hint(Value v) {
  const std::optional<int64_t> length = length_of_value(v);
  return length ? size_t(*length) : 0;
}

std::optional<int64_t> length_of_value(Value v) {
  if (v.is_short_text())
    return i64(v.short_text().size());
  if (!v.is_object())
    return std::nullopt;
  const Object* o = v.object();
  switch (o->kind) {
    case Kind::string:
    case Kind::bytes:
    case Kind::tuple:
      return o->count;
    case Kind::list:
      return static_cast<const List*>(o)->size;
    case Kind::dict:
    case Kind::set:
      return static_cast<const Dict*>(o)->live;
    case Kind::range:
      return static_cast<const Range*>(o)->length;
    case Kind::view:
      return length_of_view(*static_cast<const View*>(o));
    default:
      return std::nullopt;
  }
}

// Whether a container has an item: 1, 0, or -1 with an error.

static int bytes_contain(Vm& vm, std::string_view bytes, Value item) {
  if (is_bytes(item)) {
    if (!charge_search(vm, bytes.size(), view_of(item).size()))
      return -1;
    return find_text(bytes, view_of(item)) != std::string_view::npos;
  }
  if (!is_int(item)) {
    vm.fail_with("'in bytes' requires bytes or int as left operand, not ", type_name_of(item));
    return -1;
  }
  int64_t n = -1;
  if (!to_int64(item, n) || n < 0 || n > 255) {
    vm.fail_with("int in bytes: ", integer_text(vm, item),
                 " out of range (want value in unsigned 8-bit range)");
    return -1;
  }
  if (!vm.charge(bytes.size() / 64))
    return -1;
  return bytes.find(static_cast<char>(n)) != std::string_view::npos;
}

static int range_contains(Vm& vm, const Range* range, Value item) {
  int64_t n = 0;
  if (is_float(item)) {
    Value whole;
    const double x = float_of(item);
    if (!float_to_integer(vm.heap(), x, whole) || compare_integer_float(whole, x) != 0 ||
        !to_int64(whole, n))
      return 0;
  } else if (!is_int(item)) {
    if (vm.is_spec())
      return 0;  // as of every other sequence
    vm.fail_with("'in <range>' requires integer as left operand, not ", type_name_of(item));
    return -1;
  } else if (!to_int64(item, n)) {
    return 0;
  }
  if (range->length == 0)
    return 0;
  const int64_t last = range->at(range->length - 1);
  if (n < std::min(range->start, last) || n > std::max(range->start, last))
    return 0;
  __extension__ const auto distance = static_cast<__int128>(n) - range->start;
  return distance % range->step == 0;
}

int contains(Vm& vm, Value container, Value item) {
  switch (kind_of(container)) {
    case Kind::string:
      if (!is_text(item)) {
        vm.fail_with("'in <string>' requires string as left operand, not ", type_name_of(item));
        return -1;
      }
      if (!charge_search(vm, view_of(container).size(), view_of(item).size()))
        return -1;
      return find_text(view_of(container), view_of(item)) != std::string_view::npos;
    case Kind::bytes:
      return bytes_contain(vm, view_of(container), item);
    case Kind::list:
    case Kind::tuple: {
      const bool is_list_ = is_list(container);
      const size_t size = is_list_ ? as<List>(container)->size : container.object()->count;
      if (!vm.charge(size))
        return -1;
      for (size_t i = 0; i < size; ++i) {
        const Value member =
            is_list_ ? as<List>(container)->items[i] : as<Tuple>(container)->items()[i];
        const int same = equal_values(vm, member, item);
        if (same != 0)
          return same;
      }
      return 0;
    }
    case Kind::dict:
    case Kind::set: {
      uint64_t hash = 0;
      const bool must = vm.is_spec() || is_set(container);
      if (must ? !hash_of(vm, item, hash) : !hash_if_any(vm, item, hash))
        return vm.failed ? -1 : 0;
      const bool found = table_find(vm, as<Dict>(container), item, hash) != nullptr;
      return vm.failed ? -1 : found;
    }
    case Kind::range:
      return range_contains(vm, as<Range>(container), item);
    default:
      vm.fail_with("unknown binary op: ", type_name_of(item), " in ", type_name_of(container));
      return -1;
  }
}

Value length_value(Vm& vm, Value v) {
  if (is_list(v))
    return Value::small(as<List>(v)->size);
  const std::optional<int64_t> length = length_of_value(v);
  if (length)
    return make_int(vm.heap(), *length);
  vm.native = "len";
  return vm.fail_with("len: value of type ", type_name_of(v), " has no len");
}

bool begin_range(Vm& vm, const Value* arguments, uint32_t count, Value* state) {
  // Start, stop and step, as far as they are given.
  Value given[] = {Value::small(0), Value::small(0), Value::small(1)};
  if (count == 1)
    given[1] = arguments[0];
  else
    std::copy_n(arguments, count, given);
  const auto& [start, stop, step] = given;
  if (start.is_small() && stop.is_small() && step.is_small() && step.small() != 0) {
    state[0] = start;
    state[1] = Value::small(range_length(start.small(), stop.small(), step.small()));
    state[2] = step;
    return true;
  }
  if (!check_range(vm, arguments, count))
    return false;
  int64_t n[3];
  for (int i = 0; i < 3; ++i)
    to_int64(given[i], n[i]);
  state[0] = Value::object(make_range(vm.heap(), n[0], n[1], n[2]));
  state[1] = state[2] = Value::small(0);
  return true;
}

}  // namespace fettle::starlark
