/// Every field of every kind that has it: one table of fields and kinds. What OpenKruise accepts
/// is accepted and means something, what it refuses is refused, and a kind that lacks a field says
/// so.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "base/file.h"
#include "base/text.h"
#include "workloads/read/checker.h"
#include "workloads/read/read.h"

namespace fettle::workloads {
namespace {

constexpr std::string_view all_kinds[] = {"CloneSet",   "StatefulSet",  "DaemonSet",
                                          "SidecarSet", "ImagePullJob", "ImageListPullJob"};

/// A manifest with something at a path below `spec`, beside what the kind needs.
std::string fields_manifest(std::string_view kind, std::string_view path, std::string_view value) {
  std::string spec;
  if (kind == "ImagePullJob")
    spec = R"({"image":"web:1")";
  else if (kind == "ImageListPullJob")
    spec = R"({"images":["web:1"])";
  else if (kind == "SidecarSet")
    spec = R"({"selector":{"matchLabels":{"app":"web"}},"containers":[{"name":"c","image":"i:1"}])";
  else
    spec = cat(R"({"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{)",
               R"("app":"web"}},"spec":{"containers":[{"name":"c","image":"i:1"}]}})");
  // What only makes sense beside something else.
  if (path.starts_with("updateStrategy.rollingUpdate.unorderedUpdate") ||
      (kind == "StatefulSet" && path.find("axUnavailable") != path.npos))
    spec += R"(,"podManagementPolicy":"Parallel")";
  const auto parts = split(path, '.');
  std::string nested(value);
  for (auto part = parts.rbegin(); part != parts.rend(); ++part)
    nested = cat("{\"", *part, "\":", nested, "}");
  return cat(R"({"apiVersion":"apps.kruise.io/v1beta1","kind":")", kind,
             R"(","metadata":{"name":"web"},"spec":)", spec, ",", nested.substr(1), "}");
}

std::vector<std::string> field_errors(std::string_view text) {
  std::vector<std::string> errors;
  for (const Error& error : read_manifests(text, "web.json", {}).errors)
    errors.push_back(error.message);
  return errors;
}

Workload workload_with(std::string_view kind, std::string_view path, std::string_view value) {
  const Manifests read = read_manifests(fields_manifest(kind, path, value), "web.json", {});
  EXPECT_TRUE(read.errors.empty()) << kind << " " << path << ": " << value << "\n"
                                   << (read.errors.empty() ? "" : to_string(read.errors[0]));
  return read.objects.empty() ? Workload() : workload_of(read.objects[0]);
}

using Meaning = std::function<bool(const Workload&)>;

/// `kinds`: those that have the field, by the first letters of their names. `bad`: with a `|`
/// between. The meaning is what a workload has with the good value, and has not without it.
struct FieldCase {
  std::string_view path, kinds, good, bad;
  Meaning meaning;
};

bool has(std::string_view kinds, std::string_view kind) {
  const std::string letter = kind == "SidecarSet"         ? "K"
                             : kind == "ImagePullJob"     ? "J"
                             : kind == "ImageListPullJob" ? "L"
                                                          : std::string(kind.substr(0, 1));
  return kinds.find(letter) != kinds.npos;
}

/// What is no `priorityStrategy` and no `scatterStrategy` of whatever kind.
constexpr std::string_view bad_priorities =
    R"({"weightPriority":[{"weight":101,"matchSelector":{"matchLabels":{"a":"b"}}}]}|)"
    R"({"weightPriority":[{"weight":5,"matchSelector":{"matchLabels":{"a":true}}}]}|)"
    R"({"weightPriority":[{"weight":5,"selector":{"matchLabels":{"a":"b"}}}]}|)"
    R"({"weightPriority":[{"matchSelector":{"matchLabels":{"a":"b"}}}]}|)"
    R"({"weightPriority":[5]}|{"orderPriority":[{"key":"a"}]}|{"orderPriority":[{"orderedKey":5}]})";
constexpr std::string_view bad_scatter =
    R"([{"key":"a","val":"b"}]|[{"key":1,"value":"b"}]|[{"value":"b"}]|[{"key":"a"},{"key":"a"}]|)"
    R"([{"key":"a","value":true}]|[{"key":"a","value":5}]|[{"key":"a","value":["b"]}])";
constexpr std::string_view good_weights =
    R"({"weightPriority":[{"weight":5,"matchSelector":{"matchLabels":{"a":"b"}}}]})";

const FieldCase field_cases[] = {
    {"replicas", "CS", "3", R"(-1|"3"|1.5|200001)",
     [](const Workload& w) { return w.replicas == 3; }},
    {"minReadySeconds", "CD", "5", R"(-1|"5")",
     [](const Workload& w) { return w.min_ready_seconds == 5; }},
    {"updateStrategy.rollingUpdate.minReadySeconds", "S", "5", R"(-1|301)",
     [](const Workload& w) { return w.min_ready_seconds == 5; }},
    {"revisionHistoryLimit", "CSDK", "3", R"(-1|"3")",
     [](const Workload& w) { return w.history_limit == 3; }},
    {"lifecycle.preDelete", "CSD", R"({"labelsHandler":{"a":"b"},"markPodNotReady":true})",
     R"({"labelsHandler":{"a":1}}|{"finalizersHandler":[1]}|{"markPodNotReady":"yes"}|{"label":{}})",
     [](const Workload& w) { return w.hooks.pre_delete && w.hooks.pre_delete->marks_not_ready; }},
    {"lifecycle.preNormal", "CSD", R"({"finalizersHandler":["f"]})", R"({"labelsHandler":["a"]})",
     [](const Workload& w) {
       return w.hooks.pre_normal && w.hooks.pre_normal->finalizers == std::vector<Name>{"f"};
     }},
    {"lifecycle.inPlaceUpdate", "CS", R"({"labelsHandler":{"a":"b"}})",
     R"({"labelsHandler":{"a":null}})",
     [](const Workload& w) { return w.hooks.in_place_update.has_value(); }},
    {"updateStrategy.type", "CSD", R"("OnDelete")", R"("Recreate"|1)",
     [](const Workload& w) { return w.type == UpdateType::on_delete; }},
    {"updateStrategy.type", "K", R"("NotUpdate")", R"("OnDelete")",
     [](const Workload& w) { return w.type == UpdateType::on_delete; }},
    {"updateStrategy.rollingUpdate.partition", "C", R"("50%")", R"(-1|"101%"|"2"|"x"|"-5%")",
     [](const Workload& w) { return w.kept(5) == 3 && w.kept(1) == 1; }},
    {"updateStrategy.rollingUpdate.partition", "S", "2", R"("50%"|-1)",
     [](const Workload& w) { return w.kept(5) == 2; }},
    {"updateStrategy.rollingUpdate.partition", "D", R"("50%")", R"(-1|"101%"|"2")",
     [](const Workload& w) { return w.kept(5) == 2 && w.kept(1) == 0; }},
    {"updateStrategy.partition", "K", R"("50%")", R"(-1|"101%"|"2")",
     [](const Workload& w) { return w.kept(5) == 3; }},
    {"updateStrategy.rollingUpdate.maxUnavailable", "CSD", R"("40%")",
     R"(0|"0%"|-1|"101%"|"2"|"x")",
     [](const Workload& w) { return w.max_unavailable == percent(40); }},
    {"updateStrategy.maxUnavailable", "K", R"("40%")", R"(-1|"101%"|"x")",
     [](const Workload& w) { return w.max_unavailable == percent(40); }},
    {"updateStrategy.rollingUpdate.maxSurge", "CD", "2", R"(-1|"101%"|"x")",
     [](const Workload& w) { return w.max_surge == Amount{2}; }},
    {"updateStrategy.rollingUpdate.paused", "CSD", "true", R"("yes"|1)",
     [](const Workload& w) { return w.paused; }},
    {"updateStrategy.paused", "K", "true", R"("yes")", [](const Workload& w) { return w.paused; }},
    {"updateStrategy.rollingUpdate.podUpdatePolicy", "CS", R"("InPlaceOnly")", R"("InPlace"|1)",
     [](const Workload& w) { return w.policy == PodPolicy::in_place_only; }},
    {"updateStrategy.rollingUpdate.rollingUpdateType", "D", R"("InPlaceIfPossible")",
     R"("InPlaceOnly")",
     [](const Workload& w) { return w.policy == PodPolicy::in_place_if_possible; }},
    {"updateStrategy.rollingUpdate.selector", "D", R"({"matchLabels":{"zone":"a"}})",
     R"({"matchLabels":{"zone":1}}|{"labels":{}}|{"matchExpressions":[{"key":"a","operator":"Inn"}]})",
     [](const Workload& w) { return w.node_selector && !w.node_selector->is_empty(); }},
    {"updateStrategy.selector", "K", R"({"matchLabels":{"zone":"a"}})",
     R"({"matchLabels":{"zone":true}}|{})",
     [](const Workload& w) { return w.update_selector && !w.update_selector->is_empty(); }},
    {"namespaceSelector", "K", R"({"matchLabels":{"zone":"a"}})",
     R"({"matchLabels":{"zone":true}}|{})",
     [](const Workload& w) { return w.spaces && !w.spaces->is_empty(); }},
    {"podSelector", "JL", R"({"matchLabels":{"zone":"a"}})", R"({"matchLabels":{"zone":1.5}})",
     [](const Workload& w) { return w.pulls.pod_selector && !w.pulls.pod_selector->is_empty(); }},
    {"selector", "JL", R"({"names":["n1"]})",
     R"({"names":[1]}|{"names":["a","a"]}|{"matchLabels":{"a":1}}|{"name":"n1"}|{"names":["a"],"matchLabels":{"b":"c"}})",
     [](const Workload& w) { return w.pulls.node_names == std::vector<Name>{"n1"}; }},
    {"updateStrategy.rollingUpdate.priorityStrategy", "C", good_weights, bad_priorities,
     [](const Workload& w) { return w.order.priority.weights.size() == 1; }},
    {"updateStrategy.priorityStrategy", "K", good_weights, bad_priorities,
     [](const Workload& w) { return w.order.priority.weights.size() == 1; }},
    {"updateStrategy.rollingUpdate.unorderedUpdate.priorityStrategy", "S", good_weights,
     bad_priorities, [](const Workload& w) { return w.order.priority.weights.size() == 1; }},
    {"updateStrategy.priorityStrategy", "K", R"({"orderPriority":[{"orderedKey":"a"}]})",
     R"({"orderPriority":[{"orderedKey":""}]}|{"weights":[]})",
     [](const Workload& w) { return w.order.priority.order_keys == std::vector<Name>{"a"}; }},
    {"updateStrategy.rollingUpdate.unorderedUpdate", "S",
     R"({"priorityStrategy":{"orderPriority":[{"orderedKey":"a"}]}})", R"({"priority":{}})",
     [](const Workload& w) {
       return w.unordered && w.order.priority.order_keys == std::vector<Name>{"a"};
     }},
    {"updateStrategy.rollingUpdate.scatterStrategy", "C", R"([{"key":"a","value":"b"}])",
     bad_scatter, [](const Workload& w) { return w.order.scatter.size() == 1; }},
    {"updateStrategy.scatterStrategy", "K", R"([{"key":"a","value":"b"}])", bad_scatter,
     [](const Workload& w) { return w.order.scatter.size() == 1; }},
    {"updateStrategy.rollingUpdate.inPlaceUpdateStrategy", "CS",
     R"({"gracePeriodSeconds":5,"imagePreDownloadParallelism":2,"imagePreDownloadTimeoutSeconds":9,)"
     R"("imagePreDownloadMinUpdatedReadyPods":3})",
     R"({"gracePeriodSeconds":-1}|{"imagePreDownloadParallelism":-1}|{"grace":5})",
     [](const Workload& w) {
       return w.grace_seconds == 5 && w.pull.parallelism == Amount{2} &&
              w.pull.timeout_seconds == 9 && w.pull.min_updated_ready == Amount{3};
     }},
    {"scaleStrategy.maxUnavailable", "CS", R"("20%")", R"(-1|"x"|"2")",
     [](const Workload& w) { return w.scale_max_unavailable == percent(20); }},
    {"scaleStrategy.podsToDelete", "C", R"(["a"])", R"(["a","a"]|[1]|"a")",
     [](const Workload& w) { return w.pods_to_delete == std::vector<Name>{"a"}; }},
    {"scaleStrategy.enablePVCReuse", "C", "true", "1",
     [](const Workload& w) { return w.reuses_claims; }},
    {"scaleStrategy.excludePreparingDelete", "C", "true", "1",
     [](const Workload& w) { return w.exclude_preparing_delete; }},
    {"scaleStrategy.partitionedScaling", "D", "true", "1",
     [](const Workload& w) { return w.partitions_scaling; }},
    {"progressDeadlineSeconds", "C", "60", R"(0|-1|"60")",
     [](const Workload& w) { return w.progress_deadline_seconds == 60; }},
    {"serviceName", "S", R"("db")", "1",
     [](const Workload& w) { return w.service_name == Name("db"); }},
    {"podManagementPolicy", "S", R"("Parallel")", R"("parallel")",
     [](const Workload& w) { return w.parallel; }},
    {"reserveOrdinals", "S", R"([1,"3-5"])", R"(["5-3"]|[-1]|["x"]|1)",
     [](const Workload& w) { return w.reserved_ordinals.size() == 2; }},
    {"ordinals.start", "S", "2", R"(-1|"2")",
     [](const Workload& w) { return w.first_ordinal == 2; }},
    {"persistentVolumeClaimRetentionPolicy", "S",
     R"({"whenScaled":"Delete","whenDeleted":"Delete"})", R"({"whenScaled":"Keep"})",
     [](const Workload& w) {
       return w.deletes_claims_when_scaled && w.deletes_claims_when_deleted;
     }},
    {"volumeClaimTemplates", "CS",
     R"([{"metadata":{"name":"d"},"spec":{"accessModes":["ReadWriteOnce"]}}])",
     R"([{"metadata":{"name":"d"},"spec":{"accessMode":[]}}]|[{"spec":{}}]|[{"name":"d"}])",
     [](const Workload& w) { return w.claims.size() == 1; }},
    {"burstReplicas", "D", "5", R"(-1|"x")", [](const Workload& w) { return w.burst == 5; }},
    {"injectionStrategy.paused", "K", "true", "1",
     [](const Workload& w) { return w.injection_paused; }},
    {"injectionStrategy.revision", "K", R"({"customVersion":"v1","policy":"Partial"})",
     R"({}|{"policy":"Some","customVersion":"v1"})",
     [](const Workload& w) { return w.injected.version == Name("v1") && w.injected.is_partial; }},
    {"customVersion", "K", R"("v2")", "2",
     [](const Workload& w) { return w.custom_version == Name("v2"); }},
    {"imagePullPolicy", "JL", R"("Always")", R"("Never")",
     [](const Workload& w) { return w.pulls.always; }},
    {"parallelism", "JL", "3", R"("50%"|-1|"x")",
     [](const Workload& w) { return w.pulls.parallelism == Amount{3}; }},
    {"pullPolicy", "JL", R"({"timeoutSeconds":9,"backoffLimit":0})",
     R"({"timeoutSeconds":0}|{"retries":1})",
     [](const Workload& w) { return w.pulls.timeout_seconds == 9 && w.pulls.backoff_limit == 0; }},
    {"completionPolicy", "JL", R"({"type":"Never"})",
     R"({"type":"Maybe"}|{"type":"Never","ttlSecondsAfterFinished":1}|{"activeDeadlineSeconds":5})",
     [](const Workload& w) { return w.pulls.never_completes; }},
    {"pullSecrets", "JL", R"(["s"])", R"([1]|"s")",
     [](const Workload& w) { return w.pulls.secrets == std::vector<Name>{"s"}; }},
    {"sandboxConfig", "JL", R"({"labels":{"a":"b"}})", R"({"labels":{"a":1}})",
     [](const Workload& w) { return w.pulls.labels.text_at("a") == "b"; }},
};

TEST(Fields, WhatAKindHasIsAcceptedAndMeansSomething) {
  for (const FieldCase& row : field_cases)
    for (const std::string_view kind : all_kinds) {
      if (!has(row.kinds, kind))
        continue;
      EXPECT_TRUE(row.meaning(workload_with(kind, row.path, row.good))) << kind << " " << row.path;
      const std::string_view unsaid =
          kind.ends_with("PullJob") ? "sandboxConfig" : "revisionHistoryLimit";
      EXPECT_FALSE(row.meaning(workload_with(kind, unsaid, "null")))
          << kind << " " << row.path << " means something without being said";
    }
}

TEST(Fields, WhatOpenKruiseRefusesIsRefused) {
  for (const FieldCase& row : field_cases)
    for (const std::string_view kind : all_kinds)
      for (const std::string_view bad : split(row.bad, '|'))
        if (has(row.kinds, kind)) {
          EXPECT_FALSE(field_errors(fields_manifest(kind, row.path, bad)).empty())
              << kind << " " << row.path << ": " << bad;
        }
}

/// The kinds that the table gives a path, in the order of `all_kinds`.
std::string kinds_of(std::string_view path) {
  std::string kinds;
  for (const std::string_view kind : all_kinds)
    for (const FieldCase& row : field_cases)
      if (row.path == path && has(row.kinds, kind))
        kinds += cat(kinds.empty() ? "" : " ", kind);
  return kinds;
}

TEST(Fields, AKindWithoutAFieldSaysSo) {
  for (const FieldCase& row : field_cases)
    for (const std::string_view kind : all_kinds) {
      if (kinds_of(row.path).find(kind) != std::string::npos)
        continue;
      const auto errors = field_errors(fields_manifest(kind, row.path, row.good));
      EXPECT_FALSE(errors.empty()) << kind << " " << row.path;
    }
}

// A field that is added to a kind needs a row here.
TEST(Fields, EveryFieldHasARow) {
  for (const FieldRow& field : field_rows()) {
    if (!field.path.starts_with("spec.") || field.is_alpha_only || !field.is_supported)
      continue;
    const std::string path = field.path.substr(5);
    // What every manifest here has, or is a part of another row.
    if (path == "selector" || path == "template" || path.starts_with("containers") ||
        path.starts_with("initContainers") || path.starts_with("volumes") || path == "image" ||
        path == "images" || path.starts_with("imagePullSecrets") ||
        path.starts_with("volumeClaimUpdateStrategy") || path == "namespace")
      continue;
    for (const std::string_view kind : field.kinds) {
      const bool is_told = std::ranges::any_of(field_cases, [&](const FieldCase& row) {
        return has(row.kinds, kind) &&
               (path == row.path || path.starts_with(cat(row.path, ".")) ||
                path.starts_with(cat(row.path, "[]")) || row.path.starts_with(cat(path, ".")));
      });
      EXPECT_TRUE(is_told || (kind == "DaemonSet" && path.starts_with("lifecycle.inPlaceUpdate")))
          << kind << " " << path;
    }
  }
}

TEST(Fields, RulesBetweenFieldsAreThoseOfOpenKruise) {
  const std::vector<
      std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>>
      cases{
          {"DaemonSet", "updateStrategy.rollingUpdate", R"({"maxSurge":1,"maxUnavailable":1})",
           "cannot be used with"},
          {"DaemonSet", "updateStrategy.rollingUpdate", R"({"maxSurge":0,"maxUnavailable":0})",
           "cannot both be 0"},
          {"DaemonSet", "updateStrategy.rollingUpdate", R"({"maxSurge":0})", "cannot both be 0"},
          {"DaemonSet", "updateStrategy.rollingUpdate", R"({"maxSurge":1})", ""},
          {"DaemonSet", "updateStrategy.rollingUpdate", R"({"maxSurge":1,"maxUnavailable":0})", ""},
          {"DaemonSet", "updateStrategy.rollingUpdate",
           R"({"maxSurge":1,"rollingUpdateType":"InPlaceIfPossible"})",
           "cannot be used with InPlaceIfPossible"},
          {"DaemonSet", "lifecycle.inPlaceUpdate", R"({"labelsHandler":{"a":"b"}})",
           "is not a hook of a DaemonSet"},
          {"CloneSet", "updateStrategy.rollingUpdate", R"({"maxSurge":1,"maxUnavailable":1})", ""},
          {"CloneSet", "updateStrategy.rollingUpdate", R"({"maxSurge":0,"maxUnavailable":0})",
           "cannot both be 0"},
          {"CloneSet", "updateStrategy.rollingUpdate",
           R"({"maxSurge":1,"podUpdatePolicy":"InPlaceOnly"})", "cannot be used with InPlaceOnly"},
          {"StatefulSet", "updateStrategy.rollingUpdate", R"({"partition":1})", ""},
          {"StatefulSet", "updateStrategy", R"({"rollingUpdate":{"unorderedUpdate":{}}})", ""},
          {"StatefulSet", "updateStrategy", R"({"type":"OnDelete","rollingUpdate":{}})",
           "has no meaning with OnDelete"},
          {"SidecarSet", "updateStrategy",
           R"({"partition":1,"selector":{"matchLabels":{"a":"b"}}})", "exclude each other"},
      };
  for (const auto& [kind, path, value, wanted] : cases) {
    const std::string told = join(field_errors(fields_manifest(kind, path, value)), "\n");
    if (wanted.empty() && kind != "StatefulSet") {
      EXPECT_EQ(told, "") << kind << " " << value;
    } else if (!wanted.empty()) {
      EXPECT_NE(told.find(wanted), std::string::npos) << kind << " " << value << ": " << told;
    }
  }
}

// In order, one pod changes at a time: only the integer 1 says so.
TEST(Fields, AnOrderedStatefulSetHasNoOtherLimitThanOne) {
  const auto told = [](std::string_view field, std::string_view value) {
    return field_errors(cat(
        R"({"apiVersion":"apps.kruise.io/v1beta1","kind":"StatefulSet","metadata":{"name":"db"},)",
        R"("spec":{"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{)",
        R"("app":"web"}},"spec":{"containers":[{"name":"c","image":"i:1"}]}},)", field, value,
        field.find("rollingUpdate") != field.npos ? "}}}}" : "}}}"));
  };
  constexpr std::string_view update = R"("updateStrategy":{"rollingUpdate":{"maxUnavailable":)",
                             scale = R"("scaleStrategy":{"maxUnavailable":)";
  for (const std::string_view field : {update, scale}) {
    EXPECT_TRUE(told(field, "1").empty()) << field;
    for (const std::string_view value : {"2", R"("20%")", R"("100%")"})
      EXPECT_EQ(told(field, value).size(), 1u) << field << value;
  }
}

}  // namespace
}  // namespace fettle::workloads
