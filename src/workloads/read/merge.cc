#include "workloads/read/merge.h"

#include <algorithm>

#include "base/text.h"
#include "workloads/rollout.h"

namespace fettle::workloads {
namespace {

/// Lists whose items have an identity (Kubernetes: `patchMergeKey`).
struct MergedList {
  std::string_view kind, path;
  std::vector<std::string_view> keys;  ///< empty: the items are texts
};

const std::vector<MergedList>& merged_lists() {
  static const std::vector<MergedList> lists{
      {"Service", "spec.ports", {"port", "protocol"}},    {"Service", "metadata.finalizers", {}},
      {"Service", "metadata.ownerReferences", {"uid"}},   {"ConfigMap", "metadata.finalizers", {}},
      {"ConfigMap", "metadata.ownerReferences", {"uid"}}, {"Secret", "metadata.finalizers", {}},
      {"Secret", "metadata.ownerReferences", {"uid"}},    {"Namespace", "metadata.finalizers", {}}};
  return lists;
}

class Merge {
 public:
  explicit Merge(const Name& kind) : kind_(kind) {}

  Value dicts(const Value& applied, const Value& stored, const Value& given,
              const std::string& path) const {
    std::vector<Entry> entries;
    if (stored.is_dict())
      for (const Entry& entry : stored.entries())
        if (given.find(entry.key) == nullptr && !was_applied(applied, entry.key))
          entries.push_back(entry);
    for (const Entry& entry : given.entries()) {
      const Value& before = stored.is_dict() ? stored.at(entry.key) : none_;
      const Value& then = applied.is_dict() ? applied.at(entry.key) : none_;
      Value after = field(then, before, entry.value,
                          path.empty() ? entry.key.str() : cat(path, ".", entry.key));
      if (!after.is_null())
        entries.push_back({entry.key, std::move(after)});
    }
    return Value::dict(std::move(entries));
  }

 private:
  static bool was_applied(const Value& applied, const Name& key) {
    return applied.is_dict() && !applied.at(key).is_null();
  }

  Value field(const Value& applied, const Value& stored, const Value& given,
              const std::string& path) const {
    if (given.is_dict())
      return stored.is_dict() || applied.is_dict() ? dicts(applied, stored, given, path)
                                                   : without_nulls(given, path);
    if (given.is_list() && stored.is_list())
      for (const MergedList& list : merged_lists())
        if (list.kind == kind_.view() && list.path == path)
          return lists(list, applied, stored, given, path);
    return given;
  }

  Value without_nulls(const Value& given, const std::string& path) const {
    return dicts(none_, none_, given, path);
  }

  static bool is_same_item(const MergedList& list, const Value& a, const Value& b) {
    if (list.keys.empty() || !a.is_dict() || !b.is_dict())
      return a == b;
    return std::ranges::all_of(list.keys, [&](std::string_view key) {
      // Kubernetes: a port without a protocol is a TCP port.
      const Value otherwise = key == "protocol" ? Value("TCP") : Value();
      const Value &one = a.at(key), &other = b.at(key);
      return (one.is_null() ? otherwise : one) == (other.is_null() ? otherwise : other);
    });
  }
  static const Value* find(const MergedList& list, const Value& items, const Value& item) {
    if (items.is_list())
      for (const Value& each : items.items())
        if (is_same_item(list, each, item))
          return &each;
    return nullptr;
  }

  /// The given items in their order, followed by those that others added.
  Value lists(const MergedList& list, const Value& applied, const Value& stored, const Value& given,
              const std::string& path) const {
    std::vector<Value> items;
    for (const Value& item : given.items()) {
      const Value *before = find(list, stored, item), *then = find(list, applied, item);
      items.push_back(
          field(then == nullptr ? none_ : *then, before == nullptr ? none_ : *before, item, path));
    }
    for (const Value& item : stored.items())
      if (find(list, given, item) == nullptr && find(list, applied, item) == nullptr)
        items.push_back(item);
    return Value::list(std::move(items));
  }

  const Name& kind_;
  const Value none_;
};

void find_taken_back(const Value& applied, const Value& stored, const Value& merged,
                     const std::string& path, std::vector<TakenBack>& found) {
  if (stored == merged || stored == applied)
    return;
  if (!stored.is_dict() && !merged.is_dict()) {
    found.push_back({path, stored, merged});
    return;
  }
  std::vector<Name> keys;
  for (const Value* dict : {&stored, &merged})
    if (dict->is_dict())
      for (const Entry& entry : dict->entries())
        if (std::ranges::find(keys, entry.key) == keys.end())
          keys.push_back(entry.key);
  const auto at = [](const Value& dict, const Name& key) {
    return dict.is_dict() ? dict.at(key) : Value();
  };
  for (const Name& key : keys)
    find_taken_back(at(applied, key), at(stored, key), at(merged, key),
                    path.empty() ? key.str() : cat(path, ".", key), found);
}

}  // namespace

Value merged(const Name& kind, const Value& applied, const Value& stored, const Value& given) {
  return Merge(kind).dicts(applied, stored, given, "");
}

std::vector<TakenBack> taken_back(const Value& applied, const Value& stored, const Value& merged) {
  std::vector<TakenBack> found;
  if (applied.is_dict())
    find_taken_back(applied, stored, merged, "", found);
  return found;
}

}  // namespace fettle::workloads
