#include "value/leaves.h"

namespace fettle {
namespace {

using Replace = std::function<std::optional<Value>(const Value& leaf)>;

bool has_parts(const Value& value) { return value.is_list() || value.is_dict(); }

size_t count_of(const Value& value) {
  return value.is_list() ? value.items().size() : value.entries().size();
}

const Value& part_of(const Value& value, size_t i) {
  return value.is_list() ? value.items()[i] : value.entries()[i].value;
}

Value with_parts(const Value& value, std::vector<Value> parts) {
  if (value.is_list())
    return Value::list(std::move(parts));
  std::vector<Entry> entries;
  entries.reserve(parts.size());
  for (size_t i = 0; i < parts.size(); ++i)
    entries.push_back({value.entries()[i].key, std::move(parts[i])});
  return Value::dict(std::move(entries));
}

/// A secret holds no secret, so this goes one level down.
std::optional<Value> replaced(const Value& leaf, const Replace& replace) {
  if (!leaf.is_secret())
    return replace(leaf);
  Value inside = with_leaves(leaf.inside(), replace);
  return inside == leaf.inside() ? std::nullopt : std::optional(Value::secret(std::move(inside)));
}

}  // namespace

Value with_leaves(const Value& top, const Replace& replace) {
  struct OpenNode {
    Value value;
    std::vector<Value> parts;
    bool is_changed = false;
  };
  if (!has_parts(top))
    return replaced(top, replace).value_or(top);
  std::vector<OpenNode> open;
  open.push_back({top, {}, false});
  while (true) {
    OpenNode& here = open.back();
    if (here.parts.size() < count_of(here.value)) {
      const Value part = part_of(here.value, here.parts.size());
      if (has_parts(part)) {
        open.push_back({part, {}, false});
        continue;
      }
      std::optional<Value> other = replaced(part, replace);
      here.is_changed |= other.has_value();
      here.parts.push_back(other ? std::move(*other) : part);
      continue;
    }
    const bool is_changed = here.is_changed;
    Value made = is_changed ? with_parts(here.value, std::move(here.parts)) : here.value;
    open.pop_back();
    if (open.empty())
      return made;
    open.back().is_changed |= is_changed;
    open.back().parts.push_back(std::move(made));
  }
}

}  // namespace fettle
