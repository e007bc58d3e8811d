#include "core/output_at.h"

#include <algorithm>
#include <deque>

#include "core/open_payload.h"

namespace fettle {
namespace {

/// Follows a path that may lead to many values.
class Reach {
 public:
  std::optional<Value> from(const Value& value, std::string_view path) {
    if (++visited_ > most)
      return std::nullopt;
    if (path.empty())
      return value;
    const std::string_view step = path.substr(0, path.find('/', 1));
    const std::string_view rest = path.substr(step.size());
    if (step == each_step)
      return value.is_list() ? of_each(value, rest) : std::nullopt;
    if (const Value* found = follow(value, step))
      return from(*found, rest);
    const auto has_keys = [](const Value& item) { return item.is_dict(); };
    if (!value.is_list() || !std::ranges::all_of(value.items(), has_keys))
      return std::nullopt;
    return of_each(value, path);
  }

 private:
  static constexpr size_t most = 1'000'000;

  std::optional<Value> of_each(const Value& list, std::string_view path) {
    std::vector<Value> found;
    for (const Value& item : list.items()) {
      std::optional<Value> one = from(item, path);
      if (!one)
        return std::nullopt;
      found.push_back(*std::move(one));
    }
    return Value::list(std::move(found));
  }

  size_t visited_ = 0;
};

}  // namespace

std::optional<Value> reach(const Value& value, std::string_view path) {
  if (path.starts_with('/'))
    return Reach().from(value, path);
  const Value* found = follow(value, path);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

std::optional<Value> shown_at(const Attributes& attributes, std::string_view path) {
  if (is_purged(attributes))
    return std::nullopt;
  std::optional<Value> found = reach(dict_of(attributes), path.substr(1));
  return !found || found->is_null() || found->has_deferred() ? std::nullopt : std::move(found);
}

std::optional<Value> output_at(const Record& record, std::string_view path) {
  if (!path.starts_with('@'))
    return reach(dict_of(record.outputs), path);
  if (!record.applied || is_purged(record.applied->attributes))
    return std::nullopt;
  std::optional<Value> shown = shown_at(record.applied->attributes, path);
  return shown ? std::move(shown) : reach(dict_of(record.outputs), path.substr(1));
}

Value fill_with(const Value& value,
                const std::function<std::optional<Value>(const Output&)>& fill) {
  std::deque<Value> found;
  return fill_holes(value, [&](const Output& hole) -> const Value* {
    std::optional<Value> output = fill(hole);
    return output ? &found.emplace_back(*std::move(output)) : nullptr;
  });
}

}  // namespace fettle
