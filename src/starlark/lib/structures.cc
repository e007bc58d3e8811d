/// `struct(**fields)` and `module(name, **fields)`.

#include <algorithm>
#include <bit>

#include "starlark/eval/bind.h"
#include "starlark/lib/library.h"

namespace fettle::starlark {
namespace {

Value with_fields(Vm& vm, const Arguments& a, Kind kind, Value constructor) {
  constexpr uint32_t most_on_stack = 32;
  if (!vm.charge(1 + u64(a.named_count) * (2 + u64(std::bit_width(a.named_count)))))
    return Value::error();
  Value names_there[most_on_stack], values_there[most_on_stack];
  std::vector<Value> names_elsewhere, values_elsewhere;
  Value* names = names_there;
  Value* values = values_there;
  if (a.named_count > most_on_stack) {
    names_elsewhere.resize(a.named_count);
    values_elsewhere.resize(a.named_count);
    names = names_elsewhere.data();
    values = values_elsewhere.data();
  }
  if (a.named_count > 64) {
    std::vector<uint32_t> places(a.named_count);
    for (uint32_t i = 0; i < a.named_count; ++i)
      places[i] = i;
    std::sort(places.begin(), places.end(),
              [&](uint32_t x, uint32_t y) { return view_of(a.names[x]) < view_of(a.names[y]); });
    for (uint32_t i = 0; i < a.named_count; ++i) {
      names[i] = a.names[places[i]];
      values[i] = a.named[places[i]];
    }
  } else {
    for (uint32_t i = 0; i < a.named_count; ++i) {
      uint32_t at = i;
      for (; at > 0 && view_of(a.names[i]) < view_of(names[at - 1]); --at) {
        names[at] = names[at - 1];
        values[at] = values[at - 1];
      }
      names[at] = a.names[i];
      values[at] = a.named[i];
    }
  }
  for (uint32_t i = 1; i < a.named_count; ++i) {
    if (view_of(names[i]) == view_of(names[i - 1]))
      return vm.fail_with(a.name, ": got multiple values for keyword argument \"",
                          view_of(names[i]), "\"");
  }
  const Value made =
      make_structure(vm.heap(), kind, constructor, {names, a.named_count}, {values, a.named_count});
  return made.is_error() ? vm.fail_memory() : made;
}

Value struct_function(Vm& vm, const Arguments& a) {
  if (a.count > 0)
    return vm.fail("struct: unexpected positional arguments");
  return with_fields(vm, a, Kind::structure, Value::short_text("struct"));
}

Value module_function(Vm& vm, const Arguments& a) {
  if (a.count != 1)
    return vm.fail_with("module: got ", a.count, " arguments, want 1");
  if (!is_text(a.positional[0]))
    return wrong_type(vm, a, 0, "string");
  return with_fields(vm, a, Kind::module, a.positional[0]);
}

}  // namespace

Value make_struct_function(Heap& heap) { return make_builtin(heap, "struct", struct_function); }
Value make_module_function(Heap& heap) { return make_builtin(heap, "module", module_function); }

Value make_library(Heap& heap, std::string_view name, std::span<const MethodEntry> functions,
                   std::span<const NamedValue> values) {
  std::vector<NamedValue> all(values.begin(), values.end());
  for (const MethodEntry& function : functions) {
    // `json.decode` is the field `decode`.
    const std::string_view full = function.name;
    all.push_back(
        {full.substr(full.rfind('.') + 1), make_builtin(heap, function.name, function.native)});
  }
  return make_fields(heap, Kind::module, make_text(heap, name), all);
}

}  // namespace fettle::starlark
