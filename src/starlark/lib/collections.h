#pragma once
/// What `dict(…)` and `dict.update(…)` share.

#include "starlark/eval/vm.h"

namespace fettle::starlark {

bool update_dict(Vm& vm, Dict* dict, const Arguments& arguments);

}  // namespace fettle::starlark
