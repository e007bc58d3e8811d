#include "cluster/update_state.h"

#include <algorithm>
#include <set>

#include "base/base64.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "cluster/objects.h"
#include "kinds/pod_change.h"
#include "value/json.h"

namespace fettle::cluster {
namespace {

/// The item of a list with this name; null: there is none.
const Value& named(const Value& list, std::string_view name) {
  static const Value none;
  const auto items = items_of(list);
  const auto found =
      std::ranges::find_if(items, [&](const Value& item) { return item.text_at("name") == name; });
  return found == items.end() ? none : *found;
}

Value with_entry(const Value& dict, const Name& key, const Value& value) {
  std::vector<Entry> entries;
  for (const Entry& entry : dict.entries())
    if (entry.key != key)
      entries.push_back(entry);
  if (!value.is_null())
    entries.push_back({key, value});
  return Value::dict(std::move(entries));
}

/// As a server fills them in: a limit is a request as well, unless there is another one.
Value with_requests(const Value& resources) {
  const Value &limits = resources.at("limits"), &requests = resources.at("requests");
  if (!limits.is_dict())
    return resources;
  std::vector<Entry> all(limits.entries().begin(), limits.entries().end());
  if (requests.is_dict())
    all.insert(all.end(), requests.entries().begin(), requests.entries().end());  // the last counts
  return with_entry(resources, "requests", Value::dict(std::move(all)));
}

/// The year 2100: a later moment could not be counted on from.
constexpr int64_t latest_since = 4'102'444'800'000'000'000;

/// Whether this is an update as `workloads/pods/in_place.h` has it: anybody may write annotations.
bool is_possible(const Value& update) {
  const Value& last = update.at("last");
  const int64_t since = update.integer_at("since", -1);
  const bool has_last =
      last.is_dict() ? std::ranges::all_of(last.entries(),
                                           [](const Entry& each) { return each.value.is_dict(); })
                     : last.is_null() && update.bool_at("grace");
  return has_last && since >= 0 && since <= latest_since;
}

/// Of an update that OpenKruise has begun, or gone on with.
Value update_of_others(const Value& state) {
  std::vector<Entry> last;
  const Value& statuses = state.at("lastContainerStatuses");
  if (statuses.is_dict())
    for (const Entry& entry : statuses.entries())
      last.push_back({entry.key, Value::dict({{"image_id", entry.value.at("imageID")}})});
  const int64_t since = moment_at(state, "updateTimestamp").time_since_epoch().count();
  return Value::dict({{"since", std::clamp<int64_t>(since, 0, latest_since)},
                      {"last", Value::dict(std::move(last))}});
}

constexpr std::string_view metadata_parts[] = {"labels", "annotations"};

/// Whether a container starts anew for this label or annotation.
bool refers_to(const Value& container, std::string_view part, const Name& key) {
  if (part == "annotations" && key == restart_annotation)
    return true;
  const std::string reference = cat(part, "/", key);
  return std::ranges::any_of(items_of(container.at("env")), [&](const Value& each) {
    const Value& field = each.at("valueFrom").at("fieldRef");
    return metadata_reference(field.text_at("fieldPath")) == reference;
  });
}

/// What the environment of a container takes of the entries that differ; null: nothing.
Value metadata_for(const Value& container, const Value& now, const Value& target) {
  std::vector<Entry> parts;
  for (const std::string_view part : metadata_parts) {
    std::vector<Entry> entries = changed_entries(now.at(part), target.at(part));
    std::erase_if(entries, [&](const Entry& each) {
      return each.value.is_null() || !refers_to(container, part, each.key);
    });
    if (!entries.empty())
      parts.push_back({part, Value::dict(std::move(entries))});
  }
  return dict_or_null(std::move(parts));
}

/// The template, where labels or annotations with these keys are as on a pod.
Value part_as_on(const Value& pod_template, std::string_view part, const std::set<Name>& keys,
                 const Value& pod) {
  const Value& metadata = pod_template.at("metadata");
  std::vector<Entry> entries;
  if (metadata.at(part).is_dict())
    for (const Entry& entry : metadata.at(part).entries())
      if (!keys.contains(entry.key))
        entries.push_back(entry);
  for (const Name& key : keys)
    if (const Value* const real = pod.at("metadata").at(part).find(key))
      entries.push_back({key, *real});
  return with_entry(pod_template, "metadata",
                    with_entry(metadata.is_dict() ? metadata : Value::dict({}), part,
                               dict_or_null(std::move(entries))));
}

std::set<Name> keys_of(const Value& dict) {
  std::set<Name> keys;
  if (dict.is_dict())
    for (const Entry& entry : dict.entries())
      keys.insert(entry.key);
  return keys;
}

}  // namespace

NextStep step_between(const Value& now, const Value& target) {
  std::vector<Entry> images, resources, metadata;
  for (const Value& container : items_of(target.at("spec").at("containers"))) {
    const Name name = container.text_at("name");
    const Value& before = named(now.at("spec").at("containers"), name);
    if (before.at("image") != container.at("image"))
      images.push_back({name, container.at("image")});
    if (before.at("resources") != container.at("resources"))
      resources.push_back({name, with_requests(container.at("resources"))});
    Value taken = metadata_for(container, now.at("metadata"), target.at("metadata"));
    if (!taken.is_null())
      metadata.push_back({name, std::move(taken)});
  }
  return {dict_or_null(std::move(images)), dict_or_null(std::move(resources)),
          dict_or_null(std::move(metadata))};
}

Value template_as_on(const Value& pod_template, const Value& pod, const NextStep& next) {
  if (next.is_empty())
    return pod_template;
  std::vector<Value> containers;
  Value made = pod_template;
  for (Value container : items_of(pod_template.at("spec").at("containers"))) {
    const Name name = container.text_at("name");
    const Value& real = named(pod.at("spec").at("containers"), name);
    if (next.images.find(name) != nullptr)
      container = with_entry(container, "image", real.at("image"));
    if (next.resources.find(name) != nullptr)
      container = with_entry(container, "resources", real.at("resources"));
    containers.push_back(std::move(container));
    for (const std::string_view part : metadata_parts)
      if (const auto keys = keys_of(next.metadata.at(name).at(part)); !keys.empty())
        made = part_as_on(made, part, keys, pod);
  }
  return with_entry(
      made, "spec",
      with_entry(pod_template.at("spec"), "containers", Value::list(std::move(containers))));
}

Value metadata_as_on(const Value& pod_template, const Value& pod, const Value& patch) {
  Value made = pod_template;
  for (const std::string_view part : metadata_parts) {
    std::set<Name> keys = keys_of(pod_template.at("metadata").at(part));
    keys.merge(keys_of(patch.at("metadata").at(part)));
    if (!keys.empty())
      made = part_as_on(made, part, keys, pod);
  }
  const auto own = items_of(pod_template.at("metadata").at("finalizers"));
  const auto going = items_of(patch.at("metadata").at("$deleteFromPrimitiveList/finalizers"));
  std::vector<Value> finalizers;
  for (const Value& each : items_of(pod.at("metadata").at("finalizers")))
    if (std::ranges::find(own, each) != own.end() || std::ranges::find(going, each) != going.end())
      finalizers.push_back(each);
  const Value kept = finalizers.empty() ? Value() : Value::list(std::move(finalizers));
  return made.at("metadata").is_dict()
             ? with_entry(made, "metadata", with_entry(made.at("metadata"), "finalizers", kept))
             : made;
}

Value metadata_change_of(const Value& grace) {
  const Result<std::string> text = base64_decode(grace.text_at("metaDataPatch"));
  if (!text)
    return {};
  const Result<Value> patch = read_json(*text, {}, Duplicates::last_wins);
  return patch ? *patch : Value();
}

UpdateState read_update_state(const Value& annotation) {
  if (!annotation.is_dict())
    return {};
  const Value& own = annotation.at("fettle");
  return {.revision = annotation.text_at("revision"),
          .update = is_possible(own) ? own : update_of_others(annotation),
          .next = {annotation.at("nextContainerImages"), annotation.at("nextContainerResources"),
                   annotation.at("nextContainerRefMetadata")}};
}

std::string write_update_state(const UpdateState& state) {
  const Time since = Time(Duration(state.update.integer_at("since")));
  std::vector<Entry> last;
  std::vector<Value> changed;
  const Value& before = state.update.at("last");
  if (before.is_dict())
    for (const Entry& entry : before.entries()) {
      changed.push_back(entry.key);
      if (!entry.value.bool_at("resized"))
        last.push_back({entry.key, Value::dict({{"imageID", entry.value.text_at("image_id")}})});
    }
  std::vector<Entry> entries{{"revision", state.revision},
                             {"updateTimestamp", write_moment(since)},
                             {"updateImages", !last.empty()},
                             {"lastContainerStatuses", Value::dict(std::move(last))},
                             {"fettle", state.update}};
  if (!state.next.is_empty())
    entries.push_back({"preCheckBeforeNext", Value::dict({{"containersRequiredReady",
                                                           Value::list(std::move(changed))}})});
  if (!state.next.images.is_null())
    entries.push_back({"nextContainerImages", state.next.images});
  if (!state.next.resources.is_null())
    entries.push_back({"nextContainerResources", state.next.resources});
  if (!state.next.metadata.is_null())
    entries.push_back({"nextContainerRefMetadata", state.next.metadata});
  return write_json(Value::dict(std::move(entries)));
}

}  // namespace fettle::cluster
