/// `json.encode`, `json.decode`, `json.indent`.

#include "base/text.h"
#include "starlark/eval/bind.h"
#include "starlark/eval/table.h"
#include "starlark/lib/library.h"
#include "starlark/lib/strings.h"

namespace fettle::starlark {
namespace {

Value finish(Vm& vm, std::string_view text) {
  const Value made = make_text(vm.heap(), text);
  return made.is_error() ? vm.fail_memory() : made;
}

Value json_encode(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 1, 1))
    return Value::error();
  std::string out, problem;
  if (!encode_json(&vm, out, a.positional[0], problem))
    return vm.fail_with("json.encode: ", problem);
  return vm.charge(out.size() / 4) ? finish(vm, out) : Value::error();
}

Value json_decode(Vm& vm, const Arguments& a) {
  Value given[2];
  static constexpr const char* names[] = {"x", "default?"};
  static constexpr Accepted types[] = {Accepted::text, Accepted::any};
  static constexpr const char* names_of_2023[] = {"1", "default?"};
  const bool old = vm.dialect().profile == Profile::kurtosis;
  if ((old && !want_positional(vm, a, 1, 1)) ||
      !want_named(vm, a, old ? names_of_2023 : names, given, types))
    return Value::error();
  if (a.count == 0)
    return vm.fail("json.decode: unexpected keyword argument x");
  if (!vm.charge(view_of(given[0]).size() / 8))
    return Value::error();
  Value result;
  std::string problem;
  if (decode_json(&vm, vm.heap(), view_of(given[0]), result, problem))
    return result;
  if (!vm.failed && !given[1].is_unset())
    return given[1];
  return vm.fail_with("json.decode: ", problem);
}

/// Sets white space anew; the text must be JSON.
bool indent_json(Vm& vm, std::string_view text, std::string_view prefix, std::string_view indent,
                 std::string& out) {
  size_t depth = 0;
  bool ok = vm.charge(text.size() / 4);
  const auto line = [&] {
    const size_t size = prefix.size() + depth * indent.size();
    if (size > 64 && (!vm.charge(size / 64) || !vm.heap().may_take((out.size() + size) * 6))) {
      vm.fail_memory();
      ok = false;
      return;
    }
    out += '\n';
    out += prefix;
    for (size_t n = 0; n < depth; ++n)
      out += indent;
  };
  for (size_t i = 0; i < text.size() && ok; ++i) {
    const char c = text[i];
    if (depth * indent.size() + out.size() > 4096 && (i & 63) == 0 &&
        (!vm.charge(1 + depth * indent.size() / 4) || !vm.heap().may_take(out.size() * 6))) {
      vm.fail_memory();
      return false;
    }
    switch (c) {
      case ' ':
      case '\n':
      case '\r':
      case '\t':
        break;
      case '"': {
        const size_t start = i++;
        while (text[i] != '"')
          i += text[i] == '\\' ? 2 : 1;
        out += text.substr(start, i - start + 1);
        break;
      }
      case '{':
      case '[': {
        const size_t next = text.find_first_not_of(" \n\r\t", i + 1);
        out += c;
        if (text[next] == '}' || text[next] == ']') {
          out += text[next];
          i = next;
        } else {
          ++depth;
          line();
        }
        break;
      }
      case '}':
      case ']':
        --depth;
        line();
        out += c;
        break;
      case ',':
        out += c;
        line();
        break;
      case ':':
        out += ": ";
        break;
      default:
        out += c;
        break;
    }
  }
  return ok;
}

/// One positional argument; `prefix` and `indent` by name.
bool want_layout(Vm& vm, const Arguments& a, Value* given) {
  static constexpr const char* names[] = {"prefix?", "indent?"};
  static constexpr Accepted types[] = {Accepted::text, Accepted::text};
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
  Value ignored;
  std::string out, problem;
  if (!decode_json(&vm, vm.heap(), view_of(given[0]), ignored, problem))
    return vm.fail_with("json.indent: ", problem);
  if (!indent_json(vm, view_of(given[0]), view_of(prefix), view_of(indent), out))
    return Value::error();
  return finish(vm, out);
}

Value json_encode_indent(Vm& vm, const Arguments& a) {
  Value given[3];
  if (!want_layout(vm, a, given))
    return Value::error();
  std::string text, out, problem;
  if (!encode_json(&vm, text, given[0], problem))
    return vm.fail_with("json.encode_indent: ", problem);
  const Value none = Value::short_text(""), tab = Value::short_text("\t");
  const Value& prefix = given[1].is_unset() ? none : given[1];
  const Value& indent = given[2].is_unset() ? tab : given[2];
  if (!indent_json(vm, text, view_of(prefix), view_of(indent), out))
    return Value::error();
  return finish(vm, out);
}

constexpr MethodEntry table[] = {{"json.decode", json_decode},
                                 {"json.encode", json_encode},
                                 {"json.encode_indent", json_encode_indent},
                                 {"json.indent", json_indent}};

}  // namespace

Value make_json_module(Heap& heap) { return make_library(heap, "json", table); }

}  // namespace fettle::starlark
