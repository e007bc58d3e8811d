#pragma once
/// Methods of texts that have a file of their own.

#include "starlark/eval/vm.h"

namespace fettle::starlark {

Value string_split(Vm& vm, const Arguments& a);
Value string_rsplit(Vm& vm, const Arguments& a);
Value string_splitlines(Vm& vm, const Arguments& a);

}  // namespace fettle::starlark
