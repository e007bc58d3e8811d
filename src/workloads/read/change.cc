#include "workloads/read/change.h"

#include <algorithm>

#include "base/text.h"
#include "kinds/pod_change.h"
#include "value/json.h"
#include "workloads/names.h"
#include "workloads/read/label_syntax.h"
#include "workloads/read/read.h"
#include "workloads/rollout.h"

namespace fettle::workloads {
namespace {

/// A document with one field changed. Dicts on the path are made if they are missing.
Value with_field(const Value& document, std::string_view path, const Value& value) {
  const size_t dot = path.find('.');
  const Name name = path.substr(0, dot);
  if (dot == path.npos)
    return edited(document, {{name, value}});
  return edited(document, {{name, with_field(document.at(name), path.substr(dot + 1), value)}});
}

/// The object with another document, which must obey all rules.
Result<Object> checked(const Object& object, Value document) {
  Object changed = object;
  changed.document = std::move(document);
  TRY(check_document(changed));
  return changed;
}

Status need_kind(const Object& object, std::string_view what,
                 std::initializer_list<std::string_view> kinds) {
  if (std::ranges::find(kinds, object.kind.view()) != kinds.end())
    return {};
  std::vector<std::string> names(kinds.begin(), kinds.end());
  return user_error(
      cat("a ", object.kind, " has no ", what, ", expected one of ", join(names, ", ")));
}

constexpr std::string_view rolling = "spec.updateStrategy.rollingUpdate";

/// The path of an object's containers, below `spec`.
std::string_view containers_path(const Object& object) {
  return object.kind == "SidecarSet" ? "" : "template.spec.";
}

const Value& spec_of(const Object& object) {
  const Value& spec = object.document.at("spec");
  return object.kind == "SidecarSet" ? spec : spec.at("template").at("spec");
}

/// Containers with other images; `used`: which of the images were found.
Value with_images_in(const Value& containers, const std::vector<Entry>& images,
                     std::vector<bool>& used) {
  std::vector<Value> items;
  for (const Value& container : containers.items()) {
    Value changed = container;
    const std::string_view name = container.text_at("name");
    bool is_named = false;
    for (const bool by_name : {true, false})
      for (size_t i = 0; i < images.size(); ++i)
        if (by_name ? images[i].key == name : images[i].key == "*" && !is_named) {
          changed = edited(changed, {{"image", images[i].value}});
          used[i] = true;
          is_named |= by_name;
        }
    items.push_back(std::move(changed));
  }
  return Value::list(std::move(items));
}

}  // namespace

Status check_document(const Object& object) {
  if (!workload_sort(object.kind))
    return {};
  const std::string text = write_json(object.document, {.indent = 0, .show_secrets = true});
  const Manifests read = read_manifests(text, cat(object.kind, " `", object.name, "`"),
                                        {.is_of_cluster = object.is_of_cluster});
  if (!read.errors.empty())
    return user_error(read.errors.front().message);
  return {};
}

Result<Object> scaled(const Object& object, int64_t replicas) {
  TRY(need_kind(object, "number of replicas", {"CloneSet", "StatefulSet"}));
  return checked(object, with_field(object.document, "spec.replicas", replicas));
}

Result<Object> with_images(const Object& object, const std::vector<Entry>& images) {
  TRY(need_kind(object, "containers", {"CloneSet", "StatefulSet", "DaemonSet", "SidecarSet"}));
  std::vector<bool> used(images.size());
  Value document = object.document;
  std::vector<std::string> names;
  for (const char* part : {"containers", "initContainers"}) {
    const Value& containers = spec_of(object).at(part);
    if (!containers.is_list())
      continue;
    for (const Value& container : containers.items())
      names.emplace_back(container.text_at("name"));
    document = with_field(document, cat("spec.", containers_path(object), part),
                          with_images_in(containers, images, used));
  }
  for (size_t i = 0; i < images.size(); ++i)
    if (!used[i])
      return user_error(cat("there is no container `", printable(images[i].key), "` in ",
                            object.kind, " `", object.name, "`, only ", join(names, ", "),
                            suggestion(images[i].key, names)));
  return checked(object, std::move(document));
}

Status check_metadata(Metadata part, std::string_view key, const Value& text) {
  if (!is_label_key(key))
    return user_error(cat("the key `", clipped(printable(key), 80),
                          "` must be `NAME` or `PREFIX/NAME` of letters, digits, `-`, `_`, `.`"));
  if (part == Metadata::labels && text.is_text() && !is_label_value(text.text()))
    return user_error(cat("the value of label `", key, "` must have ", label_value_words, ", not `",
                          clipped(printable(text.text()), 80), "`"));
  return {};
}

Result<Object> with_metadata(const Object& object, Metadata part, const std::vector<Entry>& entries,
                             bool overwrite) {
  const std::string_view field = part == Metadata::labels ? "labels" : "annotations";
  const Value& before = object.document.at("metadata").at(field);
  for (const Entry& entry : entries) {
    TRY(check_metadata(part, entry.key, entry.value));
    const Value& known = before.at(entry.key);
    if (!overwrite && known.is_text() && entry.value.is_text() && known != entry.value)
      return user_error(cat(object.kind, " `", object.name, "` has `", entry.key, "=", known.text(),
                            "` already; `--overwrite` replaces it"));
  }
  // Marks of a pod may also remove what its template gave it.
  Value changed;
  if (object.kind == "Pod") {
    std::vector<Entry> all;
    if (before.is_dict())
      all.assign(before.entries().begin(), before.entries().end());
    all.insert(all.end(), entries.begin(), entries.end());
    changed = Value::dict(std::move(all));
  } else {
    changed = edited(before, entries);
    if (changed.entries().empty())
      changed = Value();
  }
  return checked(object, with_field(object.document, cat("metadata.", field), changed));
}

Result<Object> with_pause(const Object& object, bool paused) {
  TRY(need_kind(object, "rollout", {"CloneSet", "StatefulSet", "DaemonSet", "SidecarSet"}));
  const std::string path =
      object.kind == "SidecarSet" ? "spec.updateStrategy.paused" : cat(rolling, ".paused");
  const Value& strategy = object.document.at("spec").at("updateStrategy");
  const bool is_paused =
      (object.kind == "SidecarSet" ? strategy : strategy.at("rollingUpdate")).bool_at("paused");
  if (is_paused == paused)
    return user_error(
        cat(object.kind, " `", object.name, "` is ", paused ? "already paused" : "not paused"));
  return checked(object, with_field(object.document, path, paused ? Value(true) : Value()));
}

Result<Object> with_template(const Object& object, const Value& pod_template) {
  TRY(need_kind(object, "revisions", {"CloneSet", "StatefulSet", "DaemonSet"}));
  return checked(object, with_field(object.document, "spec.template", pod_template));
}

Object without_pods_to_delete(const Object& object,
                              const std::function<bool(const Name& pod)>& is_gone) {
  const Value& names = object.document.at("spec").at("scaleStrategy").at("podsToDelete");
  std::vector<Value> left;
  if (names.is_list())
    for (const Value& name : names.items())
      if (!name.is_text() || !is_gone(name.text()))
        left.push_back(name);
  Object after = object;
  after.document = with_field(object.document, "spec.scaleStrategy.podsToDelete",
                              left.empty() ? Value() : Value::list(std::move(left)));
  return after;
}

Result<Object> restarted(const Object& object, Time now) {
  TRY(need_kind(object, "pods of its own", {"CloneSet", "StatefulSet", "DaemonSet"}));
  const Value& pod = object.document.at("spec").at("template");
  const Value annotations =
      edited(pod.at("metadata").at("annotations"), {{restart_annotation, fettle::to_string(now)}});
  return checked(object,
                 with_field(object.document, "spec.template.metadata.annotations", annotations));
}

}  // namespace fettle::workloads
