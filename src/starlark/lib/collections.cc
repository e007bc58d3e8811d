/// Methods of lists and dicts.

#include "starlark/lib/collections.h"

#include <algorithm>

#include "starlark/eval/bind.h"
#include "starlark/eval/table.h"
#include "starlark/lib/library.h"

namespace fettle::starlark {

bool update_dict(Vm& vm, Dict* dict, const Arguments& a) {
  if (a.count > 1) {
    vm.fail_with("got ", a.count, " arguments, want at most 1");
    return false;
  }
  const auto put = [&](Value key, Value value) {
    uint64_t hash = 0;
    if (!hash_of(vm, key, hash))
      return false;
    if (!check_mutable(vm, dict, "insert into"))
      return false;
    if (!vm.charge(3))
      return false;
    if (!table_put(vm, dict, key, hash, value)) {
      vm.fail_memory();
      return false;
    }
    return true;
  };
  if (a.count == 1) {
    const Value from = a.positional[0];
    if (is_dict(from)) {
      if (as<Dict>(from) != dict && !table_each(as<Dict>(from), [&](const TableEntry& entry) {
            return put(entry.key, entry.value);
          }))
        return false;
    } else if (is_iterable(from)) {
      size_t index = 0;
      const bool ok = for_each(vm, from, [&](Value item) {
        Iteration state;
        if (!begin_iteration(item, state)) {
          vm.fail_with("dictionary update sequence element #", index, " is not iterable (",
                       type_name_of(item), ")");
          return false;
        }
        Value pair[2];
        size_t count = 0;
        Value part;
        while (vm.charge(1) && next_item(vm, state, part)) {
          if (count < 2)
            pair[count] = part;
          ++count;
        }
        end_iteration(item);
        if (vm.failed)
          return false;
        if (count != 2) {
          vm.fail_with("dictionary update sequence element #", index, " has length ", count,
                       ", want 2");
          return false;
        }
        ++index;
        return put(pair[0], pair[1]);
      });
      if (!ok)
        return false;
    } else {
      vm.fail_with("got ", type_name_of(from), ", want iterable");
      return false;
    }
  }
  for (uint32_t i = 0; i < a.named_count; ++i) {
    for (uint32_t j = 0; j < i && a.named_count < 256; ++j) {
      if (view_of(a.names[i]) == view_of(a.names[j])) {
        vm.fail_with("duplicate keyword arg: \"", view_of(a.names[i]), "\"");
        return false;
      }
    }
    if (!put(a.names[i], a.named[i]))
      return false;
  }
  return true;
}

namespace {

// Lists.

Value list_append(Vm& vm, const Arguments& a) {
  if (a.count != 1 || a.named_count != 0) {
    want_positional(vm, a, 1, 1);
    return Value::error();
  }
  auto* list = as<List>(a.self);
  if (!check_mutable(vm, list, "append to"))
    return vm.fail_as(a.name);
  return list_push(vm.heap(), list, a.positional[0]) ? Value::none() : vm.fail_memory();
}

Value list_clear(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 0, 0))
    return Value::error();
  auto* list = as<List>(a.self);
  if (!check_mutable(vm, list, "clear"))
    return vm.fail_as(a.name);
  list->size = 0;
  return Value::none();
}

Value list_extend(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 1, 1))
    return Value::error();
  if (!is_iterable(a.positional[0]))
    return wrong_type(vm, a, 0, "iterable");
  auto* list = as<List>(a.self);
  if (!check_mutable(vm, list, "extend"))
    return vm.fail_as(a.name);
  return add_in_place(vm, a.self, a.positional[0]).is_error() ? Value::error() : Value::none();
}

/// The bounds of `index` as it clamps them.
bool clamp_bound(Vm& vm, const Arguments& a, uint32_t i, int64_t size, int64_t& bound) {
  if (a.count <= i || a.positional[i].is_none())
    return true;
  if (!is_int(a.positional[i])) {
    vm.fail_with(a.name, ": invalid ", i == 1 ? "start" : "end", " index: got ",
                 type_name_of(a.positional[i]), ", want int");
    return false;
  }
  if (!to_index_number(vm, a.positional[i], bound)) {
    vm.fail_with(a.name, ": invalid ", i == 1 ? "start" : "end",
                 " index: ", integer_text(vm, a.positional[i]), " out of range");
    return false;
  }
  if (bound < 0)
    bound = std::max<int64_t>(bound + size, 0);
  bound = std::min(bound, size);
  return true;
}

Value list_index(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 1, 3))
    return Value::error();
  const auto* list = as<List>(a.self);
  int64_t start = 0, end = list->size;
  if (!clamp_bound(vm, a, 1, list->size, start) || !clamp_bound(vm, a, 2, list->size, end))
    return Value::error();
  if (!vm.charge(list->size))
    return Value::error();
  for (int64_t i = start; i < end; ++i) {
    const int same = equal_values(vm, list->items[i], a.positional[0]);
    if (same < 0)
      return vm.fail_as(a.name);
    if (same > 0)
      return Value::small(i);
  }
  return vm.fail("index: value not in list");
}

Value list_insert(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 2, 2))
    return Value::error();
  auto* list = as<List>(a.self);
  int64_t at = 0;
  if (!want_int64(vm, a, 0, at))
    return Value::error();
  if (!check_mutable(vm, list, "insert into"))
    return vm.fail_as(a.name);
  if (at < 0)
    at = std::max<int64_t>(at + list->size, 0);
  at = std::min<int64_t>(at, list->size);
  if (!vm.charge((list->size - u64(at)) / 16))
    return Value::error();
  if (!list_push(vm.heap(), list, Value::none()))
    return vm.fail_memory();
  std::copy_backward(list->items + at, list->items + list->size - 1, list->items + list->size);
  list->items[at] = a.positional[1];
  return Value::none();
}

Value list_pop(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 0, 1))
    return Value::error();
  auto* list = as<List>(a.self);
  int64_t at = i64(list->size) - 1;
  if (a.count == 1) {
    if (!want_int64(vm, a, 0, at))
      return Value::error();
    const int64_t given = at;
    if (at < 0)
      at += list->size;
    if (at < 0 || at >= list->size) {
      if (list->size == 0)
        return vm.fail_with("pop: index ", given, " out of range: empty list");
      return vm.fail_with("pop: list index ", given, " out of range [", -i64(list->size), ":",
                          i64(list->size) - 1, "]");
    }
  } else if (list->size == 0) {
    return vm.fail("pop: index -1 out of range: empty list");
  }
  if (!check_mutable(vm, list, "pop from"))
    return vm.fail_as(a.name);
  if (!vm.charge((list->size - u64(at)) / 16))
    return Value::error();
  const Value popped = list->items[at];
  std::copy(list->items + at + 1, list->items + list->size, list->items + at);
  --list->size;
  return popped;
}

Value list_remove(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 1, 1))
    return Value::error();
  auto* list = as<List>(a.self);
  if (!check_mutable(vm, list, "remove from"))
    return vm.fail_as(a.name);
  if (!vm.charge(list->size))
    return Value::error();
  for (uint32_t i = 0; i < list->size; ++i) {
    const int same = equal_values(vm, list->items[i], a.positional[0]);
    if (same < 0)
      return vm.fail_as(a.name);
    if (same > 0) {
      std::copy(list->items + i + 1, list->items + list->size, list->items + i);
      --list->size;
      return Value::none();
    }
  }
  return vm.fail("remove: element not found");
}

// Dicts.

Value dict_clear(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 0, 0))
    return Value::error();
  if (!check_mutable(vm, a.self.object(), "clear"))
    return Value::error();
  table_clear(vm, as<Dict>(a.self));
  return Value::none();
}

Value dict_get(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 1, 2))
    return Value::error();
  uint64_t hash = 0;
  if (!hash_of(vm, a.positional[0], hash))
    return vm.fail_as(a.name);
  if (const TableEntry* entry = table_find(vm, as<Dict>(a.self), a.positional[0], hash))
    return entry->value;
  return a.count == 2 ? a.positional[1] : Value::none();
}

enum class Part { keys, values, items };
Value dict_list(Vm& vm, const Arguments& a, Part part) {
  if (!want_positional(vm, a, 0, 0))
    return Value::error();
  const auto* dict = as<Dict>(a.self);
  if (!vm.charge(part == Part::items ? u64(2) * dict->live : dict->live / 2))
    return Value::error();
  if (part == Part::items && !vm.heap().may_take(u64(dict->live) * 32))
    return vm.fail_memory();
  List* list = make_list(vm.heap(), dict->live);
  if (list == nullptr)
    return vm.fail_memory();
  table_each(dict, [&](const TableEntry& entry) {
    list->items[list->size++] = part == Part::keys ? entry.key
                                : part == Part::values
                                    ? entry.value
                                    : make_tuple(vm.heap(), {entry.key, entry.value});
    return true;
  });
  return Value::object(list);
}
Value dict_keys(Vm& vm, const Arguments& a) { return dict_list(vm, a, Part::keys); }
Value dict_values(Vm& vm, const Arguments& a) { return dict_list(vm, a, Part::values); }
Value dict_items(Vm& vm, const Arguments& a) { return dict_list(vm, a, Part::items); }

Value dict_pop(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 1, 2))
    return Value::error();
  if (!check_mutable(vm, a.self.object(), "delete from"))
    return vm.fail_as(a.name);
  uint64_t hash = 0;
  if (!is_untouched(vm, a.self) && !hash_of(vm, a.positional[0], hash))
    return vm.fail_as(a.name);
  Value removed;
  if (table_remove(vm, as<Dict>(a.self), a.positional[0], hash, &removed))
    return removed;
  return a.count == 2 ? a.positional[1] : vm.fail("pop: missing key");
}

Value dict_popitem(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 0, 0))
    return Value::error();
  auto* dict = as<Dict>(a.self);
  if (dict->live == 0)
    return vm.fail("popitem: empty dict");
  if (!check_mutable(vm, dict, "delete from"))
    return vm.fail_as(a.name);
  --vm.ticks;
  const TableEntry* first = table_first(dict);
  const Value pair = make_tuple(vm.heap(), {first->key, first->value});
  table_remove(vm, dict, first->key, first->hash);
  return pair;
}

Value dict_setdefault(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 1, 2))
    return Value::error();
  uint64_t hash = 0;
  if (!hash_of(vm, a.positional[0], hash))
    return vm.fail_as(a.name);
  auto* dict = as<Dict>(a.self);
  if (const TableEntry* entry = table_find(vm, dict, a.positional[0], hash))
    return entry->value;
  if (!check_mutable(vm, dict, "insert into"))
    return vm.fail_as(a.name);
  const Value value = a.count == 2 ? a.positional[1] : Value::none();
  return table_put(vm, dict, a.positional[0], hash, value) ? value : vm.fail_memory();
}

Value dict_update(Vm& vm, const Arguments& a) {
  if (!update_dict(vm, as<Dict>(a.self), a))
    return vm.fail_as(a.name);
  return Value::none();
}

constexpr MethodEntry list_table[] = {
    {"append", list_append}, {"clear", list_clear}, {"extend", list_extend}, {"index", list_index},
    {"insert", list_insert}, {"pop", list_pop},     {"remove", list_remove}};
constexpr MethodEntry dict_table[] = {{"clear", dict_clear},
                                      {"get", dict_get},
                                      {"items", dict_items},
                                      {"keys", dict_keys},
                                      {"pop", dict_pop},
                                      {"popitem", dict_popitem},
                                      {"setdefault", dict_setdefault},
                                      {"update", dict_update},
                                      {"values", dict_values}};
}  // namespace

std::span<const MethodEntry> list_methods() { return list_table; }
std::span<const MethodEntry> dict_methods() { return dict_table; }

}  // namespace fettle::starlark
