#include "cluster/pods.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "kinds/pod.h"
#include "tests/kubernetes/json_text.h"
#include "tests/kubernetes/patches.h"
#include "value/json.h"

namespace fettle::cluster {
namespace {

using kubernetes::merge_patch;

using kubernetes::json;

/// A pod as OpenKruise has made it, with what a server fills in.
constexpr std::string_view pod_of_openkruise = R"({
  "metadata":{"name":"web-abcde","namespace":"default","uid":"u1","resourceVersion":"7",
    "creationTimestamp":"2026-11-22T13:40:53Z",
    "labels":{"app":"web","apps.kruise.io/cloneset-instance-id":"abcde",
      "controller-revision-hash":"web-a","pod-template-hash":"a",
      "lifecycle.apps.kruise.io/state":"Normal"},
    "annotations":{"lifecycle.apps.kruise.io/timestamp":"2026-11-22T13:40:53Z"},
    "ownerReferences":[{"apiVersion":"apps.kruise.io/v1beta1","kind":"CloneSet","name":"web",
      "uid":"u","controller":true}]},
  "spec":{"nodeName":"n1","readinessGates":[{"conditionType":"InPlaceUpdateReady"}],
    "containers":[{"name":"c0","image":"web:1","resources":{}}]},
  "status":{"phase":"Running","podIP":"10.0.0.1","conditions":[
    {"type":"Ready","status":"True"},{"type":"InPlaceUpdateReady","status":"True"}]}})";

std::vector<ControllerRevision> revisions() {
  std::vector<ControllerRevision> all(2);
  for (size_t i = 0; i < 2; ++i) {
    all[i].hash = i == 0 ? "a" : "b";
    all[i].name = cat("web-", all[i].hash);
    all[i].number = static_cast<int64_t>(i);
    all[i].pod_template = json(cat(
        R"({"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c0","image":"web:)",
        i + 1, R"("}]}})"));
  }
  return all;
}

ClusterPod pod_with(std::string_view change, const workloads::Gates& gates = {}) {
  const std::vector<ControllerRevision> all = revisions();
  const auto pod = read_pod(merge_patch(json(pod_of_openkruise), json(change)),
                            {"e", "kubernetes", gates, &all});
  EXPECT_TRUE(pod) << pod.error().message;
  return *pod;
}

Pod attributes_of(const ClusterPod& pod) {
  return read<Pod>(resource_of_then(*pod.record)->attributes);
}

TEST(ClusterPods, ReadsThatOfOpenKruise) {
  const ClusterPod pod = pod_with("{}");
  EXPECT_EQ(pod.key.name, "|default/web-abcde");
  EXPECT_EQ(pod.node, "n1");
  EXPECT_FALSE(pod.marks.has_value());
  EXPECT_FALSE(pod.record->attempt);
  EXPECT_EQ(pod.record->remote_id, "u1");
  EXPECT_EQ(read<PodOutputs>(pod.record->outputs).ip, "10.0.0.1");
  const Pod known = attributes_of(pod);
  EXPECT_EQ(known.owner.view(), "CloneSet/default/web");
  EXPECT_EQ(known.revision.view(), "web-a");
  EXPECT_EQ(known.uid.view(), "u1");
  EXPECT_EQ(known.pod_template.value(), revisions()[0].pod_template.value());
  EXPECT_EQ(known.conditions.value(), json(R"({"InPlaceUpdateReady":"True"})"));
  EXPECT_EQ(known.labels.at("app"), Value()) << "the template has it";
  EXPECT_EQ(known.labels.at("pod-template-hash"), Value("a"));
  EXPECT_EQ(known.state.value(), json(R"({"made":1795354853000000000})"));
}

TEST(ClusterPods, TheStageOfAnUpdate) {
  constexpr std::string_view state =
      R"("apps.kruise.io/inplace-update-state":"{\"revision\":\"web-b\",)"
      R"(\"updateTimestamp\":\"2026-11-22T13:40:53Z\",)"
      R"(\"lastContainerStatuses\":{\"c0\":{\"imageID\":\"i\"}}}")";
  constexpr std::string_view closed =
      R"("status":{"conditions":[{"type":"InPlaceUpdateReady","status":"False"}]})";
  constexpr std::string_view last = R"("last":{"c0":{"image_id":"i"}})";
  const std::string since = R"("since":1795354853000000000)";
  const struct {
    std::string title, change, revision, image, update;
  } table[] = {{"an update that is over leaves its state there",
                cat(R"({"metadata":{"annotations":{)", state, "}}}"), "web-a", "web:1", "null"},
               {"only the first write was made",
                cat(R"({"metadata":{"labels":{"lifecycle.apps.kruise.io/state":"Updating"},)",
                    R"("annotations":{)", state, "}},", closed, "}"),
                "web-b", "web:1", cat("{", since, ",", last, R"(,"grace":true})")},
               {"it drains, and has its new name already",
                cat(R"({"metadata":{"labels":{"lifecycle.apps.kruise.io/state":"Updating",)",
                    R"("controller-revision-hash":"web-b"},"annotations":{)", state,
                    R"(,"apps.kruise.io/inplace-update-grace":"{}"}},)", closed, "}"),
                "web-b", "web:1", cat("{", since, ",", last, R"(,"grace":true})")},
               {"its containers change",
                cat(R"({"metadata":{"labels":{"lifecycle.apps.kruise.io/state":"Updating",)",
                    R"("controller-revision-hash":"web-b"},"annotations":{)", state, "}},",
                    R"("spec":{"containers":[{"name":"c0","image":"web:2"}]},)", closed, "}"),
                "web-b", "web:2", cat("{", since, ",", last, "}")}};
  for (const auto& [title, change, revision, image, update] : table) {
    const Pod pod = attributes_of(pod_with(change));
    EXPECT_EQ(pod.revision.view(), revision) << title;
    EXPECT_EQ(pod.pod_template.at("spec").at("containers").items()[0].text_at("image"), image)
        << title;
    EXPECT_EQ(pod.state.at("update"), json(update)) << title;
  }
}

TEST(ClusterPods, MarksOfOthers) {
  const ClusterPod pod = pod_with(R"({"metadata":{
      "labels":{"app":null,"team":"a","apps.kruise.io/specified-delete":"true"},
      "annotations":{"note":"b","fettle/made":"{\"uid\":\"made\",\"at\":5}"},
      "finalizers":["x.org/y","foregroundDeletion"]}})");
  ASSERT_TRUE(pod.marks.has_value());
  EXPECT_EQ(pod.marks->owner(), "Pod/default/web-abcde");
  EXPECT_EQ(pod.marks->document, json(R"({"metadata":{
      "labels":{"app":null,"team":"a","apps.kruise.io/specified-delete":"true"},
      "annotations":{"note":"b"},"finalizers":["x.org/y"]}})"));
  const Pod known = attributes_of(pod);
  EXPECT_EQ(known.uid.view(), "made");
  EXPECT_EQ(known.state.value(), json(R"({"made":5,"marked":true})"));
  EXPECT_EQ(known.finalizers.value(), Value::list({"x.org/y"}));
  EXPECT_TRUE(pod_labels(resource_of_then(*pod.record)->attributes).at("app").is_null());
}

/// With a volume that asks for a claim, which is none of a claim template.
TEST(ClusterPods, SidecarsStandInAnAnnotation) {
  constexpr std::string_view part =
      R"([{"name":"logs","revision":"logs-a","containers":[{"name":"log","image":"log:1"}],)"
      R"("volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"x"}}],)"
      R"("annotations":{"of/log":"1"}}])";
  const ClusterPod pod =
      pod_with(cat(R"({"metadata":{"annotations":{"fettle/sidecars":)", write_json(Value(part)),
                   R"(,"of/log":"1","kruise.io/sidecarset-injected-list":"logs",
        "kruise.io/sidecarset-hash":"{}","kruise.io/sidecarset-hash-without-image":"{}"}},
      "spec":{"containers":[{"name":"log","image":"log:1","env":[{"name":"IS_INJECTED",
        "value":"true"}]},{"name":"c0","image":"web:1","resources":{}}],
      "volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"x"}}]}})"));
  EXPECT_FALSE(pod.marks.has_value());
  const Pod known = attributes_of(pod);
  EXPECT_EQ(known.sidecars.value(), json(part));
  EXPECT_EQ(known.pod_template.value(), revisions()[0].pod_template.value());
  EXPECT_TRUE(known.claims.empty());
  EXPECT_EQ(known.annotations.at("of/log"), Value()) << "the sidecar has it";
}

TEST(ClusterPods, SidecarsOfOpenKruiseAreLeftAlone) {
  const ClusterPod pod = pod_with(R"({"metadata":{"annotations":{
      "kruise.io/sidecarset-injected-list":"logs","kruise.io/sidecarset-hash":"{}",
      "kruise.io/sidecarset-hash-without-image":"{}",
      "kruise.io/sidecarset-inplace-update-state":"{}"}},
    "spec":{"containers":[{"name":"log","image":"log:1"},{"name":"c0","image":"web:1"}]}})");
  EXPECT_FALSE(pod.marks.has_value());
  const Pod known = attributes_of(pod);
  EXPECT_TRUE(known.sidecars.empty());
  EXPECT_EQ(known.pod_template.value(), revisions()[0].pod_template.value());
}

TEST(ClusterPods, WithoutItsRevisionATemplateHasNoSidecars) {
  const Pod pod = attributes_of(pod_with(R"({"metadata":{"labels":{"controller-revision-hash":"x"},
      "annotations":{"fettle/sidecars":
        "[{\"name\":\"logs\",\"revision\":\"r\",\"containers\":[{\"name\":\"log\"}]}]"}},
    "spec":{"containers":[{"name":"log","image":"log:1"},{"name":"c0","image":"web:1"}]}})"));
  const auto containers = items_of(pod.pod_template.at("spec").at("containers"));
  ASSERT_EQ(containers.size(), 1u);
  EXPECT_EQ(containers[0].text_at("name"), "c0");
  EXPECT_EQ(pod.sidecars.items().size(), 1u);
}

TEST(ClusterPods, WhatIsNotMadeCompletelyAndWhatIsLeaving) {
  const ClusterPod half = pod_with(R"({"status":{"conditions":null}})");
  EXPECT_FALSE(half.record->applied);
  EXPECT_EQ(half.record->attempt->verb, Verb::create);
  EXPECT_EQ(attributes_of(half).conditions.value(), json(R"({"InPlaceUpdateReady":"True"})"));
  const ClusterPod leaving =
      pod_with(R"({"metadata":{"deletionTimestamp":"2026-11-22T13:40:53Z"}})");
  EXPECT_TRUE(leaving.record->applied);
  EXPECT_EQ(leaving.record->attempt->verb, Verb::remove);
}

TEST(ClusterPods, ARevisionThatIsGoneIsAnotherTemplate) {
  const Pod pod =
      attributes_of(pod_with(R"({"metadata":{"labels":{"controller-revision-hash":"web-x"}}})"));
  EXPECT_EQ(pod.revision.view(), "web-x");
  EXPECT_NE(pod.pod_template.value(), revisions()[0].pod_template.value());
  EXPECT_EQ(pod.pod_template.at("spec").at("containers").items()[0].text_at("image"), "web:1");
}

TEST(ClusterPods, GatesAndShortHashes) {
  workloads::Gates gates;
  gates.resize = true;
  gates.environment = false;
  gates.short_hash = true;
  const Pod pod =
      attributes_of(pod_with(R"({"metadata":{"labels":{"controller-revision-hash":"a"}}})", gates));
  EXPECT_EQ(pod.revision.view(), "web-a");
  EXPECT_TRUE(pod.resize.get());
  EXPECT_TRUE(pod.keep_environment.get());
}

TEST(ClusterPods, SomebodyManagesIt) {
  const std::vector<ControllerRevision> all = revisions();
  const auto pod = read_pod(
      merge_patch(json(pod_of_openkruise), json(R"({"metadata":{"ownerReferences":null}})")),
      {"e", "kubernetes", {}, &all});
  ASSERT_FALSE(pod);
  EXPECT_EQ(pod.error().message, "pod `default/web-abcde` has no owner with `controller: true`");
}

/// The kinds of Kubernetes itself have the same names, and a workload may be made anew.
TEST(ClusterPods, APodOfAnotherOwnerOfTheSameNameIsNotTaken) {
  const std::vector<ControllerRevision> all = revisions();
  const auto read_with = [&](std::string_view owner, const Name& uid) {
    const Value change = json(cat(R"({"metadata":{"ownerReferences":[)", owner, "]}}"));
    const auto pod =
        read_pod(merge_patch(json(pod_of_openkruise), change), {"e", "kubernetes", {}, &all, uid});
    return pod ? "taken" : pod.error().message;
  };
  constexpr std::string_view built_in =
      R"({"apiVersion":"apps/v1","kind":"DaemonSet","name":"a","uid":"u","controller":true})";
  constexpr std::string_view ours =
      R"({"apiVersion":"apps.kruise.io/v1alpha1","kind":"DaemonSet","name":"a","uid":"u",)"
      R"("controller":true})";
  EXPECT_EQ(read_with(built_in, {}),
            "pod `default/web-abcde` belongs to DaemonSet `a` of `apps/v1`, which is no workload");
  EXPECT_EQ(read_with(ours, {}), "taken");
  EXPECT_EQ(read_with(ours, "u"), "taken");
  EXPECT_EQ(
      read_with(ours, "v"),
      "pod `default/web-abcde` belongs to DaemonSet `a` of `apps.kruise.io/v1alpha1` with the "
      "UID `u`, not to that with `v`");
}

}  // namespace
}  // namespace fettle::cluster
