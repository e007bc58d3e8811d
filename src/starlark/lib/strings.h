#pragma once
/// Common parts of the methods of texts, and methods with a file of their own.

#include "starlark/eval/texts.h"

namespace fettle::starlark {

/// Calls `f(code point, its bytes)` for each; bytes that are no UTF-8 come one by one as U+FFFD.
template <typename F>
void each_code_point(std::string_view text, F&& f) {
  while (!text.empty()) {
    size_t length = 1;
    const uint32_t c = decode(text, length);
    if (!f(c, text.substr(0, length)))
      return;
    text.remove_prefix(length);
  }
}

inline Value finish(Vm& vm, std::string_view text) {
  const Value made = make_text(vm.heap(), text);
  return made.is_error() ? vm.fail_memory() : made;
}

/// Charges for work on every byte of the receiver.
inline bool charge_text(Vm& vm, const Arguments& a) {
  return vm.charge(view_of(a.self).size() / 4);
}
/// … and for looking up each code point.
inline bool charge_letters(Vm& vm, const Arguments& a) {
  return vm.charge(view_of(a.self).size() / 2);
}

Value string_upper(Vm& vm, const Arguments& a);
Value string_lower(Vm& vm, const Arguments& a);
Value string_title(Vm& vm, const Arguments& a);
Value string_capitalize(Vm& vm, const Arguments& a);
Value string_isalnum(Vm& vm, const Arguments& a);
Value string_isalpha(Vm& vm, const Arguments& a);
Value string_isdigit(Vm& vm, const Arguments& a);
Value string_isspace(Vm& vm, const Arguments& a);
Value string_isupper(Vm& vm, const Arguments& a);
Value string_islower(Vm& vm, const Arguments& a);
Value string_istitle(Vm& vm, const Arguments& a);
Value string_split(Vm& vm, const Arguments& a);
Value string_rsplit(Vm& vm, const Arguments& a);
Value string_splitlines(Vm& vm, const Arguments& a);

}  // namespace fettle::starlark
