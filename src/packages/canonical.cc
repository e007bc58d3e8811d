#include "packages/canonical.h"

#include <algorithm>

#include "base/text.h"

namespace fettle {
namespace {

using starlark::Type;

std::string fields_text(std::string_view name,
                        std::vector<std::pair<std::string, starlark::Value>> fields, bool sorted) {
  if (sorted)
    std::sort(fields.begin(), fields.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text = cat(name, "(");
  for (size_t i = 0; i < fields.size(); ++i)
    text += cat(i == 0 ? "" : ", ", fields[i].first, "=", canonical_text(fields[i].second));
  return text + ")";
}

std::string dict_text(starlark::Value value) {
  std::vector<std::pair<std::string, std::string>> entries;
  for (const auto& [key, item] : starlark::entries_of(value))
    entries.emplace_back(canonical_text(key), canonical_text(item));
  std::sort(entries.begin(), entries.end());
  std::string text = "{";
  for (size_t i = 0; i < entries.size(); ++i)
    text += cat(i == 0 ? "" : ", ", entries[i].first, ": ", entries[i].second);
  return text + "}";
}

std::string items_text(starlark::Value value, std::string_view open, std::string_view close) {
  std::string text(open);
  const size_t count = starlark::length_of(value);
  for (size_t i = 0; i < count; ++i)
    text += cat(i == 0 ? "" : ", ", canonical_text(starlark::item_of(value, i)));
  if (open == "(" && count == 1)
    text += ",";
  return text.append(close);
}

}  // namespace

std::string canonical_text(starlark::Value value) {
  switch (starlark::type_of(value)) {
    case Type::list:
      return items_text(value, "[", "]");
    case Type::tuple:
      return items_text(value, "(", ")");
    case Type::dict:
      return dict_text(value);
    case Type::structure:
      return fields_text("struct", starlark::fields_of(value), true);
    case Type::record:
      return fields_text(starlark::type_name(value), starlark::fields_of(value), false);
    default:
      return starlark::repr_of(value);
  }
}

std::string canonical_text(std::string_view name, const starlark::Signature& signature,
                           std::span<const starlark::Value> arguments) {
  std::string text = cat(name, "(");
  bool first = true;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].is_unset())
      continue;
    std::string_view parameter = signature.parameters()[i].name;
    while (parameter.ends_with('?'))
      parameter.remove_suffix(1);
    text += cat(first ? "" : ", ", parameter, "=", canonical_text(arguments[i]));
    first = false;
  }
  return text + ")";
}

}  // namespace fettle
