/// The ways in which names get values without assignment: `load`, unpacking, the arguments of
/// `range`; and the errors for names without a value.

#include <algorithm>

#include "base/text.h"
#include "starlark/eval/bind.h"
#include "starlark/syntax/spelling.h"

namespace fettle::starlark {

Value unset_local(Vm& vm, Value name) {
  return vm.fail_with("local variable ", view_of(name), " referenced before assignment");
}
Value unset_global(Vm& vm, const ModuleState& module, uint32_t index) {
  return vm.fail_with("global variable ", module.global_names[index],
                      " referenced before assignment");
}

bool load_names(Vm& vm, const LoadSite& site, Value* into) {
  if (!vm.session.session->load || vm.dialect().profile == Profile::kurtosis) {
    vm.fail(vm.dialect().profile == Profile::kurtosis
                ? cat("cannot load ", site.module, ": use import_module instead of load")
                : std::string("load not implemented by this application"));
    return false;
  }
  Thread thread(static_cast<Thread::State*>(&vm));
  vm.flush_steps();
  Result<ModulePtr> loaded = vm.session.session->load(thread, site.module);
  if (!loaded) {
    Error error = std::move(loaded).error();
    if (error.trace.empty() || error.blame == Blame::world)
      error.message = cat("cannot load ", site.module, ": ", error.message);
    vm.fail_with_error(std::move(error));
    return false;
  }
  for (size_t i = 0; i < site.names.size(); ++i) {
    const std::optional<Value> value = (*loaded)->get(site.names[i]);
    if (!value) {
      const auto globals = (*loaded)->globals();
      std::vector<std::string_view> names;
      for (const auto& [name, ignored] : globals)
        names.push_back(name);
      std::sort(names.begin(), names.end());
      const std::string_view near = nearest_name(site.names[i], names);
      vm.fail_with("load: name ", site.names[i], " not found in module ", site.module,
                   near.empty() ? "" : " (did you mean ", near, near.empty() ? "" : "?)");
      return false;
    }
    into[i] = *value;
  }
  vm.loaded.push_back(std::move(*loaded));
  return true;
}

bool unpack(Vm& vm, Value over, Value* into, uint32_t wanted) {
  Iteration state;
  if (!begin_iteration(over, state)) {
    vm.fail_with("got ", type_name_of(over), " in sequence assignment");
    return false;
  }
  uint32_t count = 0;
  Value item;
  std::vector<Value> items;
  while (count <= wanted && next_item(vm, state, item)) {
    if (count < wanted)
      items.push_back(item);
    ++count;
  }
  end_iteration(over);
  if (vm.failed)
    return false;
  if (count < wanted) {
    vm.fail_with("too few values to unpack (got ", count, ", want ", wanted, ")");
    return false;
  }
  if (count > wanted) {
    vm.fail_with("too many values to unpack (got ", length_of_value(over).value_or(-1), ", want ",
                 wanted, ")");
    return false;
  }
  std::copy(items.begin(), items.end(), into);
  return true;
}

bool check_range(Vm& vm, const Value* given, uint32_t count) {
  int64_t n[] = {0, 0, 1};
  for (uint32_t i = 0; i < count; ++i) {
    if (!is_int(given[i])) {
      vm.native = "range";
      vm.fail_with("range: for parameter ", i + 1, ": got ", type_name_of(given[i]), ", want int");
      return false;
    }
    if (!to_int64(given[i], n[i])) {
      vm.native = "range";
      vm.fail_with("range: for parameter ", i + 1, ": ", integer_text(vm, given[i]),
                   " out of range (want value in signed 64-bit range)");
      return false;
    }
    if (i == 2 && n[i] == 0) {
      vm.native = "range";
      vm.fail("range: step argument must not be zero");
      return false;
    }
  }
  if (count > 1 && range_length(n[0], n[1], n[2]) < 0) {
    vm.native = "range";
    vm.fail("range: too many elements");
    return false;
  }
  return true;
}

}  // namespace fettle::starlark
