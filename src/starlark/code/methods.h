#pragma once
/// Methods of the built-in types, found by name when a program is compiled. A row says which
/// function each kind of receiver has.

#include <array>
#include <string_view>
#include <vector>

#include "starlark/values/objects.h"

namespace fettle::starlark {

struct MethodRow {
  const char* name;
  std::array<Native, static_cast<size_t>(Kind::count)> of{};
};

/// Null: no built-in type has a method of that name.
const MethodRow* find_method_row(std::string_view name);
Native find_method(Kind kind, std::string_view name);
/// Names of all methods of a kind, sorted.
std::vector<std::string_view> method_names(Kind kind);

/// A table of methods, to be listed in methods.cc.
struct MethodEntry {
  const char* name;
  Native native;
  bool kurtosis = true;  ///< whether that profile has it
};

}  // namespace fettle::starlark
