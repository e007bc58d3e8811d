#include "packages/canonical.h"

#include <algorithm>

#include "base/text.h"

namespace fettle {
namespace {

using starlark::Type;

Result<std::string> fields_text(starlark::Thread& thread, std::string_view name,
                                std::vector<std::pair<std::string, starlark::Value>> fields,
                                bool sorted) {
  if (sorted)
    std::sort(fields.begin(), fields.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text = cat(name, "(");
  for (size_t i = 0; i < fields.size(); ++i)
    text += cat(i == 0 ? "" : ", ", fields[i].first, "=",
                TRY(canonical_text(thread, fields[i].second)));
  return text + ")";
}

Result<std::string> dict_text(starlark::Thread& thread, starlark::Value value) {
  std::vector<std::pair<std::string, std::string>> entries;
  for (const auto& [key, item] : starlark::entries_of(value)) {
    std::string shown = TRY(canonical_text(thread, key));
    entries.emplace_back(std::move(shown), TRY(canonical_text(thread, item)));
  }
  std::sort(entries.begin(), entries.end());
  std::string text = "{";
  for (size_t i = 0; i < entries.size(); ++i)
    text += cat(i == 0 ? "" : ", ", entries[i].first, ": ", entries[i].second);
  return text + "}";
}

Result<std::string> items_text(starlark::Thread& thread, starlark::Value value,
                               std::string_view open, std::string_view close) {
  std::string text(open);
  const size_t count = starlark::length_of(value);
  for (size_t i = 0; i < count; ++i)
    text += cat(i == 0 ? "" : ", ", TRY(canonical_text(thread, starlark::item_of(value, i))));
  if (open == "(" && count == 1)
    text += ",";
  return text.append(close);
}

constexpr int deepest = 1'000;
constexpr uint64_t of_a_part = 64;

struct Node {
  starlark::Value value;
  int depth;
};

/// Pushes the parts of a value that consists of others.
void push_parts(std::vector<Node>& open, const Node& whole) {
  const int depth = whole.depth + 1;
  switch (starlark::type_of(whole.value)) {
    case Type::list:
    case Type::tuple:
      for (size_t i = 0; i < starlark::length_of(whole.value); ++i)
        open.push_back({starlark::item_of(whole.value, i), depth});
      break;
    case Type::dict:
      for (const auto& [key, item] : starlark::entries_of(whole.value)) {
        open.push_back({key, depth});
        open.push_back({item, depth});
      }
      break;
    case Type::structure:
    case Type::record:
      for (const auto& [name, item] : starlark::fields_of(whole.value))
        open.push_back({item, depth});
      break;
    default:
      break;
  }
}

}  // namespace

Result<uint64_t> weight_of(starlark::Thread& thread, starlark::Value value, uint64_t limit) {
  uint64_t weight = 0;
  std::vector<Node> open{{value, 0}};
  while (!open.empty()) {
    const Node part = open.back();
    open.pop_back();
    if (part.depth > deepest)
      return user_error(cat("a value is nested deeper than ", deepest, ", or contains itself"));
    if (!thread.charge(2))
      return thread.limit_reached();
    weight += of_a_part +
              (starlark::type_of(part.value) == Type::text ? starlark::length_of(part.value) : 0);
    if (weight + of_a_part * open.size() > limit)
      return limit + 1;
    push_parts(open, part);
  }
  return weight;
}

Result<std::string> canonical_text(starlark::Thread& thread, starlark::Value value) {
  if (!thread.charge(16))
    return thread.limit_reached();
  switch (starlark::type_of(value)) {
    case Type::list:
      return items_text(thread, value, "[", "]");
    case Type::tuple:
      return items_text(thread, value, "(", ")");
    case Type::dict:
      return dict_text(thread, value);
    case Type::structure:
      return fields_text(thread, "struct", starlark::fields_of(value), true);
    case Type::record:
      return fields_text(thread, starlark::type_name(value), starlark::fields_of(value), false);
    default:
      return starlark::repr_of(thread, value);
  }
}

Result<std::string> canonical_text(starlark::Thread& thread, std::string_view name,
                                   const starlark::Signature& signature,
                                   std::span<const starlark::Value> arguments) {
  std::string text = cat(name, "(");
  bool first = true;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].is_unset())
      continue;
    std::string_view parameter = signature.parameters()[i].name;
    while (parameter.ends_with('?'))
      parameter.remove_suffix(1);
    text += cat(first ? "" : ", ", parameter, "=", TRY(canonical_text(thread, arguments[i])));
    first = false;
  }
  return text + ")";
}

}  // namespace fettle
