#include "cluster/versions.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "cluster/owners.h"
#include "cluster/types.h"
#include "tests/kubernetes/json_text.h"

namespace fettle::cluster {
namespace {

using kubernetes::json;

/// As a server shows it whose last writer wrote in `version`.
Value clone_set_of(std::string_view spec, std::string_view version = "v1beta1",
                   std::string_view metadata = {}) {
  return json(cat(R"({"apiVersion":"apps.kruise.io/v1beta1","kind":"CloneSet","metadata":{
    "name":"web","namespace":"shop","uid":"u1","managedFields":[{"manager":"a","operation":
    "Update","apiVersion":"apps.kruise.io/)",
                  version, R"(","time":"2026-11-22T13:40:53Z","fieldsV1":{"f:spec":{}}}])",
                  metadata, R"(},"spec":)", spec, "}"));
}

constexpr std::string_view beta_spec = R"({"replicas":3,"updateStrategy":{"type":"RollingUpdate",
  "rollingUpdate":{"podUpdatePolicy":"InPlaceIfPossible","partition":2,"maxUnavailable":"20%",
  "inPlaceUpdateStrategy":{"gracePeriodSeconds":5,"imagePreDownloadParallelism":7}}},
  "scaleStrategy":{"enablePVCReuse":true,"excludePreparingDelete":true}})";

Value spec_in(std::string_view from, std::string_view to, std::string_view spec) {
  return in_version(clone_set_of(spec), types::clone_sets, from, to).at("spec");
}

TEST(Versions, ACloneSetOfV1beta1HasItsFieldsOneLevelHigherInV1alpha1) {
  const Value made = in_version(clone_set_of(beta_spec), types::clone_sets, "v1beta1", "v1alpha1");
  EXPECT_EQ(made.at("spec"), json(R"({"replicas":3,"updateStrategy":{"type":"InPlaceIfPossible",
    "partition":2,"maxUnavailable":"20%","inPlaceUpdateStrategy":{"gracePeriodSeconds":5}},
    "scaleStrategy":{"disablePVCReuse":false}})"));
  EXPECT_EQ(made.at("metadata").at("annotations"),
            json(R"({"apps.kruise.io/image-predownload-parallelism":"7"})"));
  EXPECT_EQ(made.at("metadata").at("labels"),
            json(R"({"apps.kruise.io/cloneset-scaling-exclude-preparing-delete":"true"})"));
  const Value back = in_version(made, types::clone_sets, "v1alpha1", "v1beta1");
  EXPECT_EQ(back.at("spec"), json(beta_spec));
}

/// A wrong guess deletes claims.
TEST(Versions, WhetherClaimsAreReusedIsSaidInBothVersions) {
  const auto reuse_in_alpha = [](std::string_view spec) {
    return spec_in("v1beta1", "v1alpha1", spec).at("scaleStrategy");
  };
  EXPECT_EQ(reuse_in_alpha("{}"), json(R"({"disablePVCReuse":true})"));
  EXPECT_EQ(reuse_in_alpha(R"({"scaleStrategy":{"enablePVCReuse":true,"maxUnavailable":1}})"),
            json(R"({"disablePVCReuse":false,"maxUnavailable":1})"));
  const auto reuse_in_beta = [](std::string_view spec) {
    return spec_in("v1alpha1", "v1beta1", spec).at("scaleStrategy");
  };
  EXPECT_EQ(reuse_in_beta("{}"), json(R"({"enablePVCReuse":true})"));
  EXPECT_EQ(reuse_in_beta(R"({"scaleStrategy":{"disablePVCReuse":true}})"),
            json(R"({"enablePVCReuse":false})"));
}

TEST(Versions, TypesOfAnUpdateHaveTheirWordsInBothVersions) {
  for (const char* const policy : {"ReCreate", "InPlaceIfPossible", "InPlaceOnly"}) {
    const Value beta =
        spec_in("v1alpha1", "v1beta1", cat(R"({"updateStrategy":{"type":")", policy, R"("}})"));
    EXPECT_EQ(beta.at("updateStrategy"),
              json(cat(R"({"type":"RollingUpdate","rollingUpdate":{"podUpdatePolicy":")", policy,
                       R"("}})")));
    EXPECT_EQ(in_version(clone_set_of(write_json(beta)), types::clone_sets, "v1beta1", "v1alpha1")
                  .at("spec")
                  .at("updateStrategy")
                  .text_at("type"),
              policy);
  }
  const std::string on_delete = R"({"updateStrategy":{"type":"OnDelete"}})";
  EXPECT_EQ(spec_in("v1alpha1", "v1beta1", on_delete).at("updateStrategy"),
            json(R"({"type":"OnDelete"})"));
  EXPECT_EQ(spec_in("v1beta1", "v1alpha1", on_delete).at("updateStrategy"),
            json(R"({"type":"OnDelete"})"));
}

TEST(Versions, FieldsTellTheVersionUnlessThereAreNoneOrOfBoth) {
  const auto version = [](std::string_view spec) {
    return version_of_fields(clone_set_of(spec), types::clone_sets, "otherwise");
  };
  EXPECT_EQ(version(beta_spec), "v1beta1");
  EXPECT_EQ(version(R"({"updateStrategy":{"partition":1}})"), "v1alpha1");
  EXPECT_EQ(version(R"({"scaleStrategy":{"disablePVCReuse":true}})"), "v1alpha1");
  EXPECT_EQ(version(R"({"updateStrategy":{"type":"InPlaceOnly","rollingUpdate":{}}})"),
            "otherwise");
  EXPECT_EQ(version(R"({"updateStrategy":{"type":"OnDelete"}})"), "otherwise");
}

TEST(Versions, TheOwnerIsWhoAppliesAndNotWhoWroteLast) {
  const auto owner = [](std::string_view written, std::string_view metadata) {
    return version_of_owner(clone_set_of("{}", written, metadata), types::clone_sets);
  };
  EXPECT_EQ(owner("v1alpha1", ""), "v1alpha1");
  EXPECT_EQ(owner("v1beta1", R"(,"annotations":{"kubectl.kubernetes.io/last-applied-configuration":
    "{\"apiVersion\":\"apps.kruise.io/v1alpha1\"}"})"),
            "v1alpha1");
  EXPECT_EQ(owner("v1beta1", R"(,"annotations":{"kubectl.kubernetes.io/last-applied-configuration":
    "no json"})"),
            "v1beta1");
  const Value applied = json(R"({"metadata":{"name":"web","managedFields":[
    {"manager":"argo","operation":"Apply","apiVersion":"apps.kruise.io/v1alpha1",
     "time":"2026-11-22T13:40:53Z","fieldsV1":{"f:spec":{}}},
    {"manager":"kruise","operation":"Update","apiVersion":"apps.kruise.io/v1beta1",
     "time":"2026-11-22T14:40:53Z","fieldsV1":{"f:spec":{}}}]},"spec":{}})");
  EXPECT_EQ(version_of_owner(applied, types::clone_sets), "v1alpha1");
}

TEST(Versions, OnlyWhatDiffersIsRewrittenForItsOwner) {
  const auto written = [](std::string_view version, std::string_view spec) {
    return rewritten_for_owner(clone_set_of(spec, version), types::clone_sets, "v1beta1");
  };
  EXPECT_FALSE(written("v1beta1", beta_spec));
  EXPECT_FALSE(written("v1alpha1", R"({"updateStrategy":{"type":"InPlaceOnly"}})"));
  const auto made = written("v1alpha1", beta_spec);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->type.version, "v1alpha1");
  EXPECT_EQ(made->object.text_at("apiVersion"), "apps.kruise.io/v1alpha1");
  EXPECT_EQ(made->object.at("spec").at("updateStrategy").text_at("type"), "InPlaceIfPossible");
  // What OpenKruise stored, although nothing tells it.
  const auto plain = written("v1alpha1", R"({"updateStrategy":{"type":"OnDelete"}})");
  ASSERT_TRUE(plain);
  EXPECT_TRUE(plain->object.at("spec").at("scaleStrategy").bool_at("disablePVCReuse"));
}

/// Somebody has edited in v1alpha1 what is applied in v1beta1.
TEST(Versions, WhatIsReadByTheLastVersionIsWrittenInIt) {
  const Value object = clone_set_of(beta_spec, "v1alpha1", R"(,"annotations":{
    "kubectl.kubernetes.io/last-applied-configuration":
    "{\"apiVersion\":\"apps.kruise.io/v1beta1\"}"})");
  const auto made = rewritten_for_owner(object, types::clone_sets, "v1beta1");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->type.version, "v1alpha1");
  EXPECT_EQ(made->object.at("spec").at("updateStrategy").integer_at("partition"), 2);
}

TEST(Versions, WhatWasWrittenSinceIsRewrittenForTheStorage) {
  const Value alpha =
      clone_set_of(R"({"updateStrategy":{"type":"InPlaceIfPossible","partition":2}})", "v1alpha1");
  const auto made = rewritten_for_storage(alpha, types::clone_sets, "v1beta1");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->type.version, "v1beta1");
  EXPECT_EQ(
      made->object.at("spec").at("updateStrategy").at("rollingUpdate").integer_at("partition"), 2);
  EXPECT_FALSE(rewritten_for_storage(made->object, types::clone_sets, "v1beta1"));
  EXPECT_FALSE(rewritten_for_storage(alpha, types::clone_sets, "v1alpha1"));
  // Of both: the version in which it was written last counts.
  const Value both = clone_set_of(
      R"({"updateStrategy":{"type":"InPlaceOnly","partition":1,"rollingUpdate":{"partition":9}}})",
      "v1alpha1");
  const auto one = rewritten_for_storage(both, types::clone_sets, "v1beta1");
  ASSERT_TRUE(one);
  EXPECT_EQ(one->object.at("spec").at("updateStrategy").at("rollingUpdate"),
            json(R"({"partition":1,"podUpdatePolicy":"InPlaceOnly"})"));
}

/// As read: the same workload, whichever version it stands in.
TEST(Versions, BothVersionsAreReadAsTheSameWorkload) {
  const std::string template_and_selector =
      R"("selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},
      "spec":{"containers":[{"name":"c","image":"web:1"}]}})";
  const Value beta = clone_set_of(
      cat(R"({"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":1,"maxSurge":1,
        "podUpdatePolicy":"InPlaceIfPossible"}},)",
          template_and_selector, "}"),
      "v1beta1");
  const Value alpha = in_version(beta, types::clone_sets, "v1beta1", "v1alpha1");
  const Value shown = clone_set_of(write_json(alpha.at("spec")), "v1alpha1");
  const auto read_beta = read_workload(beta, types::clone_sets);
  const auto read_alpha = read_workload(shown, types::clone_sets);
  ASSERT_TRUE(read_beta) << to_string(read_beta.error());
  ASSERT_TRUE(read_alpha) << to_string(read_alpha.error());
  const workloads::Workload one = workloads::workload_of(*read_beta),
                            other = workloads::workload_of(*read_alpha);
  EXPECT_EQ(one.reuses_claims, other.reuses_claims);
  EXPECT_EQ(read_beta->document.at("spec").at("updateStrategy"),
            read_alpha->document.at("spec").at("updateStrategy"));
}

TEST(Versions, ATemplateThatSaysTheSameGetsTheWordsOfTheNewestRevision) {
  const auto clone_set = [](std::string_view image) {
    return clone_set_of(cat(R"({"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{
      "labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":")",
                            image, R"("}]}}})"));
  };
  const auto revision = [](int number, std::string_view image, std::string_view uid = "u1") {
    return json(cat(R"({"metadata":{"name":"web-)", number, R"(","namespace":"shop",
      "ownerReferences":[{"apiVersion":"apps.kruise.io/v1beta1","kind":"CloneSet","name":"web",
      "controller":true,"uid":")",
                    uid, R"("}]},"revision":)", number, R"(,"data":{"spec":{"template":{
      "$patch":"replace","metadata":{"labels":{"app":"web"}},"spec":{"restartPolicy":"Always",
      "containers":[{"name":"c","imagePullPolicy":"Always","terminationMessagePolicy":"File",
      "image":")",
                    image, R"("}]}}}}})"));
  };
  const std::vector<Value> revisions{revision(1, "web:1"), revision(3, "web:2"),
                                     revision(2, "web:3"), revision(9, "web:1", "u2")};
  const auto made = with_revised_template(clone_set("web:2"), types::clone_sets, revisions);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->at("spec").at("template"), json(R"({"metadata":{"labels":{"app":"web"}},"spec":{
    "restartPolicy":"Always","containers":[{"name":"c","image":"web:2","imagePullPolicy":"Always",
    "terminationMessagePolicy":"File"}]}})"));
  EXPECT_FALSE(with_revised_template(*made, types::clone_sets, revisions));
  EXPECT_FALSE(with_revised_template(clone_set("web:3"), types::clone_sets, revisions));
  EXPECT_FALSE(with_revised_template(clone_set("web:2"), types::clone_sets, {}));
}

/// Its validation compares what its own webhook has filled in with what was stored.
TEST(Versions, AStatefulSetSaysInWhichOrderItsPodsCome) {
  const Value plain = json(R"({"spec":{"serviceName":"db"}})");
  const auto made = with_fixed_defaults(plain, types::stateful_sets);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->at("spec"), json(R"({"serviceName":"db","podManagementPolicy":"OrderedReady"})"));
  EXPECT_FALSE(with_fixed_defaults(*made, types::stateful_sets));
  EXPECT_FALSE(with_fixed_defaults(json(R"({"spec":{"podManagementPolicy":"Parallel"}})"),
                                   types::stateful_sets));
  EXPECT_FALSE(with_fixed_defaults(plain, types::clone_sets));
}

TEST(Versions, DaemonSetsAndSidecarSetsDifferInAFewFields) {
  const auto spec_of = [](const kubernetes::ResourceType& type, std::string_view from,
                          std::string_view to, std::string_view object) {
    return in_version(json(object), type, from, to);
  };
  const Value held =
      spec_of(types::daemon_sets, "v1beta1", "v1alpha1",
              R"({"metadata":{},"spec":{"scaleStrategy":{"partitionedScaling":true}}})");
  EXPECT_EQ(held, json(R"({"metadata":{"annotations":{
    "daemonset.kruise.io/progressive-create-pod":"true"}},"spec":{}})"));
  EXPECT_TRUE(in_version(held, types::daemon_sets, "v1alpha1", "v1beta1")
                  .at("spec")
                  .at("scaleStrategy")
                  .bool_at("partitionedScaling"));
  EXPECT_EQ(spec_of(types::daemon_sets, "v1alpha1", "v1beta1",
                    R"({"spec":{"updateStrategy":{"rollingUpdate":{"rollingUpdateType":"Surging",
                      "maxSurge":1}}}})"),
            json(R"({"spec":{"updateStrategy":{"rollingUpdate":{"rollingUpdateType":"Standard",
                      "maxSurge":1}}}})"));
  EXPECT_EQ(spec_of(types::sidecar_sets, "v1alpha1", "v1beta1",
                    R"({"metadata":{"labels":{"apps.kruise.io/sidecarset-custom-version":"7"}},
                      "spec":{"namespace":"shop"}})"),
            json(R"({"metadata":{},"spec":{"customVersion":"7","namespaceSelector":{"matchLabels":{
                      "kubernetes.io/metadata.name":"shop"}}}})"));
  EXPECT_EQ(spec_of(types::sidecar_sets, "v1beta1", "v1alpha1",
                    R"({"metadata":{},"spec":{"customVersion":"7"}})"),
            json(R"({"metadata":{"labels":{"apps.kruise.io/sidecarset-custom-version":"7"}},
                      "spec":{}})"));
}

TEST(Versions, WhatIsNoDictIsLeftAlone) {
  for (const char* const spec :
       {"null", "7", R"("x")", "[]", R"({"updateStrategy":[],"scaleStrategy":3})"}) {
    const Value object = json(cat(R"({"metadata":{"annotations":3},"spec":)", spec, "}"));
    for (const auto& type : {types::clone_sets, types::daemon_sets, types::sidecar_sets})
      for (const std::string_view to : {version_alpha, version_beta})
        EXPECT_TRUE(in_version(object, type, to == version_alpha ? version_beta : version_alpha, to)
                        .is_dict());
  }
}

}  // namespace
}  // namespace fettle::cluster
