#include "workloads/workload.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/invariant.h"
#include "base/text.h"
#include "workloads/fields.h"
#include "workloads/names.h"
#include "workloads/pod_defaults.h"

namespace fettle::workloads {
namespace {

constexpr std::array<std::string_view, 6> sorts{"CloneSet",     "StatefulSet", "DaemonSet",
                                                "ImagePullJob", "SidecarSet",  "ImageListPullJob"};
/// Fields of a sidecar that a container does not have.
constexpr std::string_view sidecar_fields[] = {"podInjectPolicy", "shareVolumePolicy",
                                               "shareVolumeDevicePolicy", "transferEnv",
                                               "upgradeStrategy"};

std::optional<Hook> hook_of(const Value& value) {
  if (!value.is_dict())
    return std::nullopt;
  Hook hook;
  if (const Value& labels = value.at("labelsHandler"); labels.is_dict())
    hook.labels.assign(labels.entries().begin(), labels.entries().end());
  hook.finalizers = names_listed(value.at("finalizersHandler"));
  hook.marks_not_ready = value.bool_at("markPodNotReady");
  return hook;
}

PodPolicy policy_of(std::string_view text) {
  return text == "InPlaceIfPossible" ? PodPolicy::in_place_if_possible
         : text == "InPlaceOnly"     ? PodPolicy::in_place_only
                                     : PodPolicy::recreate;
}

Priority priority_of(const Value& value) {
  Priority priority;
  if (const Value& weights = value.at("weightPriority"); weights.is_list())
    for (const Value& each : weights.items())
      priority.weights.push_back(
          {selector_of(each.at("matchSelector")), each.integer_at("weight")});
  if (const Value& keys = value.at("orderPriority"); keys.is_list())
    for (const Value& each : keys.items())
      priority.order_keys.emplace_back(each.text_at("orderedKey"));
  return priority;
}

std::vector<ScatterTerm> scatter_of(const Value& value) {
  std::vector<ScatterTerm> terms;
  if (value.is_list())
    for (const Value& each : value.items())
      terms.push_back({each.text_at("key"), each.text_at("value")});
  return terms;
}

void read_rolling(const Value& rolling, Workload& workload) {
  workload.policy = policy_of(rolling.text_at("podUpdatePolicy"));
  workload.order.priority = priority_of(rolling.at("priorityStrategy"));
  workload.order.scatter = scatter_of(rolling.at("scatterStrategy"));
}

void read_pods(const Value& spec, Workload& workload) {
  workload.selector = selector_of(spec.at("selector"));
  workload.pod_template = without_defaults(spec.at("template"), "Template");
  workload.claims_document = spec.at("volumeClaimTemplates");
  if (workload.claims_document.is_list())
    for (const Value& claim : workload.claims_document.items())
      workload.claims.push_back({claim.at("metadata").text_at("name"), claim.at("spec"),
                                 claim.at("metadata").at("labels")});
  workload.hooks.pre_normal = hook_of(spec.at("lifecycle").at("preNormal"));
  workload.hooks.in_place_update = hook_of(spec.at("lifecycle").at("inPlaceUpdate"));
  workload.hooks.pre_delete = hook_of(spec.at("lifecycle").at("preDelete"));
  const std::string_view type = spec.at("updateStrategy").text_at("type");
  workload.type = type == "OnDelete" ? UpdateType::on_delete : UpdateType::rolling;
}

void read_clone_set(const Value& spec, Workload& workload) {
  read_rolling(spec.at("updateStrategy").at("rollingUpdate"), workload);
  workload.exclude_preparing_delete |=
      workload.labels.text_at(label::exclude_preparing_delete) == "true";
}

/// Reads `3` or `"5-8"`.
std::pair<int64_t, int64_t> ordinals_of(const Value& value) {
  if (value.is_integer()) {
    const int64_t one = value.integer().value_or(0);
    return {one, one};
  }
  const Name text = value.is_text() ? value.text() : Name();
  const std::string_view range = text;
  const size_t dash = range.find('-');
  int64_t first = 0, last = 0;
  std::from_chars(range.data(), range.data() + std::min(dash, range.size()), first);
  if (dash == range.npos)
    return {first, first};
  std::from_chars(range.data() + dash + 1, range.data() + range.size(), last);
  return {first, last};
}

void read_stateful_set(const Value& spec, Workload& workload) {
  const Value& rolling = spec.at("updateStrategy").at("rollingUpdate");
  read_rolling(rolling, workload);
  workload.parallel = spec.text_at("podManagementPolicy") == "Parallel";
  workload.unordered = rolling.at("unorderedUpdate").is_dict();
  workload.order.priority = priority_of(rolling.at("unorderedUpdate").at("priorityStrategy"));
  if (const Value& reserved = spec.at("reserveOrdinals"); reserved.is_list())
    for (const Value& each : reserved.items())
      workload.reserved_ordinals.push_back(ordinals_of(each));
  const Value& retention = spec.at("persistentVolumeClaimRetentionPolicy");
  workload.deletes_claims_when_scaled = retention.text_at("whenScaled") == "Delete";
  workload.deletes_claims_when_deleted = retention.text_at("whenDeleted") == "Delete";
}

void read_daemon_set(const Value& spec, Workload& workload) {
  const Value& rolling = spec.at("updateStrategy").at("rollingUpdate");
  read_rolling(rolling, workload);
  // If new pods come first, none is missing.
  if (rolling.at("maxUnavailable").is_null() && !rolling.at("maxSurge").is_null())
    workload.max_unavailable = Amount{0};
  workload.policy = rolling.text_at("rollingUpdateType") == "InPlaceIfPossible"
                        ? PodPolicy::in_place_if_possible
                        : PodPolicy::recreate;
  workload.partitions_scaling |=
      workload.annotations.text_at(annotation::progressive_creation) == "true";
  workload.burst = amount_of(spec.at("burstReplicas")).value_or(Amount{250}).number;
}

void read_job(const Value& spec, Workload& workload) {
  PullSpec& pulls = workload.pulls;
  pulls.always = spec.text_at("imagePullPolicy") == "Always";
  if (const Value& nodes = spec.at("selector"); nodes.is_dict()) {
    if (nodes.at("names").is_list() && !nodes.at("names").items().empty())
      pulls.node_names = names_listed(nodes.at("names"));
    else
      pulls.node_selector = selector_of(nodes);
  }
  pulls.never_completes = spec.at("completionPolicy").text_at("type") == "Never";
}

/// The entries that make a sidecar more than a container; defaults do not.
std::vector<Entry> sidecar_entries(const Value& container) {
  std::vector<Entry> entries;
  for (const auto& [field, key, word] :
       {std::tuple("shareVolumePolicy", "type", "enabled"),
        std::tuple("shareVolumeDevicePolicy", "type", "enabled"),
        std::tuple("upgradeStrategy", "upgradeType", "HotUpgrade")})
    if (const Value& value = container.at(field); value.text_at(key) == word)
      entries.push_back({field, value});
  if (const Value& transfers = container.at("transferEnv");
      transfers.is_list() && !transfers.items().empty())
    entries.push_back({"transferEnv", transfers});
  return entries;
}

/// Sidecars without defaults.
Value lean_sidecars(const Value& containers) {
  if (!containers.is_list())
    return {};
  std::vector<Value> lean;
  for (const Value& container : containers.items()) {
    std::vector<Entry> entries;
    for (const Entry& entry : container.entries())
      if (std::ranges::find(sidecar_fields, entry.key.view()) == std::end(sidecar_fields))
        entries.push_back(entry);
    const Value plain = without_defaults(Value::dict(std::move(entries)), "Container");
    std::vector<Entry> all = sidecar_entries(container);
    all.insert(all.end(), plain.entries().begin(), plain.entries().end());
    lean.push_back(Value::dict(std::move(all)));
  }
  return Value::list(std::move(lean));
}

void read_sidecar_set(const Value& spec, Workload& workload) {
  if (const Value& containers = spec.at("containers"); containers.is_list())
    for (const Value& container : containers.items())
      if (container.text_at("podInjectPolicy", "BeforeAppContainer") == "BeforeAppContainer")
        workload.first_containers.emplace_back(container.text_at("name"));
  workload.pod_template = sidecar_set_template(spec);
  const Value& strategy = spec.at("updateStrategy");
  read_rolling(strategy, workload);
  workload.type =
      strategy.text_at("type") == "NotUpdate" ? UpdateType::on_delete : UpdateType::rolling;
  workload.policy = PodPolicy::in_place_only;
  workload.injected.is_partial =
      spec.at("injectionStrategy").at("revision").text_at("policy") == "Partial";
  workload.custom_version =
      spec.text_at("customVersion", workload.labels.text_at(label::custom_version));
}

/// The value of an annotation as text.
std::string annotation_text(const Value& annotations, std::string_view key) {
  const Value& value = annotations.at(key);
  return value.is_null() ? std::string() : std::string(trim(to_text(value)));
}

}  // namespace

Name Object::owner() const { return cat(kind, "/", space, "/", name); }

Name Workload::owner() const { return cat(to_string(sort), "/", space, "/", name); }

int64_t Workload::kept(int64_t all) const {
  if (sort != WorkloadSort::daemon_set)
    return partition_of(partition, all);
  return partition ? std::min(partition->of(all, false), all) : 0;
}

std::string_view to_string(WorkloadSort sort) { return sorts[static_cast<size_t>(sort)]; }

std::optional<WorkloadSort> workload_sort(std::string_view kind) {
  for (size_t i = 0; i < sorts.size(); ++i)
    if (sorts[i] == kind)
      return static_cast<WorkloadSort>(i);
  return std::nullopt;
}

void read_pull_annotations(const Value& annotations, PullAhead& pull) {
  // A text that is no number counts as missing; a number that is not valid is reported.
  if (const std::string text = annotation_text(annotations, annotation::pull_parallelism);
      !text.empty()) {
    if (const auto amount = amount_of(Value(text)))
      pull.parallelism = *amount;
    else if (text.starts_with('-') && amount_of(Value(text.substr(1))))
      pull.refused_parallelism = text;
  }
  if (const std::string text = annotation_text(annotations, annotation::pull_timeout);
      !text.empty()) {
    const auto amount = amount_of(Value(text));
    if (amount && !amount->is_percent && amount->number > 0)
      pull.timeout_seconds = amount->number;
  }
  if (const auto amount =
          amount_of(Value(annotation_text(annotations, annotation::pull_threshold))))
    pull.min_updated_ready = amount;
}

Value sidecar_set_template(const Value& spec) {
  std::vector<Entry> parts;
  for (const char* part : {"containers", "initContainers"})
    if (Value containers = lean_sidecars(spec.at(part)); containers.is_list())
      parts.push_back({part, std::move(containers)});
  for (const char* part : {"volumes", "imagePullSecrets"})
    if (!spec.at(part).is_null())
      parts.push_back(
          {part, without_defaults(spec.at(part),
                                  std::string_view(part) == "volumes" ? "Volume[]" : "any")});
  return Value::dict({{"spec", Value::dict(std::move(parts))}});
}

Workload workload_of(const Object& object) {
  const auto sort = workload_sort(object.kind);
  INVARIANT(sort.has_value());
  const Value &spec = object.document.at("spec"), &metadata = object.document.at("metadata");
  Workload workload;
  workload.sort = *sort;
  workload.space = object.space;
  workload.name = object.name;
  workload.generation = object.generation;
  workload.labels = metadata.at("labels");
  workload.annotations = metadata.at("annotations");
  read_pull_annotations(workload.annotations, workload.pull);
  if (*sort == WorkloadSort::clone_set)
    workload.max_unavailable = percent(20);
  read_fields(object.document, workload);
  read_pods(spec, workload);
  switch (*sort) {
    case WorkloadSort::clone_set:
      read_clone_set(spec, workload);
      break;
    case WorkloadSort::stateful_set:
      read_stateful_set(spec, workload);
      break;
    case WorkloadSort::daemon_set:
      read_daemon_set(spec, workload);
      break;
    case WorkloadSort::image_pull_job:
    case WorkloadSort::image_list_pull_job:
      read_job(spec, workload);
      break;
    case WorkloadSort::sidecar_set:
      read_sidecar_set(spec, workload);
      break;
  }
  const Value& annotations = workload.annotations;
  workload.pull.kruise_rules = annotations.text_at(annotation::pull_rules) == "kruise";
  workload.order.image_early = annotations.text_at(annotation::pull_order) == "early";
  workload.pull.mode =
      annotations.text_at(annotation::pull_mode) == "wait" ? PullMode::wait : PullMode::race;
  return workload;
}

}  // namespace fettle::workloads
