#pragma once
/// The names that a program sees without binding them or being given them.

#include <string>
#include <string_view>
#include <vector>

#include "starlark/starlark.h"

namespace fettle::starlark {

/// Unset: the dialect has no such name.
Value universal(const Dialect& dialect, std::string_view name);
std::vector<std::string> universal_names(const Dialect& dialect);

}  // namespace fettle::starlark
