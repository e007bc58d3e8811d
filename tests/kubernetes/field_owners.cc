#include "tests/kubernetes/field_owners.h"

#include "base/rfc3339.h"
#include "base/text.h"
#include "tests/kubernetes/patches.h"
#include "value/json.h"
#include "value/with.h"

namespace fettle::kubernetes {
namespace {

constexpr char between = '\x1f';

using Fields = std::map<FieldPath, Value>;

std::string step_of(const Value& item, std::string_view key) {
  return "k:" + write_json(Value::dict({{key, item.at(key)}}));
}

void collect(const Value& value, const FieldPath& path, std::string_view name, Fields& fields) {
  const auto below = [&](const std::string& step) {
    return path.empty() ? step : path + between + step;
  };
  if (value.is_dict() && !value.entries().empty()) {
    for (const auto& [key, inside] : value.entries())
      collect(inside, below(cat("f:", std::string_view(key))), key, fields);
  } else if (const std::string_view by =
                 value.is_list() ? merge_key_of(name, value) : std::string_view();
             !by.empty()) {
    for (const Value& item : value.items())
      collect(item, below(step_of(item, by)), {}, fields);
  } else {
    fields.emplace(path, value);
  }
}

/// What has an owner: neither identity nor what the server fills.
Fields fields_of(const Value& object) {
  Value owned = without(without(object, "apiVersion"), "kind");
  std::vector<Entry> about;
  for (const char* key : {"labels", "annotations", "finalizers", "ownerReferences"})
    if (const Value* const found = object.at("metadata").find(key))
      about.push_back({key, *found});
  owned = about.empty() ? without(owned, "metadata")
                        : with(owned, "metadata", Value::dict(std::move(about)));
  Fields fields;
  collect(owned, {}, {}, fields);
  fields.erase(FieldPath());
  return fields;
}

/// `value` without the field; a dict or an item that has nothing else left stays.
Value removed(const Value& value, std::span<const std::string_view> steps) {
  if (steps[0].starts_with("f:")) {
    const std::string_view key = steps[0].substr(2);
    const Value* const inside = value.find(key);
    if (inside == nullptr)
      return value;
    return steps.size() == 1 ? without(value, key)
                             : with(value, key, removed(*inside, steps.subspan(1)));
  }
  std::vector<Value> items;
  const Value wanted = *read_json(steps[0].substr(2));
  const Entry& by = wanted.entries()[0];
  for (const Value& item : items_of(value)) {
    const bool is_it = item.at(by.key) == by.value;
    // An item goes with the member that names it.
    if (!is_it)
      items.push_back(item);
    else if (steps.size() > 1 && steps[1] != cat("f:", std::string_view(by.key)))
      items.push_back(removed(item, steps.subspan(1)));
  }
  return Value::list(std::move(items));
}

}  // namespace

void FieldOwners::update(const Owner& owner, const Value& before, const Value& after, Time now) {
  const Fields old = fields_of(before), made = fields_of(after);
  std::set<FieldPath> changed;
  for (const auto& [path, value] : made)
    if (const auto found = old.find(path); found == old.end() || found->second != value)
      changed.insert(path);
  for (auto& [each, owned] : owned_)
    std::erase_if(owned.fields, [&](const FieldPath& path) {
      return !made.contains(path) || (each != owner && changed.contains(path));
    });
  std::erase_if(owned_, [](const auto& each) { return each.second.fields.empty(); });
  if (!changed.empty()) {
    owned_[owner].fields.insert(changed.begin(), changed.end());
    owned_[owner].since = now;
  }
}

std::vector<FieldOwners::Conflict> FieldOwners::conflicts(const Owner& owner, const Value& live,
                                                          const Value& applied) const {
  std::vector<Conflict> found;
  const Fields are = fields_of(live);
  for (const auto& [path, value] : fields_of(applied)) {
    const auto is = are.find(path);
    if (is == are.end() || is->second == value)
      continue;
    for (const auto& [other, owned] : owned_)
      if (other != owner && owned.fields.contains(path))
        found.push_back({other.manager, path});
  }
  return found;
}

Value FieldOwners::apply(const Owner& owner, const Value& live, const Value& applied,
                         bool is_forced, Time now) {
  const Fields wanted = fields_of(applied), are = fields_of(live);
  Value result = strategic_patch(live, applied);
  for (const FieldPath& path : owned_[owner].fields) {
    const bool is_shared = std::ranges::any_of(owned_, [&](const auto& each) {
      return each.first != owner && each.second.fields.contains(path);
    });
    if (!wanted.contains(path) && !is_shared)
      result = removed(result, split(path, between));
  }
  Owned own{{}, now};
  for (const auto& [path, value] : wanted) {
    own.fields.insert(path);
    const auto is = are.find(path);
    if (is_forced && is != are.end() && is->second != value)
      for (auto& [other, owned] : owned_)
        if (other != owner)
          owned.fields.erase(path);
  }
  owned_[owner] = std::move(own);
  std::erase_if(owned_, [](const auto& each) { return each.second.fields.empty(); });
  return result;
}

Value FieldOwners::written(std::string_view api_version) const {
  std::vector<Value> rows;
  for (const auto& [owner, owned] : owned_) {
    Value fields = Value::dict(std::vector<Entry>());
    for (const FieldPath& path : owned.fields) {
      const std::vector<std::string_view> steps = split(path, between);
      const std::function<Value(const Value&, size_t)> put = [&](const Value& in, size_t at) {
        const Value& inside = in.at(steps[at]);
        const Value empty = Value::dict(std::vector<Entry>());
        const Value& below = inside.is_dict() ? inside : empty;
        return with(in, steps[at], at + 1 < steps.size() ? put(below, at + 1) : below);
      };
      fields = put(fields, 0);
    }
    std::vector<Entry> row{{"manager", owner.manager},  {"operation", owner.operation},
                           {"apiVersion", api_version}, {"time", write_moment(owned.since)},
                           {"fieldsType", "FieldsV1"},  {"fieldsV1", fields}};
    if (!owner.subresource.empty())
      row.push_back({"subresource", owner.subresource});
    rows.push_back(Value::dict(std::move(row)));
  }
  return Value::list(std::move(rows));
}

std::string shown_field(const FieldPath& path) {
  std::string shown;
  for (const std::string_view step : split(path, between))
    shown += step.starts_with("f:")
                 ? cat(".", step.substr(2))
                 : cat("[", replace_all(step.substr(3, step.size() - 4), ":", "="), "]");
  return shown;
}

}  // namespace fettle::kubernetes
