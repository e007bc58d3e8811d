#include "starlark/code/methods.h"

#include <algorithm>

#include <boost/unordered/unordered_flat_map.hpp>

#include "starlark/lib/library.h"
#include "starlark/values/hash.h"

namespace fettle::starlark {
namespace {

struct Table {
  Kind kind;
  std::span<const MethodEntry> (*methods)();
};
constexpr Table tables[] = {{Kind::string, string_methods}, {Kind::bytes, bytes_methods},
                            {Kind::list, list_methods},     {Kind::dict, dict_methods},
                            {Kind::set, set_methods},       {Kind::regex, regex_methods},
                            {Kind::time, time_methods},     {Kind::duration, duration_methods}};

/// All rows, sorted by name.
const std::vector<MethodRow>& rows() {
  static const std::vector<MethodRow> all = [] {
    std::vector<MethodRow> made;
    for (const Table& table : tables) {
      for (const MethodEntry& method : table.methods()) {
        auto row = std::find_if(made.begin(), made.end(), [&](const MethodRow& known) {
          return std::string_view(known.name) == method.name;
        });
        if (row == made.end()) {
          made.push_back({method.name, {}});
          row = made.end() - 1;
        }
        row->of[static_cast<size_t>(table.kind)] = method.native;
      }
    }
    std::sort(made.begin(), made.end(), [](const MethodRow& a, const MethodRow& b) {
      return std::string_view(a.name) < std::string_view(b.name);
    });
    return made;
  }();
  return all;
}

struct NameHash {
  using is_avalanching = void;
  size_t operator()(std::string_view name) const { return hash_text(name); }
};
using RowsByName = boost::unordered_flat_map<std::string_view, const MethodRow*, NameHash>;

/// A called method is looked up when the call is compiled, and one that is not called at once each
/// time the program takes it.
const RowsByName& rows_by_name() {
  static const RowsByName all = [] {
    RowsByName made;
    for (const MethodRow& row : rows())
      made.emplace(row.name, &row);
    return made;
  }();
  return all;
}

}  // namespace

const MethodRow* find_method_row(std::string_view name) {
  const auto found = rows_by_name().find(name);
  return found == rows_by_name().end() ? nullptr : found->second;
}

Native find_method(Kind kind, std::string_view name) {
  const MethodRow* row = find_method_row(name);
  return row == nullptr ? nullptr : row->of[static_cast<size_t>(kind)];
}

std::vector<std::string_view> method_names(Kind kind) {
  std::vector<std::string_view> names;
  for (const MethodRow& row : rows()) {
    if (row.of[static_cast<size_t>(kind)] != nullptr)
      names.emplace_back(row.name);
  }
  return names;
}

}  // namespace fettle::starlark
