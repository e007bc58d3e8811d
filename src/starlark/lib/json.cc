/// `json.encode`, `json.decode`, `json.indent`.

#include "base/text.h"
#include "starlark/eval/bind.h"
#include "starlark/eval/table.h"
#include "starlark/eval/texts.h"
#include "starlark/lib/library.h"
#include "starlark/lib/strings.h"

namespace fettle::starlark {
namespace {

Value json_encode(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 1, 1))
    return Value::error();
  std::string out, problem;
  if (!encode_json(vm, out, a.positional[0], problem))
    return vm.fail_with("json.encode: ", problem);
  return vm.charge(out.size() / 4) ? finish(vm, out) : Value::error();
}

Value json_decode(Vm& vm, const Arguments& a) {
  Value given[2];
  static constexpr const char* names[] = {"x", "default?"};
  static constexpr ParameterType types[] = {ParameterType::text, ParameterType::any};
  static constexpr const char* names_of_2023[] = {"1", "default?"};
  const bool old = vm.dialect().profile == Profile::kurtosis;
  if ((old && !want_positional(vm, a, 1, 1)) ||
      !want_named(vm, a, old ? names_of_2023 : names, given, types))
    return Value::error();
  if (a.count == 0)
    return vm.fail("json.decode: unexpected keyword argument x");
  if (!vm.charge(3 + view_of(given[0]).size() / 8))
    return Value::error();
  Value result;
  std::string problem;
  if (decode_json(vm, view_of(given[0]), result, problem))
    return result;
  if (!vm.failed && !given[1].is_unset())
    return given[1];
  return vm.fail_with("json.decode: ", problem);
}

/// Takes one positional argument, and `prefix` and `indent` by name.
bool want_layout(Vm& vm, const Arguments& a, Value* given) {
  static constexpr const char* names[] = {"prefix?", "indent?"};
  static constexpr ParameterType types[] = {ParameterType::text, ParameterType::text};
  Arguments named = a;
  named.count = 0;
  if (!want_named(vm, named, names, given + 1, types))
    return false;
  named = a;
  named.named_count = 0;
  given[0] = a.count == 0 ? Value::unset() : a.positional[0];
  return want_positional(vm, named, 1, 1);
}

Value json_indent(Vm& vm, const Arguments& a) {
  Value given[3];
  if (!want_layout(vm, a, given))
    return Value::error();
  if (!is_text(given[0]))
    return wrong_type(vm, a, 0, "string");
  const Value none = Value::short_text(""), tab = Value::short_text("\t");
  const Value& prefix = given[1].is_unset() ? none : given[1];
  const Value& indent = given[2].is_unset() ? tab : given[2];
  std::string out, problem;
  if (!indent_json(vm, view_of(given[0]), view_of(prefix), view_of(indent), out, problem))
    return vm.fail_with("json.indent: ", problem);
  return finish(vm, out);
}

Value json_encode_indent(Vm& vm, const Arguments& a) {
  Value given[3];
  if (!want_layout(vm, a, given))
    return Value::error();
  std::string text, out, problem;
  if (!encode_json(vm, text, given[0], problem))
    return vm.fail_with("json.encode_indent: ", problem);
  const Value none = Value::short_text(""), tab = Value::short_text("\t");
  const Value& prefix = given[1].is_unset() ? none : given[1];
  const Value& indent = given[2].is_unset() ? tab : given[2];
  if (!indent_json(vm, text, view_of(prefix), view_of(indent), out, problem))
    return vm.fail_with("json.encode_indent: ", problem);
  return finish(vm, out);
}

constexpr MethodEntry json_table[] = {{"json.decode", json_decode},
                                      {"json.encode", json_encode},
                                      {"json.encode_indent", json_encode_indent},
                                      {"json.indent", json_indent}};

}  // namespace

Value make_json_module(Heap& heap) { return make_library(heap, "json", json_table); }

}  // namespace fettle::starlark
