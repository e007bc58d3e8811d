#include "workloads/fields.h"

#include <algorithm>

#include "workloads/amount.h"

namespace fettle::workloads {
namespace {

using Type = Field::Type;

void set(int64_t& member, const Value& value) {
  if (value.is_integer())
    member = value.integer().value_or(member);
}
void set(bool& member, const Value& value) { member = value.is_bool() && value.boolean(); }
void set(Name& member, const Value& value) {
  if (value.is_text())
    member = value.text();
}
void set(Amount& member, const Value& value) { member = amount_of(value).value_or(member); }
void set(Value& member, const Value& value) { member = value; }
void set(Selector& member, const Value& value) { member = selector_of(value); }
void set(std::vector<Name>& member, const Value& value) { member = names_listed(value); }
template <typename T>
void set(std::optional<T>& member, const Value& value) {
  T read{};
  set(read, value);
  member = std::move(read);
}
void set(std::optional<Amount>& member, const Value& value) { member = amount_of(value); }

/// A field that is a member, or a member of a member.
template <auto member>
constexpr Field to(Field field) {
  field.set = [](Workload& workload, const Value& value) { set(workload.*member, value); };
  return field;
}
template <auto member, auto inner>
constexpr Field to(Field field) {
  field.set = [](Workload& workload, const Value& value) { set(workload.*member.*inner, value); };
  return field;
}

/// Twice the number that was measured. Each pod takes memory before anything is made of it.
constexpr int64_t most_replicas = 200'000;

constexpr Field fields[] = {
    {"CSDJKL", "apiVersion", Type::text},
    {"CSDJKL", "kind", Type::text},
    {"CSDJKL", "metadata", Type::dict},
    {"CSDJKL", "spec", Type::dict},
    {"CSDJKL", "status", Type::any},
    // Pods.
    to<&Workload::replicas>({"CS", "spec.replicas", Type::integer, 0, most_replicas}),
    {"CSDKJL", "spec.selector", Type::selector},
    {"JL", "spec.selector.names", Type::texts},
    {"CSD", "spec.template", Type::any},
    {"CS", "spec.volumeClaimTemplates", Type::items},
    {"CS", "spec.volumeClaimTemplates[].apiVersion", Type::text},
    {"CS", "spec.volumeClaimTemplates[].kind", Type::text},
    {"CS", "spec.volumeClaimTemplates[].metadata", Type::any},
    {"CS", "spec.volumeClaimTemplates[].spec", Type::dict},
    {"CS", "spec.volumeClaimTemplates[].spec.accessModes", Type::texts},
    {"CS", "spec.volumeClaimTemplates[].spec.selector", Type::selector},
    {"CS", "spec.volumeClaimTemplates[].spec.resources", Type::any},
    {"CS", "spec.volumeClaimTemplates[].spec.volumeName", Type::text},
    {"CS", "spec.volumeClaimTemplates[].spec.storageClassName", Type::text},
    {"CS", "spec.volumeClaimTemplates[].spec.volumeMode", Type::text, 0, 0, "Filesystem|Block"},
    {"CS", "spec.volumeClaimTemplates[].spec.dataSource", Type::any},
    {"CS", "spec.volumeClaimTemplates[].spec.dataSourceRef", Type::any},
    {"CS", "spec.volumeClaimTemplates[].spec.volumeAttributesClassName", Type::text},
    {"CS", "spec.volumeClaimTemplates[].status", Type::any},
    to<&Workload::min_ready_seconds>({"CD", "spec.minReadySeconds", Type::integer}),
    to<&Workload::history_limit>({"CSDK", "spec.revisionHistoryLimit", Type::integer}),
    {"CSD", "spec.lifecycle", Type::dict},
    {"CSD", "spec.lifecycle.preNormal", Type::dict},
    {"CSD", "spec.lifecycle.inPlaceUpdate", Type::dict},
    {"CSD", "spec.lifecycle.preDelete", Type::dict},
    {"CSD", "spec.lifecycle.preNormal.labelsHandler", Type::map},
    {"CSD", "spec.lifecycle.preNormal.finalizersHandler", Type::texts},
    {"CSD", "spec.lifecycle.preNormal.markPodNotReady", Type::boolean},
    {"CSD", "spec.lifecycle.inPlaceUpdate.labelsHandler", Type::map},
    {"CSD", "spec.lifecycle.inPlaceUpdate.finalizersHandler", Type::texts},
    {"CSD", "spec.lifecycle.inPlaceUpdate.markPodNotReady", Type::boolean},
    {"CSD", "spec.lifecycle.preDelete.labelsHandler", Type::map},
    {"CSD", "spec.lifecycle.preDelete.finalizersHandler", Type::texts},
    {"CSD", "spec.lifecycle.preDelete.markPodNotReady", Type::boolean},
    to<&Workload::progress_deadline_seconds>({"C", "spec.progressDeadlineSeconds", Type::integer}),
    {"C", "spec.scaleStrategy", Type::dict},
    to<&Workload::pods_to_delete>({"C", "spec.scaleStrategy.podsToDelete", Type::texts}),
    to<&Workload::scale_max_unavailable>({"C", "spec.scaleStrategy.maxUnavailable", Type::amount}),
    to<&Workload::reuses_claims>({"C", "spec.scaleStrategy.enablePVCReuse", Type::boolean}),
    to<&Workload::exclude_preparing_delete>(
        {"C", "spec.scaleStrategy.excludePreparingDelete", Type::boolean}),
    {"c", "spec.scaleStrategy.disablePVCReuse", Type::boolean},
    // Updates.
    {"CSDK", "spec.updateStrategy", Type::dict},
    {"C", "spec.updateStrategy.type", Type::text, 0, 0,
     "RollingUpdate|OnDelete|ReCreate|InPlaceIfPossible|InPlaceOnly"},
    {"SD", "spec.updateStrategy.type", Type::text, 0, 0, "RollingUpdate|OnDelete"},
    {"CSD", "spec.updateStrategy.rollingUpdate", Type::dict},
    to<&Workload::partition>({"C", "spec.updateStrategy.rollingUpdate.partition", Type::amount}),
    to<&Workload::partition>({"S", "spec.updateStrategy.rollingUpdate.partition", Type::integer}),
    to<&Workload::partition>({"D", "spec.updateStrategy.rollingUpdate.partition", Type::amount}),
    to<&Workload::max_unavailable>(
        {"CSD", "spec.updateStrategy.rollingUpdate.maxUnavailable", Type::amount}),
    to<&Workload::max_surge>({"CD", "spec.updateStrategy.rollingUpdate.maxSurge", Type::amount}),
    to<&Workload::paused>({"CSD", "spec.updateStrategy.rollingUpdate.paused", Type::boolean}),
    {"CS", "spec.updateStrategy.rollingUpdate.podUpdatePolicy", Type::text, 0, 0,
     "ReCreate|InPlaceIfPossible|InPlaceOnly"},
    {"C", "spec.updateStrategy.rollingUpdate.priorityStrategy", Type::dict},
    {"C", "spec.updateStrategy.rollingUpdate.priorityStrategy.weightPriority", Type::items},
    {"C", "spec.updateStrategy.rollingUpdate.priorityStrategy.weightPriority[].weight",
     Type::integer, 0, 100},
    {"C", "spec.updateStrategy.rollingUpdate.priorityStrategy.weightPriority[].matchSelector",
     Type::selector},
    {"C", "spec.updateStrategy.rollingUpdate.priorityStrategy.orderPriority", Type::items},
    {"C", "spec.updateStrategy.rollingUpdate.priorityStrategy.orderPriority[].orderedKey",
     Type::text},
    {"C", "spec.updateStrategy.rollingUpdate.scatterStrategy", Type::items},
    {"C", "spec.updateStrategy.rollingUpdate.scatterStrategy[].key", Type::text},
    {"C", "spec.updateStrategy.rollingUpdate.scatterStrategy[].value", Type::text},
    {"CS", "spec.updateStrategy.rollingUpdate.inPlaceUpdateStrategy", Type::dict},
    to<&Workload::grace_seconds>(
        {"CS", "spec.updateStrategy.rollingUpdate.inPlaceUpdateStrategy.gracePeriodSeconds",
         Type::integer}),
    to<&Workload::pull, &PullAhead::parallelism>(
        {"CS",
         "spec.updateStrategy.rollingUpdate.inPlaceUpdateStrategy.imagePreDownloadParallelism",
         Type::amount}),
    to<&Workload::pull, &PullAhead::timeout_seconds>(
        {"CS",
         "spec.updateStrategy.rollingUpdate.inPlaceUpdateStrategy.imagePreDownloadTimeoutSeconds",
         Type::integer, 1}),
    to<&Workload::pull, &PullAhead::min_updated_ready>(
        {"CS",
         "spec.updateStrategy.rollingUpdate.inPlaceUpdateStrategy."
         "imagePreDownloadMinUpdatedReadyPods",
         Type::amount}),
    to<&Workload::min_ready_seconds>(
        {"S", "spec.updateStrategy.rollingUpdate.minReadySeconds", Type::integer, 0, 300}),
    {"S", "spec.updateStrategy.rollingUpdate.unorderedUpdate", Type::dict},
    {"S", "spec.updateStrategy.rollingUpdate.unorderedUpdate.priorityStrategy", Type::dict},
    {"S", "spec.updateStrategy.rollingUpdate.unorderedUpdate.priorityStrategy.weightPriority",
     Type::items},
    {"S",
     "spec.updateStrategy.rollingUpdate.unorderedUpdate.priorityStrategy.weightPriority[].weight",
     Type::integer, 0, 100},
    {"S",
     "spec.updateStrategy.rollingUpdate.unorderedUpdate.priorityStrategy.weightPriority[]."
     "matchSelector",
     Type::selector},
    {"S", "spec.updateStrategy.rollingUpdate.unorderedUpdate.priorityStrategy.orderPriority",
     Type::items},
    {"S",
     "spec.updateStrategy.rollingUpdate.unorderedUpdate.priorityStrategy.orderPriority[]."
     "orderedKey",
     Type::text},
    {"D", "spec.updateStrategy.rollingUpdate.rollingUpdateType", Type::text, 0, 0,
     "Standard|InPlaceIfPossible"},
    to<&Workload::node_selector>(
        {"D", "spec.updateStrategy.rollingUpdate.selector", Type::selector}),
    {"c", "spec.updateStrategy.partition", Type::amount},
    {"c", "spec.updateStrategy.maxUnavailable", Type::amount},
    {"c", "spec.updateStrategy.maxSurge", Type::amount},
    {"c", "spec.updateStrategy.paused", Type::boolean},
    {"c", "spec.updateStrategy.priorityStrategy", Type::dict},
    {"c", "spec.updateStrategy.priorityStrategy.weightPriority", Type::items},
    {"c", "spec.updateStrategy.priorityStrategy.weightPriority[].weight", Type::integer, 0, 100},
    {"c", "spec.updateStrategy.priorityStrategy.weightPriority[].matchSelector", Type::selector},
    {"c", "spec.updateStrategy.priorityStrategy.orderPriority", Type::items},
    {"c", "spec.updateStrategy.priorityStrategy.orderPriority[].orderedKey", Type::text},
    {"c", "spec.updateStrategy.scatterStrategy", Type::items},
    {"c", "spec.updateStrategy.scatterStrategy[].key", Type::text},
    {"c", "spec.updateStrategy.scatterStrategy[].value", Type::text},
    {"c", "spec.updateStrategy.inPlaceUpdateStrategy", Type::dict},
    {"c", "spec.updateStrategy.inPlaceUpdateStrategy.gracePeriodSeconds", Type::integer},
    // StatefulSet.
    to<&Workload::service_name>({"S", "spec.serviceName", Type::text}),
    {"S", "spec.podManagementPolicy", Type::text, 0, 0, "OrderedReady|Parallel"},
    {"S", "spec.reserveOrdinals", Type::list},
    {"S", "spec.scaleStrategy", Type::dict},
    to<&Workload::scale_max_unavailable>({"S", "spec.scaleStrategy.maxUnavailable", Type::amount}),
    {"S", "spec.ordinals", Type::dict},
    to<&Workload::first_ordinal>({"S", "spec.ordinals.start", Type::integer}),
    {"S", "spec.persistentVolumeClaimRetentionPolicy", Type::dict},
    {"S", "spec.persistentVolumeClaimRetentionPolicy.whenScaled", Type::text, 0, 0,
     "Retain|Delete"},
    {"S", "spec.persistentVolumeClaimRetentionPolicy.whenDeleted", Type::text, 0, 0,
     "Retain|Delete"},
    {"S", "spec.volumeClaimUpdateStrategy", Type::dict},
    {"S", "spec.volumeClaimUpdateStrategy.type", Type::text, 0, 0, "OnPodRollingUpdate|OnDelete"},
    // DaemonSet.
    {"D", "spec.burstReplicas", Type::amount},
    {"D", "spec.scaleStrategy", Type::dict},
    to<&Workload::partitions_scaling>(
        {"D", "spec.scaleStrategy.partitionedScaling", Type::boolean}),
    // SidecarSet.
    to<&Workload::pods_space>({"K", "spec.namespace", Type::text}),
    {"K", "spec.customVersion", Type::text},
    {"K", "spec.patchPodMetadata", Type::none},
    to<&Workload::spaces>({"K", "spec.namespaceSelector", Type::selector}),
    {"K", "spec.containers", Type::list},
    {"K", "spec.initContainers", Type::list},
    {"K", "spec.volumes", Type::list},
    {"K", "spec.imagePullSecrets", Type::items},
    {"K", "spec.imagePullSecrets[].name", Type::text},
    {"K", "spec.injectionStrategy", Type::dict},
    to<&Workload::injection_paused>({"K", "spec.injectionStrategy.paused", Type::boolean}),
    {"K", "spec.injectionStrategy.revision", Type::dict},
    to<&Workload::injected, &InjectedRevision::revision>(
        {"K", "spec.injectionStrategy.revision.revisionName", Type::text}),
    to<&Workload::injected, &InjectedRevision::version>(
        {"K", "spec.injectionStrategy.revision.customVersion", Type::text}),
    {"K", "spec.injectionStrategy.revision.policy", Type::text, 0, 0, "Always|Partial"},
    {"K", "spec.updateStrategy.type", Type::text, 0, 0, "NotUpdate|RollingUpdate"},
    to<&Workload::paused>({"K", "spec.updateStrategy.paused", Type::boolean}),
    to<&Workload::partition>({"K", "spec.updateStrategy.partition", Type::amount}),
    to<&Workload::max_unavailable>({"K", "spec.updateStrategy.maxUnavailable", Type::amount}),
    to<&Workload::update_selector>({"K", "spec.updateStrategy.selector", Type::selector}),
    {"K", "spec.updateStrategy.priorityStrategy", Type::dict},
    {"K", "spec.updateStrategy.priorityStrategy.weightPriority", Type::items},
    {"K", "spec.updateStrategy.priorityStrategy.weightPriority[].weight", Type::integer, 0, 100},
    {"K", "spec.updateStrategy.priorityStrategy.weightPriority[].matchSelector", Type::selector},
    {"K", "spec.updateStrategy.priorityStrategy.orderPriority", Type::items},
    {"K", "spec.updateStrategy.priorityStrategy.orderPriority[].orderedKey", Type::text},
    {"K", "spec.updateStrategy.scatterStrategy", Type::items},
    {"K", "spec.updateStrategy.scatterStrategy[].key", Type::text},
    {"K", "spec.updateStrategy.scatterStrategy[].value", Type::text},
    // ImagePullJob, ImageListPullJob.
    to<&Workload::pulls, &PullSpec::image>({"J", "spec.image", Type::text}),
    to<&Workload::pull_images>({"L", "spec.images", Type::texts}),
    {"JL", "spec.imagePullPolicy", Type::text, 0, 0, "Always|IfNotPresent"},
    to<&Workload::pulls, &PullSpec::secrets>({"JL", "spec.pullSecrets", Type::texts}),
    to<&Workload::pulls, &PullSpec::pod_selector>({"JL", "spec.podSelector", Type::selector}),
    to<&Workload::pulls, &PullSpec::parallelism>({"JL", "spec.parallelism", Type::count}),
    {"JL", "spec.pullPolicy", Type::dict},
    to<&Workload::pulls, &PullSpec::timeout_seconds>(
        {"JL", "spec.pullPolicy.timeoutSeconds", Type::integer, 1}),
    to<&Workload::pulls, &PullSpec::backoff_limit>(
        {"JL", "spec.pullPolicy.backoffLimit", Type::integer}),
    {"JL", "spec.completionPolicy", Type::dict},
    {"JL", "spec.completionPolicy.type", Type::text, 0, 0, "Always|Never"},
    to<&Workload::pulls, &PullSpec::deadline_seconds>(
        {"JL", "spec.completionPolicy.activeDeadlineSeconds", Type::integer, 1}),
    to<&Workload::pulls, &PullSpec::ttl_seconds>(
        {"JL", "spec.completionPolicy.ttlSecondsAfterFinished", Type::integer}),
    {"JL", "spec.sandboxConfig", Type::dict},
    to<&Workload::pulls, &PullSpec::labels>({"JL", "spec.sandboxConfig.labels", Type::map}),
    to<&Workload::pulls, &PullSpec::annotations>(
        {"JL", "spec.sandboxConfig.annotations", Type::map}),
};

}  // namespace

std::span<const Field> all_fields() { return fields; }

std::vector<Name> names_listed(const Value& list) {
  std::vector<Name> names;
  for (const Value& item : items_of(list))
    names.emplace_back(to_text(item));
  return names;
}

char letter_of(std::string_view kind) {
  return kind == "CloneSet"       ? 'C'
         : kind == "StatefulSet"  ? 'S'
         : kind == "DaemonSet"    ? 'D'
         : kind == "SidecarSet"   ? 'K'
         : kind == "ImagePullJob" ? 'J'
                                  : 'L';
}

void read_fields(const Value& document, Workload& workload) {
  const char letter = letter_of(to_string(workload.sort));
  for (const Field& field : fields) {
    if (field.set == nullptr ||
        std::string_view(field.kinds).find(letter) == std::string_view::npos)
      continue;
    const Value* const value = follow(document, field.path);
    if (value != nullptr && !value->is_null())
      field.set(workload, *value);
  }
}

}  // namespace fettle::workloads
