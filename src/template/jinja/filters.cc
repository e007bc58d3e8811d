#include "template/jinja/filters.h"

#include <charconv>

#include "base/text.h"

namespace fettle::jinja {

Builtin find_filter(std::string_view name) {
  static const std::unordered_map<std::string_view, Builtin> table = [] {
    std::unordered_map<std::string_view, Builtin> made;
    for (const auto& rows : {text_filters(), list_filters(), number_filters(), link_filters()})
      for (const FilterRow& row : rows)
        made.emplace(row.name, row.run);
    return made;
  }();
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

bool has_filter(const Environment& environment, const std::string& name) {
  return find_filter(name) != nullptr || (environment.find_filter && environment.find_filter(name));
}

Error not_repeatable(std::string_view what) {
  return raise("RuntimeError",
               cat(what, " is random, and a template must give the same on every run"));
}

Result<Value> attribute_at(Renderer& renderer, const Value& item, const Value& path) {
  if (path.is_whole())
    return renderer.item(item, path);
  Value value = item;
  const std::string text = text_of(path);
  for (const std::string_view step : split(text, '.')) {
    int64_t index = 0;
    const auto read = std::from_chars(step.data(), step.data() + step.size(), index);
    const bool is_index = !step.empty() && read.ptr == step.data() + step.size();
    value = TRY(renderer.item(value, is_index ? Value(index) : Value(step)));
  }
  return value;
}

}  // namespace fettle::jinja
