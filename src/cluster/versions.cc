#include "cluster/versions.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "cluster/objects.h"
#include "cluster/owners.h"
#include "cluster/revisions.h"
#include "cluster/types.h"
#include "value/with.h"
#include "workloads/names.h"
#include "workloads/pod_defaults.h"
#include "workloads/rollout.h"

namespace fettle::cluster {
namespace {

using kubernetes::ResourceType;
using workloads::edited;

/// Fields of a CloneSet that stand in `updateStrategy` in v1alpha1, and one level deeper in v1beta1.
constexpr std::string_view rolling_fields[] = {
    "partition",       "maxUnavailable",       "maxSurge", "paused", "priorityStrategy",
    "scatterStrategy", "inPlaceUpdateStrategy"};

/// What stands in annotations in v1alpha1, and in `inPlaceUpdateStrategy` in v1beta1.
struct PullField {
  const Name& annotation;
  std::string_view field;
};
const PullField pull_fields[] = {
    {workloads::annotation::pull_parallelism, "imagePreDownloadParallelism"},
    {workloads::annotation::pull_timeout, "imagePreDownloadTimeoutSeconds"},
    {workloads::annotation::pull_threshold, "imagePreDownloadMinUpdatedReadyPods"}};

constexpr std::string_view last_applied_key = "kubectl.kubernetes.io/last-applied-configuration";
constexpr std::string_view space_label = "kubernetes.io/metadata.name";

bool has_alpha_fields(const Value& spec, std::string_view kind) {
  const Value& strategy = spec.at("updateStrategy");
  if (kind == types::clone_sets.kind) {
    const std::string_view how = strategy.text_at("type");
    return how == "ReCreate" || how.starts_with("InPlace") ||
           spec.at("scaleStrategy").find("disablePVCReuse") != nullptr ||
           std::ranges::any_of(rolling_fields, [&](std::string_view field) {
             return strategy.find(field) != nullptr;
           });
  }
  if (kind == types::daemon_sets.kind)
    return strategy.at("rollingUpdate").text_at("rollingUpdateType") == "Surging";
  return kind == types::sidecar_sets.kind && spec.find("namespace") != nullptr;
}

bool has_beta_fields(const Value& spec, std::string_view kind) {
  const Value& strategy = spec.at("updateStrategy");
  if (kind == types::clone_sets.kind)
    return strategy.find("rollingUpdate") != nullptr ||
           strategy.text_at("type") == "RollingUpdate" ||
           spec.at("scaleStrategy").find("enablePVCReuse") != nullptr;
  if (kind == types::daemon_sets.kind)
    return spec.find("scaleStrategy") != nullptr;
  return kind == types::sidecar_sets.kind && spec.find("customVersion") != nullptr;
}

std::string plain_version(std::string_view api_version) {
  return std::string(api_version.substr(api_version.find('/') + 1));
}

bool is_version(std::string_view version) {
  return version == version_alpha || version == version_beta;
}

std::string last_version(const Value& object, const ResourceType& type) {
  return plain_version(version_of_spec(object, type));
}

/// A number if it is one, for OpenKruise takes numbers and percentages there.
Value number_or_text(std::string_view text) {
  int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() ? Value(number)
                                                                         : Value(text);
}

Value changed_part(const Value& object, std::string_view part, std::string_view key,
                   std::vector<Entry> changes) {
  return with(
      object, part,
      edited(object.at(part), {{Name(key), edited(object.at(part).at(key), std::move(changes))}}));
}

/// Empty lists and dicts of metadata go.
Value without_empty(const Value& object, std::string_view key) {
  const Value& found = object.at("metadata").at(key);
  if (!found.is_dict() || !found.entries().empty())
    return object;
  return with(object, "metadata", edited(object.at("metadata"), {{Name(key), Value()}}));
}

Value with_spec(const Value& object, std::vector<Entry> changes) {
  return with(object, "spec", edited(object.at("spec"), std::move(changes)));
}

Value in_place_of_alpha(const Value& strategy, const Value& annotations) {
  std::vector<Entry> fields;
  for (const PullField& each : pull_fields)
    if (const std::string_view text = annotations.text_at(each.annotation.view()); !text.empty())
      fields.push_back({Name(each.field), number_or_text(text)});
  return fields.empty() ? strategy : edited(strategy, std::move(fields));
}

Value clone_set_in_beta(const Value& object) {
  const Value &spec = object.at("spec"), &strategy = spec.at("updateStrategy");
  const std::string_view how = strategy.text_at("type", "ReCreate");
  const bool is_on_delete = how == "OnDelete";
  std::vector<Entry> rolling;
  for (const std::string_view field : rolling_fields)
    if (const Value* const found = strategy.find(field))
      rolling.push_back({Name(field), *found});
  const Value in_place = in_place_of_alpha(strategy.at("inPlaceUpdateStrategy"),
                                           object.at("metadata").at("annotations"));
  if (in_place.is_dict())
    rolling.push_back({"inPlaceUpdateStrategy", in_place});
  rolling.push_back({"podUpdatePolicy", how.starts_with("InPlace") ? how : "ReCreate"});
  const Value& scale = spec.at("scaleStrategy");
  std::vector<Entry> scaling{{"enablePVCReuse", !scale.bool_at("disablePVCReuse")},
                             {"disablePVCReuse", Value()}};
  if (object.at("metadata")
          .at("labels")
          .text_at(workloads::label::exclude_preparing_delete.view()) == "true")
    scaling.push_back({"excludePreparingDelete", true});
  return with_spec(
      object, {{"updateStrategy",
                is_on_delete ? Value::dict({{"type", "OnDelete"}})
                             : Value::dict({{"type", "RollingUpdate"},
                                            {"rollingUpdate", Value::dict(std::move(rolling))}})},
               {"scaleStrategy", edited(scale, std::move(scaling))}});
}

/// With `disablePVCReuse` in any case: it tells the version.
Value clone_set_in_alpha(const Value& object) {
  const Value &spec = object.at("spec"), &strategy = spec.at("updateStrategy");
  const Value &rolling = strategy.at("rollingUpdate"), &scale = spec.at("scaleStrategy");
  const bool is_on_delete = strategy.text_at("type") == "OnDelete";
  std::vector<Entry> fields, annotations, labels;
  for (const std::string_view field : rolling_fields)
    if (const Value* const found = rolling.find(field))
      fields.push_back({Name(field), *found});
  const Value& in_place = rolling.at("inPlaceUpdateStrategy");
  std::vector<Entry> moved;
  for (const PullField& each : pull_fields)
    if (const Value* const found = in_place.find(each.field)) {
      annotations.push_back({each.annotation, to_text(*found)});
      moved.push_back({Name(each.field), Value()});
    }
  if (!moved.empty()) {
    const Value left = edited(in_place, std::move(moved));
    std::erase_if(fields, [](const Entry& entry) { return entry.key == "inPlaceUpdateStrategy"; });
    if (!left.entries().empty())
      fields.push_back({"inPlaceUpdateStrategy", left});
  }
  fields.push_back(
      {"type", is_on_delete ? "OnDelete" : rolling.text_at("podUpdatePolicy", "ReCreate")});
  if (scale.bool_at("excludePreparingDelete"))
    labels.push_back({workloads::label::exclude_preparing_delete, "true"});
  Value made = with_spec(
      object,
      {{"updateStrategy", Value::dict(std::move(fields))},
       {"scaleStrategy", edited(scale, {{"disablePVCReuse", !scale.bool_at("enablePVCReuse")},
                                        {"enablePVCReuse", Value()},
                                        {"excludePreparingDelete", Value()}})}});
  if (!annotations.empty())
    made = changed_part(made, "metadata", "annotations", std::move(annotations));
  if (!labels.empty())
    made = changed_part(made, "metadata", "labels", std::move(labels));
  return made;
}

/// `Surging` is a word of v1alpha1 for what `maxSurge` says.
Value daemon_set_in(const Value& object, std::string_view to) {
  const Name& progressive = workloads::annotation::progressive_creation;
  const Value& rolling = object.at("spec").at("updateStrategy").at("rollingUpdate");
  Value made = object;
  if (rolling.text_at("rollingUpdateType") == "Surging")
    made = with_spec(
        object,
        {{"updateStrategy",
          edited(object.at("spec").at("updateStrategy"),
                 {{"rollingUpdate", edited(rolling, {{"rollingUpdateType", "Standard"}})}})}});
  const Value& scale = made.at("spec").at("scaleStrategy");
  if (to == version_alpha && scale.is_dict()) {
    if (scale.bool_at("partitionedScaling"))
      made = changed_part(made, "metadata", "annotations", {{progressive, "true"}});
    return with_spec(made, {{"scaleStrategy", Value()}});
  }
  if (to == version_beta &&
      made.at("metadata").at("annotations").text_at(progressive.view()) == "true")
    made = with_spec(made, {{"scaleStrategy", edited(scale, {{"partitionedScaling", true}})}});
  return made;
}

Value sidecar_set_in(const Value& object, std::string_view to) {
  const Name& custom = workloads::label::custom_version;
  const Value& spec = object.at("spec");
  if (to == version_alpha) {
    const std::string version(spec.text_at("customVersion"));
    Value made = with_spec(object, {{"customVersion", Value()}});
    return version.empty() ? made : changed_part(made, "metadata", "labels", {{custom, version}});
  }
  Value made = object;
  if (const std::string_view space = spec.text_at("namespace"); !space.empty())
    made = with_spec(made,
                     {{"namespaceSelector",
                       Value::dict({{"matchLabels", Value::dict({{Name(space_label), space}})}})},
                      {"namespace", Value()}});
  const std::string version(object.at("metadata").at("labels").text_at(custom.view()));
  if (!version.empty())
    made = without_empty(changed_part(with_spec(made, {{"customVersion", version}}), "metadata",
                                      "labels", {{custom, Value()}}),
                         "labels");
  return made;
}

std::optional<VersionedObject> rewritten(const Value& object, const ResourceType& type,
                                         std::string_view from, std::string_view to) {
  ResourceType written = type;
  written.version = to;
  const Value named = with(object, {{"apiVersion", written.api_version()}, {"kind", type.kind}});
  Value made = in_version(named, type, from, to);
  if (made == named)
    return {};
  return VersionedObject{std::move(written), std::move(made)};
}

/// Of the newest entry of server-side apply with a spec. Empty: there is none.
std::string applied_version(const Value& object, const ResourceType& type) {
  std::string found;
  std::string_view last;
  for (const Value& entry : items_of(object.at("metadata").at("managedFields"))) {
    const std::string_view version = entry.text_at("apiVersion"), time = entry.text_at("time");
    if (entry.text_at("operation") != "Apply" || entry.find("subresource") != nullptr ||
        entry.at("fieldsV1").find("f:spec") == nullptr ||
        !version.starts_with(cat(type.group, "/")) || time < last)
      continue;
    found = plain_version(version);
    last = time;
  }
  return found;
}

}  // namespace

std::string version_of_fields(const Value& object, const ResourceType& type,
                              std::string_view otherwise) {
  const Value& spec = object.at("spec");
  const bool is_alpha = has_alpha_fields(spec, type.kind),
             is_beta = has_beta_fields(spec, type.kind);
  return std::string(is_alpha == is_beta ? otherwise : is_alpha ? version_alpha : version_beta);
}

std::string version_of_owner(const Value& object, const ResourceType& type) {
  const Value applied = json_annotation(object, last_applied_key);
  const std::string_view remembered = applied.text_at("apiVersion");
  if (remembered.starts_with(cat(type.group, "/")) && is_version(plain_version(remembered)))
    return plain_version(remembered);
  const std::string applies = applied_version(object, type);
  return is_version(applies) ? applies : last_version(object, type);
}

Value in_version(const Value& object, const ResourceType& type, std::string_view from,
                 std::string_view to) {
  if (from == to || !is_version(from) || !is_version(to) || !object.at("spec").is_dict())
    return object;
  if (type.kind == types::clone_sets.kind)
    return to == version_alpha ? clone_set_in_alpha(object) : clone_set_in_beta(object);
  if (type.kind == types::daemon_sets.kind)
    return daemon_set_in(object, to);
  return type.kind == types::sidecar_sets.kind ? sidecar_set_in(object, to) : object;
}

std::optional<Value> with_revised_template(const Value& object, const ResourceType& type,
                                           const std::vector<Value>& revisions) {
  if (type.kind == types::sidecar_sets.kind)
    return {};
  const Name uid = object.at("metadata").text_at("uid");
  std::vector<ControllerRevision> own;
  std::vector<Value> stored;
  for (const Value& each : revisions)
    if (Result<ControllerRevision> read = read_revision(each, uid);
        read && meta_of(each).controller && meta_of(each).controller->uid == uid) {
      own.push_back(*std::move(read));
      stored.push_back(each.at("data").at("spec").at("template"));
    }
  const auto newest = std::ranges::max_element(own, {}, &ControllerRevision::number);
  const Result<workloads::Object> read = read_workload(object, type);
  if (newest == own.end() || !read)
    return {};
  const Value said = with_known_policies(*read, own).document.at("spec").at("template");
  if (workloads::without_defaults(said, "Template") != newest->pod_template.value())
    return {};
  const Value revised =
      edited(stored[static_cast<size_t>(newest - own.begin())], {{"$patch", Value()}});
  if (revised == object.at("spec").at("template"))
    return {};
  return with_spec(object, {{"template", revised}});
}

std::optional<Value> with_fixed_defaults(const Value& object, const ResourceType& type) {
  if (type.kind != types::stateful_sets.kind ||
      !object.at("spec").text_at("podManagementPolicy").empty())
    return {};
  return with_spec(object, {{"podManagementPolicy", "OrderedReady"}});
}

std::optional<VersionedObject> rewritten_for_owner(const Value& object, const ResourceType& type,
                                                   std::string_view stored) {
  const std::string owner = version_of_owner(object, type), last = last_version(object, type);
  const std::string from = version_of_fields(object, type, stored);
  auto made = rewritten(object, type, from, owner);
  // Whoever reads it goes by the version in which it was written last.
  return made || last == owner ? std::move(made) : rewritten(object, type, from, last);
}

std::optional<VersionedObject> rewritten_for_storage(const Value& object, const ResourceType& type,
                                                     std::string_view stored) {
  const std::string last = last_version(object, type);
  return rewritten(object, type, version_of_fields(object, type, last), stored);
}

}  // namespace fettle::cluster
