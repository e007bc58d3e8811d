/// Checks the arguments of native functions. Errors are worded as in starlark-go.

#include "base/text.h"
#include "starlark/eval/bind.h"
#include "starlark/syntax/spelling.h"

namespace fettle::starlark {
namespace {

/// Null if the value fits, else the type that was wanted.
const char* misfit(Value value, ParameterType type) {
  switch (type) {
    case ParameterType::any:
      return nullptr;
    case ParameterType::text:
      return is_text(value) ? nullptr : "string";
    case ParameterType::integer:
    case ParameterType::int64:
      return is_int(value) ? nullptr : "int";
    case ParameterType::boolean:
      return value.is_bool() ? nullptr : "bool";
    case ParameterType::callable:
      return is_kind(value, Kind::function) || is_kind(value, Kind::builtin) ? nullptr : "callable";
    case ParameterType::iterable:
      return is_iterable(value) ? nullptr : "iterable";
  }
  return nullptr;
}

bool unexpected_name(Vm& vm, const Arguments& arguments, std::span<const char* const> names,
                     uint32_t n) {
  std::vector<std::string_view> known;
  for (const char* name : names)
    known.push_back(plain_name(name));
  const std::string_view near = nearest_name(view_of(arguments.names[n]), known);
  vm.fail_with(arguments.name, ": unexpected keyword argument ", quoted_name(arguments.names[n]),
               near.empty() ? "" : " (did you mean ", near, near.empty() ? "" : "?)");
  return false;
}

}  // namespace

bool wrong_count(Vm& vm, const Arguments& arguments, uint32_t least, uint32_t most) {
  if (arguments.named_count > 0)
    vm.fail_with(arguments.name, ": unexpected keyword arguments");
  else if (arguments.count < least)
    vm.fail_with(arguments.name, ": got ", arguments.count, " arguments, want ",
                 least < most ? "at least " : "", least);
  else
    vm.fail_with(arguments.name, ": got ", arguments.count, " arguments, want ",
                 least < most ? "at most " : "", most);
  return false;
}

bool want_exactly_one(Vm& vm, const Arguments& arguments) {
  if (!want_no_names(vm, arguments))
    return false;
  if (arguments.count != 1)
    vm.fail_with(arguments.name, ": got ", arguments.count, " arguments, want exactly 1");
  return arguments.count == 1;
}

bool want_no_names(Vm& vm, const Arguments& arguments) {
  if (arguments.named_count > 0)
    vm.fail_with(arguments.name, " does not accept keyword arguments");
  return arguments.named_count == 0;
}

bool want_int64(Vm& vm, const Arguments& arguments, uint32_t index, int64_t& out) {
  const Value given = arguments.positional[index];
  if (!is_int(given)) {
    wrong_type(vm, arguments, index, "int");
    return false;
  }
  if (!to_int64(given, out)) {
    vm.fail_with(arguments.name, ": for parameter ", index + 1, ": ", integer_text(vm, given),
                 " out of range (want value in signed 64-bit range)");
    return false;
  }
  return true;
}

bool want_named(Vm& vm, const Arguments& arguments, std::span<const char* const> names, Value* out,
                std::span<const ParameterType> types) {
  if (arguments.count > names.size()) {
    vm.fail_with(arguments.name, ": got ", arguments.count, " arguments, want at most ",
                 names.size());
    return false;
  }
  const auto fits = [&](size_t slot, Value value, const char* quote) {
    if (slot >= types.size() || (value.is_none() && std::string_view(names[slot]).ends_with("??")))
      return true;
    const char* const wanted = misfit(value, types[slot]);
    int64_t n = 0;
    if (types[slot] == ParameterType::int64 && wanted == nullptr && !to_int64(value, n)) {
      vm.fail_with(arguments.name, ": for parameter ", quote, plain_name(names[slot]), quote, ": ",
                   integer_text(vm, value), " out of range (want value in signed 64-bit range)");
      return false;
    }
    if (wanted != nullptr)
      vm.fail_with(arguments.name, ": for parameter ", quote, plain_name(names[slot]), quote,
                   ": got ", type_name_of(value), ", want ", wanted);
    return wanted == nullptr;
  };
  for (size_t i = 0; i < names.size(); ++i) {
    out[i] = i < arguments.count ? arguments.positional[i] : Value::unset();
    if (i < arguments.count && !fits(i, out[i], ""))
      return false;
  }
  for (uint32_t n = 0; n < arguments.named_count; ++n) {
    const std::string_view given = view_of(arguments.names[n]);
    size_t slot = 0;
    while (slot < names.size() && plain_name(names[slot]) != given)
      ++slot;
    if (slot == names.size())
      return unexpected_name(vm, arguments, names, n);
    if (!out[slot].is_unset()) {
      vm.fail_with(arguments.name, ": got multiple values for keyword argument ",
                   quoted_name(arguments.names[n]));
      return false;
    }
    out[slot] = arguments.named[n];
    if (!fits(slot, out[slot], "\""))
      return false;
  }
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string_view name = names[i];
    if (name.ends_with("??") && out[i].is_none())
      out[i] = Value::unset();
    if (out[i].is_unset() && !name.ends_with('?')) {
      vm.fail_with(arguments.name, ": missing argument for ", name);
      return false;
    }
  }
  return true;
}

Value wrong_type(Vm& vm, const Arguments& arguments, uint32_t index, std::string_view wanted) {
  return vm.fail_with(arguments.name, ": for parameter ", index + 1, ": got ",
                      type_name_of(arguments.positional[index]), ", want ", wanted);
}

Value wrong_type(Vm& vm, const Arguments& arguments, const char* parameter, Value got,
                 std::string_view wanted) {
  std::string_view name = parameter;
  while (name.ends_with('?'))
    name.remove_suffix(1);
  // An argument by name is quoted in the message.
  bool by_name = false;
  for (uint32_t i = 0; i < arguments.named_count; ++i)
    by_name = by_name || view_of(arguments.names[i]) == name;
  const char* const quote = by_name ? "\"" : "";
  return vm.fail_with(arguments.name, ": for parameter ", quote, name, quote, ": got ",
                      type_name_of(got), ", want ", wanted);
}

}  // namespace fettle::starlark
