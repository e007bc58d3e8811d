/// The functions that every program sees.

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "starlark/eval/bind.h"
#include "starlark/eval/table.h"
#include "starlark/eval/texts.h"
#include "starlark/lib/collections.h"
#include "starlark/lib/conversions.h"
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
    // starlark-go's sets do not have these methods.
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
  static constexpr ParameterType types[] = {ParameterType::iterable, ParameterType::callable,
                                            ParameterType::boolean};
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
