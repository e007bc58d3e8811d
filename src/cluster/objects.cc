#include "cluster/objects.h"

#include <algorithm>

#include "base/rfc3339.h"
#include "base/text.h"
#include "cluster/names.h"
#include "cluster/types.h"
#include "value/json.h"
#include "value/name_at.h"

namespace fettle::cluster {

Name ObjectMeta::owner() const {
  const bool is_workload =
      controller && controller->api_version.view().starts_with("apps.kruise.io/");
  const bool is_of_set = is_workload && controller->kind == types::sidecar_sets.kind;
  if (!is_workload || (is_of_set && space != manager_space))
    return {};
  return cat(controller->kind, "/", is_of_set ? Name() : space, "/", controller->name);
}

ObjectMeta meta_of(const Value& object) {
  const Value& metadata = object.at("metadata");
  ObjectMeta meta;
  meta.space = name_at(metadata, "namespace");
  meta.name = name_at(metadata, "name");
  meta.uid = name_at(metadata, "uid");
  meta.version = name_at(metadata, "resourceVersion");
  meta.created = moment_at(metadata, "creationTimestamp");
  meta.is_leaving = metadata.find("deletionTimestamp") != nullptr;
  for (const Value& each : items_of(metadata.at("ownerReferences")))
    if (each.bool_at("controller"))
      meta.controller = {name_at(each, "apiVersion"), name_at(each, "kind"), name_at(each, "name"),
                         name_at(each, "uid")};
  return meta;
}

Status check_owner(const ObjectMeta& meta, const Name& uid, std::string_view what) {
  const std::string name = cat(what, " `", meta.space, "/", meta.name, "`");
  if (!meta.controller)
    return world_error(cat(name, " has no owner with `controller: true`"));
  const OwnerReference& by = *meta.controller;
  const std::string owner = cat(by.kind, " `", by.name, "` of `", by.api_version, "`");
  if (meta.owner().empty())
    return world_error(cat(name, " belongs to ", owner, ", which is no workload"));
  if (!uid.empty() && by.uid != uid)
    return world_error(cat(name, " belongs to ", owner, " with the UID `", by.uid,
                           "`, not to that with `", uid, "`"));
  return {};
}

Value owner_reference(const workloads::Object& owner) {
  return Value::dict({{"apiVersion", owner.document.at("apiVersion")},
                      {"kind", owner.kind},
                      {"name", owner.name},
                      {"uid", owner.uid},
                      {"controller", true},
                      {"blockOwnerDeletion", true}});
}

Time moment_at(const Value& dict, std::string_view key) {
  const auto time = read_moment(dict.text_at(key));
  return time ? *time : Time();
}

Value json_annotation(const Value& object, std::string_view key) {
  const std::string_view text = object.at("metadata").at("annotations").text_at(key);
  if (text.empty())
    return {};
  auto value = read_json(text, {}, Duplicates::last_wins);
  return value ? *value : Value();
}

const Value& condition_of(const Value& conditions, std::string_view type) {
  static const Value none;
  const auto rows = items_of(conditions);
  const auto found =
      std::ranges::find_if(rows, [&](const Value& row) { return row.text_at("type") == type; });
  return found == rows.end() ? none : *found;
}

std::vector<Entry> changed_entries(const Value& before, const Value& after) {
  std::vector<Entry> changed;
  if (before.is_dict())
    for (const Entry& entry : before.entries())
      if (after.find(entry.key) == nullptr)
        changed.push_back({entry.key, Value()});
  if (after.is_dict())
    for (const Entry& entry : after.entries())
      if (before.at(entry.key) != entry.value)
        changed.push_back(entry);
  return changed;
}

Value patch_between(const Value& before, const Value& after) {
  std::vector<Entry> changed = changed_entries(before, after);
  for (Entry& entry : changed)
    if (const Value& was = before.at(entry.key); was.is_dict() && entry.value.is_dict())
      entry.value = patch_between(was, entry.value);
  return dict_or_null(std::move(changed));
}

Value dict_or_null(std::vector<Entry> entries) {
  return entries.empty() ? Value() : Value::dict(std::move(entries));
}

}  // namespace fettle::cluster
