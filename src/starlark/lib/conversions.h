#pragma once
/// Functions of the universe that turn one value into another, for its table in core.cc.

#include "starlark/eval/vm.h"

namespace fettle::starlark {

Value core_bool(Vm& vm, const Arguments& a);
Value core_bytes(Vm& vm, const Arguments& a);
Value core_chr(Vm& vm, const Arguments& a);
Value core_float(Vm& vm, const Arguments& a);
Value core_hash(Vm& vm, const Arguments& a);
Value core_int(Vm& vm, const Arguments& a);
Value core_ord(Vm& vm, const Arguments& a);
Value core_repr(Vm& vm, const Arguments& a);
Value core_str(Vm& vm, const Arguments& a);
Value core_type(Vm& vm, const Arguments& a);

}  // namespace fettle::starlark
