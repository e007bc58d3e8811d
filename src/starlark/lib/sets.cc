/// Methods of sets.

#include "starlark/eval/bind.h"
#include "starlark/eval/table.h"
#include "starlark/lib/collections.h"
#include "starlark/lib/library.h"

namespace fettle::starlark {
namespace {

bool want_hash(Vm& vm, const Arguments& a, Value v, uint64_t& hash) {
  if (hash_of(vm, v, hash))
    return true;
  vm.fail_as(a.name);
  return false;
}

Value set_add(Vm& vm, const Arguments& a) {
  uint64_t hash = 0;
  if (!want_positional(vm, a, 1, 1) || !want_hash(vm, a, a.positional[0], hash))
    return Value::error();
  if (!check_mutable(vm, a.self.object(), "insert into"))
    return vm.fail_as(a.name);
  return table_put(vm, as<Dict>(a.self), a.positional[0], hash, Value::none()) ? Value::none()
                                                                               : vm.fail_memory();
}

Value set_clear(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 0, 0))
    return Value::error();
  if (as<Dict>(a.self)->live == 0)
    return Value::none();
  if (!check_mutable(vm, a.self.object(), "clear"))
    return Value::error();
  table_clear(vm, as<Dict>(a.self));
  return Value::none();
}

Value set_remove_member(Vm& vm, const Arguments& a, bool must) {
  if (!want_positional(vm, a, 1, 1))
    return Value::error();
  uint64_t hash = 0;
  const bool looks = !must || !is_untouched(vm, a.self);
  if (looks && !want_hash(vm, a, a.positional[0], hash))
    return Value::error();
  if (!check_mutable(vm, a.self.object(), "delete from"))
    return vm.fail_as(a.name);
  if (!table_remove(vm, as<Dict>(a.self), a.positional[0], hash) && must)
    return vm.fail("remove: missing key");
  return Value::none();
}
Value set_remove(Vm& vm, const Arguments& a) { return set_remove_member(vm, a, true); }
Value set_discard(Vm& vm, const Arguments& a) { return set_remove_member(vm, a, false); }

Value set_pop(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 0, 0))
    return Value::error();
  auto* set = as<Dict>(a.self);
  if (set->live == 0)
    return vm.fail("pop: empty set");
  if (!check_mutable(vm, set, "delete from"))
    return vm.fail_as(a.name);
  const TableEntry* first = table_first(set);
  const Value key = first->key;
  table_remove(vm, set, key, first->hash);
  return key;
}

/// The members of any iterable as a new set. Null: there was an error.
Dict* as_set(Vm& vm, const Arguments& a, Value from, uint32_t index) {
  if (is_set(from))
    return as<Dict>(from);
  const std::string_view method = a.name;
  if (!is_iterable(from) && (method == "union" || method == "update")) {
    vm.fail_with(method, ": argument #", index + 1, " is not iterable: ", type_name_of(from));
    return nullptr;
  }
  if (!is_iterable(from)) {
    vm.fail_with(a.name, ": for parameter ", index + 1, ": got ", type_name_of(from),
                 ", want iterable");
    return nullptr;
  }
  Dict* made = make_set(vm);
  const bool ok = for_each(vm, from, [&](Value item) {
    uint64_t hash = 0;
    return vm.charge(3) && want_hash(vm, a, item, hash) &&
           (table_put(vm, made, item, hash, Value::none()) || !vm.fail_memory().is_error());
  });
  return ok ? made : nullptr;
}

Dict* copy_set(Vm& vm, const Dict* set) {
  if (!vm.charge(u64(3) * set->live))
    return nullptr;
  Dict* made = make_set(vm);
  const bool ok = table_each(set, [&](const TableEntry& entry) {
    return table_put(vm, made, entry.key, entry.hash, Value::none());
  });
  if (!ok)
    vm.fail_memory();
  return ok ? made : nullptr;
}

/// Changes `set` by each argument. `keep`: members of the argument stay; `drop`: they go.
enum class Change { add, keep, drop, toggle };
bool change_set(Vm& vm, const Arguments& a, Dict* set, Change change) {
  for (uint32_t i = 0; i < a.count; ++i) {
    if (change == Change::drop && is_untouched(vm, Value::object(set)) &&
        is_iterable(a.positional[i]))
      continue;
    Dict* other = as_set(vm, a, a.positional[i], i);
    if (other == nullptr || !vm.charge(u64(3) * (u64(set->live) + other->live)))
      return false;
    std::vector<TableEntry> entries;
    const Dict* walked = change == Change::keep ? set : other;
    table_each(walked, [&](const TableEntry& entry) { return entries.push_back(entry), true; });
    for (const TableEntry& entry : entries) {
      bool ok = true;
      switch (change) {
        case Change::add:
          ok = table_put(vm, set, entry.key, entry.hash, Value::none());
          break;
        case Change::drop:
          table_remove(vm, set, entry.key, entry.hash);
          break;
        case Change::keep:
          if (table_find(vm, other, entry.key, entry.hash) == nullptr)
            table_remove(vm, set, entry.key, entry.hash);
          break;
        case Change::toggle:
          if (!table_remove(vm, set, entry.key, entry.hash))
            ok = table_put(vm, set, entry.key, entry.hash, Value::none());
          break;
      }
      if (!ok) {
        vm.fail_memory();
        return false;
      }
    }
  }
  return true;
}

Value changed_copy(Vm& vm, const Arguments& a, Change change, bool variadic) {
  if (a.named_count > 0 && change == Change::add)
    return vm.fail_with(a.name, ": does not accept keyword arguments");
  if (!variadic && a.count > 1 && a.named_count == 0)
    return vm.fail_with(a.name, ": got ", a.count, " arguments, want at most 1");
  if (a.named_count > 0 || (!variadic && a.count != 1)) {
    want_positional(vm, a, 1, 1);
    return Value::error();
  }
  Dict* made = copy_set(vm, as<Dict>(a.self));
  return made != nullptr && change_set(vm, a, made, change) ? Value::object(made) : Value::error();
}
Value change_self(Vm& vm, const Arguments& a, Change change, const char* verb) {
  if (a.named_count > 0 && change == Change::add)
    return vm.fail_with(a.name, ": does not accept keyword arguments");
  if (a.named_count > 0) {
    want_positional(vm, a, 0, 255);
    return Value::error();
  }
  if (!check_mutable(vm, a.self.object(), verb))
    return vm.fail_as(a.name);
  return change_set(vm, a, as<Dict>(a.self), change) ? Value::none() : Value::error();
}
Value set_union(Vm& vm, const Arguments& a) { return changed_copy(vm, a, Change::add, true); }
Value set_intersection(Vm& vm, const Arguments& a) {
  return changed_copy(vm, a, Change::keep, vm.is_spec());
}
Value set_difference(Vm& vm, const Arguments& a) {
  return changed_copy(vm, a, Change::drop, vm.is_spec());
}
Value set_symmetric_difference(Vm& vm, const Arguments& a) {
  return changed_copy(vm, a, Change::toggle, false);
}
Value set_update(Vm& vm, const Arguments& a) {
  return change_self(vm, a, Change::add, "insert into");
}
Value set_intersection_update(Vm& vm, const Arguments& a) {
  return change_self(vm, a, Change::keep, "delete from");
}
Value set_difference_update(Vm& vm, const Arguments& a) {
  return change_self(vm, a, Change::drop, "delete from");
}
Value set_symmetric_difference_update(Vm& vm, const Arguments& a) {
  return change_self(vm, a, Change::toggle, "insert into");
}

Value compare_sets(Vm& vm, const Arguments& a, bool mine_in_other, bool other_in_mine,
                   bool disjoint) {
  if (a.count > 1 && a.named_count == 0)
    return vm.fail_with(a.name, ": got ", a.count, " arguments, want at most 1");
  if (!want_positional(vm, a, 1, 1))
    return Value::error();
  const auto* mine = as<Dict>(a.self);
  const Dict* other = as_set(vm, a, a.positional[0], 0);
  if (other == nullptr || !vm.charge(u64(2) * (u64(mine->live) + other->live)))
    return Value::error();
  const auto inside = [&vm](const Dict* part, const Dict* whole, bool wanted) {
    return table_each(part, [&](const TableEntry& entry) {
      return (table_find(vm, whole, entry.key, entry.hash) != nullptr) == wanted;
    });
  };
  if (disjoint)
    return Value::boolean(inside(mine, other, false));
  return Value::boolean((!mine_in_other || inside(mine, other, true)) &&
                        (!other_in_mine || inside(other, mine, true)));
}
/// Another iterable is read only until every member was seen.
Value set_issubset(Vm& vm, const Arguments& a) {
  if (a.count != 1 || a.named_count > 0 || is_set(a.positional[0]) || !is_iterable(a.positional[0]))
    return compare_sets(vm, a, true, false, false);
  const auto* mine = as<Dict>(a.self);
  if (mine->live == 0)
    return Value::boolean(true);
  Dict* seen = make_set(vm);
  for_each(vm, a.positional[0], [&](Value item) {
    uint64_t hash = 0;
    if (!vm.charge(3) || !want_hash(vm, a, item, hash))
      return false;
    if (table_find(vm, mine, item, hash) != nullptr &&
        !table_put(vm, seen, item, hash, Value::none()))
      return !vm.fail_memory().is_error();
    return seen->live < mine->live;
  });
  return vm.failed ? Value::error() : Value::boolean(seen->live == mine->live);
}
Value set_issuperset(Vm& vm, const Arguments& a) { return compare_sets(vm, a, false, true, false); }
Value set_isdisjoint(Vm& vm, const Arguments& a) { return compare_sets(vm, a, false, false, true); }

constexpr MethodEntry set_table[] = {
    {"add", set_add},
    {"clear", set_clear},
    {"difference", set_difference},
    {"difference_update", set_difference_update, true},
    {"discard", set_discard},
    {"intersection", set_intersection},
    {"intersection_update", set_intersection_update},
    {"isdisjoint", set_isdisjoint},
    {"issubset", set_issubset},
    {"issuperset", set_issuperset},
    {"pop", set_pop},
    {"remove", set_remove},
    {"symmetric_difference", set_symmetric_difference},
    {"symmetric_difference_update", set_symmetric_difference_update},
    {"union", set_union},
    {"update", set_update}};

}  // namespace

std::span<const MethodEntry> set_methods() { return set_table; }

}  // namespace fettle::starlark
