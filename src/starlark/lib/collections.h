#pragma once
/// What `dict(…)` and `dict.update(…)` share.

#include "starlark/eval/vm.h"

namespace fettle::starlark {

bool update_dict(Vm& vm, Dict* dict, const Arguments& arguments);

/// Whether nothing was ever put into a dict or set; then starlark-go looks at no hash.
inline bool is_untouched(const Vm& vm, Value table) {
  return as<Dict>(table)->entries == nullptr && !vm.is_spec();
}

}  // namespace fettle::starlark
