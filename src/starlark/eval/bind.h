#pragma once
/// Calls: how arguments reach parameters, for Starlark functions and native ones.

#include <span>

#include "starlark/eval/ops.h"

namespace fettle::starlark {

/// Calls with named arguments and without `*` and `**`. The site remembers how they match.
bool enter_with_names(Vm& vm, Function* function, Value* base, const CallSite& site, uint16_t into);
/// Calls a value that is no Starlark function, or calls with `*` or `**`. `entered` says whether a
/// Starlark function was put on the stack.
Value call_general(Vm& vm, Value* at, const CallSite& site, uint16_t into, bool& entered);
/// Calls a method or another native function with positional arguments. While it runs, and when
/// it fails, `vm.native` is its name.
inline Value invoke(Vm& vm, Native native, const char* name, Value self, const Value* positional,
                    uint32_t count, const Builtin* function = nullptr) {
  Arguments arguments;
  arguments.self = self;
  arguments.positional = positional;
  arguments.count = count;
  arguments.function = function;
  arguments.name = name;
  vm.native = name;
  const Value result = native(vm, arguments);
  if (!result.is_error()) [[likely]]
    vm.native = nullptr;
  return result;
}
inline Value invoke(Vm& vm, const Builtin& builtin, const Value* positional, uint32_t count) {
  return invoke(vm, builtin.native, builtin.name, builtin.self, positional, count, &builtin);
}
/// Does the same with the arguments of a call text, which stand behind the receiver `at`.
Value invoke_method(Vm& vm, Native native, const char* name, const Value* at, const CallSite& site);
/// Calls a value that is no Starlark function.
Value call_native(Vm& vm, Value called, const Arguments& arguments);
/// The name of a parameter without the `?` that makes it optional.
inline std::string_view plain_name(std::string_view name) {
  return name.substr(0, name.find_last_not_of('?') + 1);
}
/// The name of a parameter as errors write it.
std::string quoted_name(Value name);
/// Errors for variables that are read before they have a value.
Value unset_local(Vm& vm, Value name);
Value unset_global(Vm& vm, const ModuleState& module, uint32_t index);
bool load_names(Vm& vm, const LoadSite& site, Value* into);
bool unpack(Vm& vm, Value over, Value* into, uint32_t wanted);

/// Checks the arguments of `range`. False: they are wrong, and there is an error.
bool check_range(Vm& vm, const Value* arguments, uint32_t count);

// Checks of the arguments of native functions. Errors are worded as in starlark-go.

/// Reports that there are names, or too few or too many arguments.
bool wrong_count(Vm& vm, const Arguments& arguments, uint32_t least, uint32_t most);
/// Takes positional arguments only.
inline bool want_positional(Vm& vm, const Arguments& arguments, uint32_t least, uint32_t most) {
  return (arguments.named_count == 0 && arguments.count >= least && arguments.count <= most) ||
         wrong_count(vm, arguments, least, most);
}
/// What a parameter takes.
enum class ParameterType : uint8_t { any, text, integer, int64, boolean, callable, iterable };
/// Takes arguments by position or name, and checks their types in the order in which they are
/// given. The name of an optional one ends with `?`. `out` receives one value each; a missing one
/// is unset.
bool want_named(Vm& vm, const Arguments& arguments, std::span<const char* const> names, Value* out,
                std::span<const ParameterType> types = {});
/// The error of the few functions that count arguments themselves: "f: got 2 arguments, want
/// exactly 1".
bool want_exactly_one(Vm& vm, const Arguments& arguments);
/// Refuses named arguments: "f does not accept keyword arguments".
bool want_no_names(Vm& vm, const Arguments& arguments);
/// Takes a 64-bit integer. Otherwise the error has its type or its range.
bool want_int64(Vm& vm, const Arguments& arguments, uint32_t index, int64_t& out);
/// Error "f: for parameter 1: got int, want string".
Value wrong_type(Vm& vm, const Arguments& arguments, uint32_t index, std::string_view wanted);
Value wrong_type(Vm& vm, const Arguments& arguments, const char* parameter, Value got,
                 std::string_view wanted);

}  // namespace fettle::starlark
