#include "tests/kubernetes/patches.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "value/with.h"

namespace fettle::kubernetes {
namespace {

const Value nothing;

Value with_path(const Value& dict, std::span<const std::string_view> path, Value value) {
  if (path.empty())
    return value;
  const Value& inside = dict.at(path[0]);
  Value below = with_path(inside.is_dict() ? inside : Value::dict(std::vector<Entry>()),
                          path.subspan(1), std::move(value));
  return with(dict.is_dict() ? dict : Value::dict(std::vector<Entry>()), path[0], std::move(below));
}

/// The steps of a JSON pointer.
std::vector<std::string> steps_of(std::string_view pointer) {
  std::vector<std::string> steps;
  for (const std::string_view step : split(pointer, '/'))
    steps.push_back(replace_all(replace_all(step, "~1", "/"), "~0", "~"));
  if (!steps.empty())
    steps.erase(steps.begin());
  return steps;
}

Result<size_t> index_of(std::string_view step, size_t size, bool may_end) {
  size_t index = size;
  if (step == "-" && may_end)
    return size;
  const auto read = std::from_chars(step.data(), step.data() + step.size(), index);
  if (read.ec != std::errc() || read.ptr != step.data() + step.size() ||
      index >= size + (may_end ? 1 : 0))
    return user_error(cat("there is no index `", step, "`"));
  return index;
}

enum class Change { add, replace, remove };

Result<Value> changed(const Value& in, std::span<const std::string> steps, Change change,
                      const Value& value) {
  if (steps.empty())
    return value;
  const bool is_last = steps.size() == 1;
  if (in.is_list()) {
    std::vector<Value> items(in.items().begin(), in.items().end());
    const auto index = static_cast<ptrdiff_t>(
        TRY(index_of(steps[0], items.size(), is_last && change == Change::add)));
    if (!is_last)
      items[static_cast<size_t>(index)] =
          TRY(changed(items[static_cast<size_t>(index)], steps.subspan(1), change, value));
    else if (change == Change::add)
      items.insert(items.begin() + index, value);
    else if (change == Change::replace)
      items[static_cast<size_t>(index)] = value;
    else
      items.erase(items.begin() + index);
    return Value::list(std::move(items));
  }
  const Value* const found = in.find(steps[0]);
  if (!in.is_dict() || (found == nullptr && !(is_last && change == Change::add)))
    return user_error(cat("there is no `", steps[0], "`"));
  if (is_last)
    return change == Change::remove ? without(in, steps[0]) : with(in, steps[0], value);
  return with(in, steps[0], TRY(changed(*found, steps.subspan(1), change, value)));
}

Result<Value> value_at(const Value& in, std::span<const std::string> steps) {
  const Value* at = &in;
  for (const std::string& step : steps) {
    const Value* const next = at->is_list()
                                  ? &at->items()[TRY(index_of(step, at->items().size(), false))]
                                  : at->find(step);
    if (next == nullptr)
      return user_error(cat("there is no `", step, "`"));
    at = next;
  }
  return *at;
}

Result<Value> one_operation(const Value& object, const Value& operation) {
  const std::string_view op = operation.text_at("op");
  const std::vector<std::string> path = steps_of(operation.text_at("path"));
  if (op == "test") {
    if (TRY(value_at(object, path)) != operation.at("value"))
      return user_error("testing value failed");
    return object;
  }
  if (op == "add")
    return changed(object, path, Change::add, operation.at("value"));
  if (op == "replace")
    return changed(object, path, Change::replace, operation.at("value"));
  if (op == "remove")
    return changed(object, path, Change::remove, {});
  const std::vector<std::string> from = steps_of(operation.text_at("from"));
  if (op == "copy" || op == "move") {
    const Value moved = TRY(value_at(object, from));
    const Value left = op == "move" ? TRY(changed(object, from, Change::remove, {})) : object;
    return changed(left, path, Change::add, moved);
  }
  return user_error(cat("unknown operation `", op, "`"));
}

constexpr std::string_view deletes_from = "$deleteFromPrimitiveList/";

/// A list of texts is a set: items are added, or taken away.
Value with_joined(const Value& object, std::string_view key, const Value& items, bool removes) {
  std::vector<Value> joined(items_of(object.at(key)).begin(), items_of(object.at(key)).end());
  for (const Value& item : items_of(items)) {
    if (removes)
      std::erase(joined, item);
    else if (std::ranges::find(joined, item) == joined.end())
      joined.push_back(item);
  }
  return joined.empty() ? without(object, key) : with(object, key, Value::list(std::move(joined)));
}

Value merged_list(std::string_view key, const Value& items, const Value& change);

Value merged(const Value& object, const Value& change, bool is_strategic) {
  if (!change.is_dict())
    return change;
  Value result = object.is_dict() ? object : Value::dict(std::vector<Entry>());
  if (is_strategic && change.text_at("$patch") == "replace")
    return without(change, "$patch");
  for (const auto& [key, value] : change.entries()) {
    if (value.is_null())
      result = without(result, key);
    else if (is_strategic && key.view().starts_with(deletes_from))
      result = with_joined(result, key.view().substr(deletes_from.size()), value, true);
    else if (is_strategic && value.is_list() && key == "finalizers")
      result = with_joined(result, key, value, false);
    else if (is_strategic && value.is_list() && !merge_key_of(key, value).empty())
      result = with(result, key, merged_list(key, result.at(key), value));
    else
      result = with(result, key, merged(result.at(key), value, is_strategic));
  }
  return result;
}

/// As a server orders a list: the items of a patch as the patch has them, the others as before. An
/// item of the patch comes before another one unless that stood before it.
std::vector<Value> in_order_of(const Value& change, std::string_view by,
                               std::span<const Value> before, std::vector<Value> items) {
  const auto place_in = [&](std::span<const Value> list, const Value& item) {
    return std::ranges::find_if(list,
                                [&](const Value& each) { return each.at(by) == item.at(by); }) -
           list.begin();
  };
  const auto is_named = [&](const Value& item) {
    return place_in(change.items(), item) < std::ssize(change.items());
  };
  const auto others = std::ranges::stable_partition(items, is_named);
  std::ranges::stable_sort(items.begin(), others.begin(), {},
                           [&](const Value& item) { return place_in(change.items(), item); });
  std::vector<Value> ordered;
  auto named = items.begin();
  for (auto other = others.begin(); other != others.end();)
    if (named == others.begin() || (place_in(before, *named) < std::ssize(before) &&
                                    place_in(before, *other) < place_in(before, *named)))
      ordered.push_back(*other++);
    else
      ordered.push_back(*named++);
  ordered.insert(ordered.end(), named, others.begin());
  return ordered;
}

Value merged_list(std::string_view key, const Value& items, const Value& change) {
  const std::string_view by = merge_key_of(key, change);
  std::vector<Value> result(items_of(items).begin(), items_of(items).end());
  for (const Value& one : change.items()) {
    const auto same =
        std::ranges::find_if(result, [&](const Value& each) { return each.at(by) == one.at(by); });
    if (one.text_at("$patch") == "delete") {
      if (same != result.end())
        result.erase(same);
    } else if (same != result.end()) {
      *same = merged(*same, one, true);
    } else {
      result.push_back(one);
    }
  }
  return Value::list(in_order_of(change, by, items_of(items), std::move(result)));
}

}  // namespace

Value without(const Value& dict, std::string_view key) {
  if (dict.find(key) == nullptr)
    return dict;
  std::vector<Entry> entries;
  for (const Entry& entry : dict.entries())
    if (entry.key != key)
      entries.push_back(entry);
  return Value::dict(std::move(entries));
}

Value with_path(const Value& dict, std::initializer_list<std::string_view> path, Value value) {
  return with_path(dict, std::span(path.begin(), path.size()), std::move(value));
}

const Value& at_path(const Value& value, std::initializer_list<std::string_view> path) {
  const Value* at = &value;
  for (const std::string_view step : path) {
    at = at->find(step);
    if (at == nullptr)
      return nothing;
  }
  return *at;
}

Result<Value> json_patch(const Value& object, const Value& operations) {
  if (!operations.is_list())
    return user_error("a JSON patch is a list of operations");
  Value result = object;
  for (const Value& operation : operations.items())
    result = TRY(one_operation(result, operation));
  return result;
}

Value merge_patch(const Value& object, const Value& change) {
  return merged(object, change, false);
}
Value strategic_patch(const Value& object, const Value& change) {
  return merged(object, change, true);
}

std::string_view merge_key_of(std::string_view list, const Value& items) {
  static const std::map<std::string_view, std::string_view> keys{
      {"containers", "name"},     {"initContainers", "name"},   {"env", "name"},
      {"volumes", "name"},        {"conditions", "type"},       {"containerStatuses", "name"},
      {"ownerReferences", "uid"}, {"volumeMounts", "mountPath"}};
  const auto found = keys.find(list);
  if (found == keys.end())
    return {};
  for (const Value& item : items_of(items))
    if (item.find(found->second) == nullptr)
      return {};
  return found->second;
}

}  // namespace fettle::kubernetes
