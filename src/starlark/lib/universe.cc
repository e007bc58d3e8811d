#include "starlark/lib/universe.h"

#include <algorithm>

#include "starlark/lib/library.h"

namespace fettle::starlark {
namespace {

/// Immutable values that all sessions of the process share.
struct Universe {
  Heap heap{std::make_shared<Budget>(u64(1) << 30, 0)};
  struct Entry {
    std::string_view name;
    Value value;
    bool kurtosis;
    bool spec;
  };
  std::vector<Entry> entries;

  Universe() {
    heap.make_shared();
    for (const MethodEntry& function : core_functions())
      add(function.name, make_builtin(heap, function.name, function.native), true, true);
    add("None", Value::none(), true, true);
    add("True", Value::boolean(true), true, true);
    add("False", Value::boolean(false), true, true);
    add("json", make_json_module(heap), true, true);
    add("struct", make_struct_function(heap), true, true);
    add("time", make_time_module(heap), true, true);
    add("math", make_math_module(heap), false, true);
    add("module", make_module_function(heap), false, true);
    add("re", make_re_module(heap), false, true);
    add("hashes", make_hash_module(heap), false, true);
    add("yaml", make_yaml_module(heap), false, true);
    add("base64", make_base64_module(heap), false, true);
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.name < b.name; });
  }
  void add(std::string_view name, Value value, bool kurtosis, bool spec) {
    entries.push_back({name, value, kurtosis, spec});
  }
};

const Universe& the_universe() {
  static const Universe universe;
  return universe;
}

bool has(const Dialect& dialect, const Universe::Entry& entry) {
  if (entry.name == "set")
    return dialect.set;
  return dialect.profile != Profile::kurtosis || entry.kurtosis;
}

}  // namespace

Value universal(const Dialect& dialect, std::string_view name) {
  const std::vector<Universe::Entry>& entries = the_universe().entries;
  const auto found = std::lower_bound(
      entries.begin(), entries.end(), name,
      [](const Universe::Entry& entry, std::string_view n) { return entry.name < n; });
  if (found == entries.end() || found->name != name || !has(dialect, *found))
    return Value::unset();
  return found->value;
}

std::vector<std::string> universal_names(const Dialect& dialect) {
  std::vector<std::string> names;
  for (const Universe::Entry& entry : the_universe().entries) {
    if (has(dialect, entry))
      names.emplace_back(entry.name);
  }
  return names;
}

}  // namespace fettle::starlark
