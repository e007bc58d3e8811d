#include "cluster/others.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "cluster/names.h"
#include "kinds/kinds.h"
#include "kinds/pod.h"
#include "tests/kubernetes/json_text.h"
#include "tests/kubernetes/patches.h"
#include "value/json.h"
#include "value/with.h"
#include "workloads/workload.h"

namespace fettle::cluster {
namespace {

using kubernetes::json;

constexpr Time update_at = Time(Duration(1'800'000'000'000'000'000));

class PodsOfOthers : public testing::Test {
 protected:
  PodsOfOthers() { put_set("log:1", "h1", 1); }

  /// `hash`: OpenKruise's. Its revision is `logs-NUMBER`.
  void put_set(std::string_view image, std::string_view hash, int64_t number,
               std::string_view more = "", std::string_view set = "logs",
               std::string_view container = "log") {
    workloads::Object object;
    object.kind = "SidecarSet";
    object.name = set;
    object.uid = cat("uid-of-", set);
    object.document = json(cat(R"({"metadata":{"name":")", set,
                               R"(","annotations":{"kruise.io/sidecarset-hash":")", hash,
                               R"(","kruise.io/sidecarset-hash-without-image":"w"}},
          "spec":{"selector":{"matchLabels":{"app":"web"}},"containers":[{"name":")",
                               container, R"(","image":")", image, R"(")", more, "}]}}"));
    ControllerRevision revision;
    revision.name = cat(set, "-", number);
    revision.owner = object.owner();
    revision.number = number;
    revision.pod_template = workloads::sidecar_set_template(object.document.at("spec"));
    owners_.put(std::move(object));
    owners_.put(std::move(revision));
  }

  static Value pod_with(std::string_view annotations, std::string_view image = "log:1",
                        std::string_view more = "") {
    return json(cat(R"({"metadata":{"name":"web-0","namespace":"shop","uid":"u1",
      "resourceVersion":"7","labels":{"app":"web"},"creationTimestamp":"2026-11-22T13:40:53Z",
      "annotations":{)",
                    annotations, "}", more, R"(},"spec":{"nodeName":"n1","containers":[
        {"name":"main","image":"main:1","env":[{"name":"A","value":"a"}]},
        {"name":"log","image":")",
                    image, R"(","volumeMounts":[{"name":"token","mountPath":"/t"}]}]},
      "status":{"phase":"Running"}})"));
  }
  /// As OpenKruise's webhook leaves it.
  static Value injected(std::string_view image, std::string_view hash, std::string_view revision,
                        std::string_view more = "") {
    const Value note =
        Value::dict({{"logs", Value::dict({{"hash", hash}, {"controllerRevision", revision}})}});
    return pod_with(
        cat(R"("kruise.io/sidecarset-injected-list":"logs",)", R"("kruise.io/sidecarset-hash":)",
            write_json(Value(write_json(note))), more),
        image);
  }
  /// As a policy of ours leaves it, with more annotations.
  static Value made_by_policy(std::string_view more = "") {
    return pod_with(cat(
        R"("kruise.io/sidecarset-injected-list":"logs","fettle/sidecars":"[{\"name\":\"logs\",)",
        R"(\"revision\":\"logs-1\",\"containers\":[{\"name\":\"log\",\"image\":\"log:1\",)",
        R"(\"env\":[]}]}]")", more));
  }

  std::optional<ClusterPod> read(const Value& object) const {
    return read_pod_of_others(object, {"cluster", driver_name, owners_});
  }
  Attributes attributes_of(const Value& object) const {
    const auto pod = read(object);
    return pod ? pod->record->applied->attributes : Attributes();
  }
  /// What it has of its only set. Null: it is no pod with sidecars.
  Value part_of_pod(const Value& object) const {
    const auto pod = read(object);
    return pod ? fettle::read_one<&Pod::sidecars>(pod->record->applied->attributes).items()[0]
               : Value();
  }

  Owners owners_;
};

TEST_F(PodsOfOthers, HaveWhatTheirAnnotationSays) {
  const auto pod = read(made_by_policy());
  ASSERT_TRUE(pod);
  EXPECT_EQ(pod->key.name, "others|shop/web-0");
  EXPECT_EQ(pod->node, "n1");
  const Record& record = *pod->record;
  EXPECT_TRUE(existed_before(record)) << "nobody here may remove it";
  EXPECT_EQ(record.applied->leftover, Leftover::forget);
  const Pod read = fettle::read<Pod>(record.applied->attributes);
  EXPECT_EQ(read.owner.get(), "Others/shop/pods");
  EXPECT_EQ(read.sidecars.value(), json(R"([{"name":"logs","revision":"logs-1","containers":[
              {"name":"log","image":"log:1","env":[]}]}])"));
  EXPECT_EQ(read.pod_template.value(), json(R"({"metadata":{"labels":{"app":"web"}},
    "spec":{"containers":[{"name":"main","image":"main:1"}]}})"));
}

TEST_F(PodsOfOthers, HaveWhatOpenKruiseHasPutIntoThem) {
  EXPECT_EQ(part_of_pod(injected("log:1", "h1", "logs-1")),
            json(R"({"name":"logs","revision":"logs-1","containers":[
              {"name":"log","image":"log:1"}]})"));
  // Its webhook was faster than the status with the name of the revision.
  EXPECT_EQ(part_of_pod(injected("log:1", "h1", "logs-0")).text_at("revision"), "logs-1");
  EXPECT_EQ(part_of_pod(injected("log:1", "h1", "")).text_at("revision"), "logs-1");
  // Its webhook is away, and the hash of the set is not that of its images.
  EXPECT_EQ(part_of_pod(injected("log:0", "h1", "logs-0")).text_at("revision"), "logs-0");
  put_set("log:2", "h2", 2);
  EXPECT_EQ(part_of_pod(injected("log:1", "h1", "logs-1")).text_at("revision"), "logs-1");
  EXPECT_EQ(part_of_pod(injected("log:1", "h1", "")).text_at("revision"), "unknown");
  EXPECT_EQ(part_of_pod(injected("log:1", "h1", "logs-1",
                                 R"(,"kruise.io/sidecarset-inplace-update-state":
      "{\"logs\":{\"lastContainerStatuses\":{\"log\":{\"imageID\":\"i0\"}}}}")"))
                .at("last"),
            json(R"({"log":{"image_id":"i0"}})"));
}

TEST_F(PodsOfOthers, WhoeverChangedThemLastSaysWhatTheyHave) {
  put_set("log:2", "h2", 2);
  const auto revision = [&](std::string_view noted) {
    return part_of_pod(made_by_policy(cat(R"(,"kruise.io/sidecarset-hash":
      "{\"logs\":{\"hash\":\"h1\",\"controllerRevision\":\")",
                                          noted, R"(\"}}")")))
               .text_at("revision") == noted;
  };
  EXPECT_TRUE(revision("logs-1"));
  EXPECT_TRUE(revision("logs-0"));
}

TEST_F(PodsOfOthers, AHotSidecarIsTwoContainers) {
  put_set("mesh:2", "m", 1,
          R"(,"upgradeStrategy":{"upgradeType":"HotUpgrade","hotUpgradeEmptyImage":"empty:1"})",
          "meshes", "mesh");
  const auto read_hot = [&](std::string_view idle_image) {
    return part_of_pod(json(cat(R"({"metadata":{"name":"web-0","namespace":"shop","uid":"u1",
      "annotations":{"kruise.io/sidecarset-injected-list":"meshes",
        "kruise.io/sidecarset-hash":"{\"meshes\":{\"hash\":\"m\"}}",
        "kruise.io/sidecarset-working-hotupgrade-container":"{\"mesh\":\"mesh-2\"}",
        "version.sidecarset.kruise.io/mesh-2":"12"}},
      "spec":{"containers":[{"name":"main","image":"main:1"},{"name":"mesh-1","image":")",
                                idle_image, R"("},{"name":"mesh-2","image":"mesh:2"}]}})")));
  };
  EXPECT_EQ(read_hot("empty:1"), json(R"({"name":"meshes","revision":"meshes-1",
    "annotations":{"version.sidecarset.kruise.io/mesh-2":"12"},"working":{"mesh":"mesh-2"},
    "containers":[{"name":"mesh-1","image":"empty:1"},{"name":"mesh-2","image":"mesh:2"}]})"));
  EXPECT_EQ(read_hot("mesh:1").at("leaving"), json(R"({"mesh-1":"empty:1"})"));
}

TEST_F(PodsOfOthers, OtherPodsAreNotRead) {
  EXPECT_FALSE(read(Value()));
  EXPECT_FALSE(read(pod_with("")));
  EXPECT_FALSE(read(pod_with(R"("kruise.io/sidecarset-injected-list":"traces")")));
  const Value pod = made_by_policy();
  ASSERT_TRUE(read(pod));
  EXPECT_FALSE(read(kubernetes::with_path(pod, {"metadata", "deletionTimestamp"}, "now")));
  EXPECT_FALSE(read(kubernetes::with_path(pod, {"status", "phase"}, "Succeeded")));
  EXPECT_FALSE(read(kubernetes::with_path(pod, {"spec", "containers"},
                                          json(R"([{"name":"log","image":"log:1"}])"))))
      << "it has nothing but sidecars";
  EXPECT_FALSE(read(kubernetes::with_path(pod, {"spec", "containers"},
                                          json(R"([{"name":"main","image":"main:1"}])"))))
      << "the container of the set is missing";
  const auto is_read = [&](std::string_view api, std::string_view kind) {
    return read(kubernetes::with_path(pod, {"metadata", "ownerReferences"},
                                      Value::list({Value::dict({{"apiVersion", api},
                                                                {"kind", kind},
                                                                {"name", "web"},
                                                                {"uid", "x"},
                                                                {"controller", true}})})))
        .has_value();
  };
  EXPECT_FALSE(is_read("apps.kruise.io/v1beta1", "CloneSet"));
  EXPECT_FALSE(is_read("apps.kruise.io/v1beta1", "StatefulSet"));
  EXPECT_TRUE(is_read("apps.kruise.io/v1beta1", "BroadcastJob"));
  EXPECT_TRUE(is_read("apps/v1", "StatefulSet"));
  EXPECT_TRUE(is_read("apps/v1", "ReplicaSet"));
  owners_.drop("SidecarSet//logs");
  EXPECT_FALSE(read(pod)) << "nobody keeps its set";
}

TEST_F(PodsOfOthers, AnnotationsThatMakeNoSenseArePassedOver) {
  for (const char* text :
       {"1", "[]", "{}", "null", "\\\"", "{\\\"logs\\\":[]}", "{\\\"logs\\\":1}"})
    for (const char* key : {"fettle/sidecars", "kruise.io/sidecarset-hash",
                            "kruise.io/sidecarset-inplace-update-state",
                            "kruise.io/sidecarset-working-hotupgrade-container"}) {
      const Value pod = pod_with(cat(R"("kruise.io/sidecarset-injected-list":",logs,,logs",")", key,
                                     R"(":")", text, R"(")"));
      EXPECT_EQ(part_of_pod(pod).text_at("revision"), "unknown") << key << " " << text;
    }
}

/// Whoever makes a pod may fill its annotations, and each change of it is read.
TEST_F(PodsOfOthers, ALongListCostsNoMoreThanItsLength) {
  std::string list;
  for (int i = 0; i < 200'000; ++i)
    list += cat("x", i, ",");
  const Value pod = pod_with(cat(R"("kruise.io/sidecarset-injected-list":")", list, R"(logs,x1")"));
  EXPECT_EQ(part_of_pod(pod).text_at("name"), "logs");
  EXPECT_TRUE(has_sidecars_of(pod, "logs"));
  EXPECT_FALSE(has_sidecars_of(pod, "log"));
  EXPECT_FALSE(has_sidecars_of(pod, ""));
}

TEST_F(PodsOfOthers, WhatIsWrittenIsReadAgain) {
  put_set("log:2", "h2", 2);
  for (const Value& before : {made_by_policy(), injected("log:1", "h1", "logs-1")}) {
    const Attributes known = attributes_of(before);
    Pod pod = fettle::read<Pod>(known);
    const Value part = pod.sidecars.items()[0];
    const Value container = with(part.at("containers").items()[0], "image", "log:2");
    pod.sidecars = Value::list({with(part, {{"revision", "logs-2"},
                                            {"containers", Value::list({container})},
                                            {"last", json(R"({"log":{"image_id":"i1"}})")}})});
    const Attributes wanted = fettle::write(pod);
    EXPECT_TRUE(pod_kind().in_place_changes(known, wanted));
    const PodWrite write =
        write_of_others(known, wanted, before, update_at, owners_.hashes_for(pod.sidecars.value()));
    EXPECT_EQ(write.subresource, "");
    EXPECT_EQ(write.patch.at("spec"), json(R"({"containers":[{"name":"log","image":"log:2"}]})"));
    EXPECT_EQ(write.patch.at("metadata").text_at("resourceVersion"), "7");
    EXPECT_EQ(write.patch.at("metadata").text_at("uid"), "u1");
    EXPECT_TRUE(write.patch.at("metadata").at("labels").is_null());
    const Value after = kubernetes::strategic_patch(before, write.patch);
    EXPECT_EQ(attributes_of(after), wanted);
    const Value note = json_annotation(after, annotation::sidecar_hash).at("logs");
    EXPECT_EQ(note.text_at("hash"), "h2");
    EXPECT_EQ(note.text_at("controllerRevision"), "logs-2");
    EXPECT_EQ(
        json_annotation(after, annotation::sidecar_hash_without_image).at("logs").text_at("hash"),
        "w");
    EXPECT_EQ(json_annotation(after, annotation::sidecar_state).at("logs").text_at("revision"),
              "h2");
  }
}

}  // namespace
}  // namespace fettle::cluster
