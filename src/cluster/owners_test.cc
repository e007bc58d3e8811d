#include "cluster/owners.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "cluster/types.h"
#include "tests/kubernetes/json_text.h"

namespace fettle::cluster {
namespace {

using kubernetes::json;

/// As a server stores it.
Value stored(std::string_view spec) {
  return json(cat(R"({"apiVersion":"apps.kruise.io/v1beta1","kind":"CloneSet","metadata":{
    "name":"web","namespace":"shop","uid":"u1","resourceVersion":"9","generation":3,
    "creationTimestamp":"2026-11-22T13:40:53Z","finalizers":["orphan"],"labels":{"a":"b"},
    "managedFields":[{"manager":"kubectl"}],"ownerReferences":[{"kind":"X","name":"x","uid":"y"}]},
    "spec":)",
                  spec, R"(,"status":{"replicas":2}})"));
}

constexpr std::string_view spec_of_web =
    R"({"replicas":2,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":
    {"app":"web"}},"spec":{"containers":[{"name":"c","image":"web:1"}]}}})";

/// As it was written in one version, and is shown in another one.
Value written_in(std::string_view version, std::string_view spec) {
  return json(cat(R"({"apiVersion":"apps.kruise.io/v1beta1","kind":"CloneSet","metadata":{
    "name":"web","namespace":"shop","uid":"u1","managedFields":[
    {"manager":"a","apiVersion":"apps.kruise.io/v1beta1","time":"2026-11-22T13:40:53Z",
     "fieldsV1":{"f:spec":{}}},
    {"manager":"b","apiVersion":"apps.kruise.io/)",
                  version, R"(","time":"2026-11-22T13:41:00Z","fieldsV1":{"f:spec":{}}},
    {"manager":"c","apiVersion":"apps.kruise.io/v1beta1","time":"2026-11-22T13:42:00Z",
     "subresource":"scale","fieldsV1":{"f:spec":{}}},
    {"manager":"d","apiVersion":"apps.kruise.io/v1beta1","time":"2026-11-22T13:43:00Z",
     "fieldsV1":{"f:metadata":{}}}]},
    "spec":{"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":
    {"app":"web"}},"spec":{"containers":[{"name":"c","image":"web:1"}]}})",
                  spec, "}}"));
}

ControllerRevision revision_called(const Name& name, int64_t number) {
  ControllerRevision revision;
  revision.name = name;
  revision.owner = "CloneSet/shop/web";
  revision.number = number;
  return revision;
}

TEST(Owners, AnAbsentFieldHasTheDefaultOfTheVersionThatWasWritten) {
  const auto reuses_claims = [](std::string_view version) {
    const auto read = read_workload(written_in(version, ""), types::clone_sets);
    EXPECT_TRUE(read) << to_string(read.error());
    return workloads::workload_of(*read).reuses_claims;
  };
  EXPECT_TRUE(reuses_claims("v1alpha1"));
  EXPECT_FALSE(reuses_claims("v1beta1"));
}

TEST(Owners, APolicyThatIsNotSaidStaysAsItWas) {
  const auto policies = [](std::string_view of_revision, std::string_view of_manifest) {
    ControllerRevision older = revision_called("web-1", 1), newest = revision_called("web-2", 2);
    older.pod_template =
        json(R"({"spec":{"containers":[{"name":"c","imagePullPolicy":"Never"}]}})");
    newest.pod_template =
        json(cat(R"({"spec":{"containers":[{"name":"c")", of_revision, R"(}]}})"));
    const auto read = read_workload(
        stored(cat(R"({"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":
          {"app":"web"}},"spec":{"containers":[{"name":"c","image":"web:2")",
                   of_manifest, R"(},{"name":"new","image":"n:1"}]}}})")),
        types::clone_sets);
    EXPECT_TRUE(read) << to_string(read.error());
    const workloads::Object object = with_known_policies(*read, {older, newest});
    const auto containers =
        items_of(object.document.at("spec").at("template").at("spec").at("containers"));
    EXPECT_TRUE(containers[1].at("imagePullPolicy").is_null());
    return std::string(containers[0].text_at("imagePullPolicy"));
  };
  constexpr std::string_view always = R"(,"imagePullPolicy":"Always")";
  EXPECT_EQ(policies(always, ""), "Always");
  EXPECT_EQ(policies(always, R"(,"imagePullPolicy":"Never")"), "Never");
  EXPECT_EQ(policies("", always), "Always");
  EXPECT_EQ(policies("", ""), "");
}

TEST(Owners, UndoingAChangeOfAPolicyIsAFormerRevision) {
  ControllerRevision older = revision_called("web-1", 1), newest = revision_called("web-2", 2);
  older.pod_template = json(R"({"metadata":{"labels":{"app":"web"}},
    "spec":{"containers":[{"name":"c","image":"web:1"}]}})");
  newest.pod_template = json(R"({"metadata":{"labels":{"app":"web"}},
    "spec":{"containers":[{"name":"c","image":"web:2","imagePullPolicy":"Always"}]}})");
  const auto read = read_workload(stored(spec_of_web), types::clone_sets);
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(with_known_policies(*read, {older, newest}).document, read->document);
}

TEST(Owners, FieldsOfEitherVersionAreRead) {
  const auto alpha = read_workload(
      written_in("v1alpha1", R"(,"updateStrategy":{"type":"InPlaceOnly","maxUnavailable":2})"),
      types::clone_sets);
  ASSERT_TRUE(alpha) << to_string(alpha.error());
  EXPECT_EQ(workloads::workload_of(*alpha).policy, workloads::PodPolicy::in_place_only);
  const auto other = read_workload(
      written_in("v1beta1", R"(,"updateStrategy":{"type":"InPlaceOnly","maxUnavailable":2})"),
      types::clone_sets);
  EXPECT_TRUE(other) << "written in v1alpha1 before, and a part of it in v1beta1";
  EXPECT_FALSE(read_workload(written_in("v1beta1", R"(,"nothing":1)"), types::clone_sets));
}

TEST(Owners, AWorkloadIsReadAsItsManifest) {
  const auto read = read_workload(stored(spec_of_web), types::clone_sets);
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->owner(), "CloneSet/shop/web");
  EXPECT_EQ(read->uid, "u1");
  EXPECT_EQ(read->generation, 3);
  EXPECT_NE(read->created, Time());
  EXPECT_EQ(read->document.at("metadata").at("labels").text_at("a"), "b");
  EXPECT_TRUE(read->document.at("status").is_null());
}

TEST(Owners, WhatNoWebhookHasCheckedIsAnError) {
  const auto read = read_workload(stored(R"({"replicas":2})"), types::clone_sets);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().blame, Blame::user);
}

TEST(Owners, ASidecarSetWithTheDefaultsOfOpenKruiseIsRead) {
  const auto read = read_workload(json(R"({"apiVersion":"apps.kruise.io/v1beta1",
    "kind":"SidecarSet","metadata":{"name":"logs","uid":"u1","generation":2},"spec":{
      "containers":[{"image":"side:2","imagePullPolicy":"IfNotPresent","name":"side",
        "podInjectPolicy":"BeforeAppContainer","resources":{},
        "shareVolumePolicy":{"type":"disabled"},"terminationMessagePath":"/dev/termination-log",
        "terminationMessagePolicy":"File","upgradeStrategy":{"upgradeType":"ColdUpgrade"}}],
      "injectionStrategy":{},"namespaceSelector":{"matchLabels":{"team":"a"}},
      "revisionHistoryLimit":10,"selector":{"matchLabels":{"app":"web"}},
      "updateStrategy":{"maxUnavailable":1,"partition":0,"type":"RollingUpdate"}}})"),
                                  types::sidecar_sets);
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->owner(), "SidecarSet//logs");
  EXPECT_EQ(read->space, "");
  const workloads::Workload set = workloads::workload_of(*read);
  const auto containers = items_of(set.pod_template.at("spec").at("containers"));
  ASSERT_EQ(containers.size(), 1u);
  EXPECT_TRUE(containers[0].at("podInjectPolicy").is_null());
  EXPECT_TRUE(containers[0].at("shareVolumePolicy").is_null());
  EXPECT_EQ(containers[0].text_at("image"), "side:2");
}

/// Otherwise no pod could take it in place.
TEST(Owners, ASidecarSetWithoutPoliciesHasThoseOfItsNewestRevision) {
  const auto policy = [](std::string_view image, std::string_view of_manifest) {
    const auto read = read_workload(
        json(cat(R"({"apiVersion":"apps.kruise.io/v1beta1","kind":"SidecarSet","metadata":
          {"name":"logs","uid":"u1"},"spec":{"selector":{"matchLabels":{"app":"web"}},
          "containers":[{"name":"log","image":")",
                 image, "\"", of_manifest, "}]}}")),
        types::sidecar_sets);
    EXPECT_TRUE(read) << to_string(read.error());
    ControllerRevision older = revision_called("logs-1", 1), newest = revision_called("logs-2", 2);
    older.pod_template = json(R"({"spec":{"containers":[{"name":"log","image":"log:1"}]}})");
    newest.pod_template = json(R"({"spec":{"containers":[
      {"name":"log","image":"log:2","imagePullPolicy":"IfNotPresent"}]}})");
    const workloads::Object object = with_known_policies(*read, {older, newest});
    return std::string(
        items_of(object.document.at("spec").at("containers"))[0].text_at("imagePullPolicy"));
  };
  EXPECT_EQ(policy("log:2", ""), "IfNotPresent");
  EXPECT_EQ(policy("log:3", ""), "IfNotPresent");
  EXPECT_EQ(policy("log:3", R"(,"imagePullPolicy":"Always")"), "Always");
  EXPECT_EQ(policy("log:1", ""), "") << "that is a former revision";
}

TEST(Owners, HashesOfOpenKruiseAreOfTheNewestRevision) {
  const auto set_with = [](std::string_view image) {
    return *read_workload(json(cat(R"({"apiVersion":"apps.kruise.io/v1beta1","kind":"SidecarSet",
      "metadata":{"name":"logs","uid":"u1","annotations":{"kruise.io/sidecarset-hash":"h",
        "kruise.io/sidecarset-hash-without-image":"w"}},"spec":{"selector":{"matchLabels":
      {"app":"web"}},"containers":[{"name":"log","image":")",
                                   image, R"("}]}})")),
                          types::sidecar_sets);
  };
  const auto revision = [](const Name& name, int64_t number, std::string_view image) {
    ControllerRevision made = revision_called(name, number);
    made.owner = "SidecarSet//logs";
    made.pod_template =
        json(cat(R"({"spec":{"containers":[{"name":"log","image":")", image, R"("}]}})"));
    return made;
  };
  const auto hashes_of = [](const Owners& owners, std::string_view name) {
    return owners.hashes_for(
        json(cat(R"([{"name":"logs","revision":")", name, R"("},{"name":"other"}])")));
  };
  Owners owners;
  EXPECT_TRUE(hashes_of(owners, "logs-a").empty());
  owners.put(set_with("log:2"));
  EXPECT_TRUE(hashes_of(owners, "logs-a").empty());
  owners.put(revision("logs-a", 1, "log:1"));
  EXPECT_TRUE(hashes_of(owners, "logs-a").empty()) << "the set has changed since";
  owners.put(revision("logs-b", 2, "log:2"));
  EXPECT_TRUE(hashes_of(owners, "logs-a").empty());
  const HashesBySidecarSet hashes = hashes_of(owners, "logs-b");
  ASSERT_EQ(hashes.size(), 1u);
  EXPECT_EQ(hashes.at("logs").all, "h");
  EXPECT_EQ(hashes.at("logs").without_images, "w");
}

TEST(Owners, OnlyWhatIsReadChangesTheDigestOfAManifest) {
  const auto digest = [](std::string_view metadata, std::string_view more = "") {
    return digest_of_manifest(
        json(cat(R"({"metadata":{"uid":"u1","resourceVersion":"9","generation":3)", metadata,
                 R"(},"spec":{"replicas":2})", more, "}")),
        types::clone_sets);
  };
  const Digest before = digest("");
  EXPECT_EQ(digest("", R"(,"status":{"replicas":2})"), before);
  EXPECT_EQ(digest(R"(,"managedFields":[{"manager":"fettle","subresource":"status",
    "apiVersion":"apps.kruise.io/v1alpha1","fieldsV1":{"f:status":{}}}])"),
            before);
  EXPECT_EQ(digest(R"(,"finalizers":["orphan"])"), before);
  EXPECT_EQ(digest(R"(,"annotations":{"a":"b","fettle/job":"{}"})"),
            digest(R"(,"annotations":{"a":"b"})"))
      << "what a job remembers is no wish";
  EXPECT_NE(digest(R"(,"managedFields":[{"apiVersion":"apps.kruise.io/v1alpha1",
    "time":"2026-11-22T13:40:53Z","fieldsV1":{"f:spec":{}}}])"),
            before);
  EXPECT_NE(digest(R"(,"labels":{"a":"b"})"), before);
  EXPECT_NE(digest(R"(,"annotations":{"a":"b"})"), digest(R"(,"labels":{"a":"b"})"));
  EXPECT_NE(digest(R"(,"generation":4)"), before);
  EXPECT_NE(digest(R"(,"uid":"u2")"), before);
}

TEST(Owners, RevisionsStayWithTheirWorkload) {
  Owners owners;
  owners.put(revision_called("web-a", 1));
  EXPECT_EQ(owners.find("CloneSet/shop/web"), nullptr);
  owners.put(*read_workload(stored(spec_of_web), types::clone_sets));
  owners.put(revision_called("web-a", 1));
  owners.put(revision_called("web-b", 2));
  owners.put(revision_called("web-a", 3));
  const auto before = owners.find("CloneSet/shop/web");
  owners.put(*read_workload(stored(spec_of_web), types::clone_sets));
  owners.drop_revision("CloneSet/shop/web", "web-b");
  const auto after = owners.find("CloneSet/shop/web");
  ASSERT_EQ(after->revisions.size(), 1u);
  EXPECT_EQ(after->revisions[0].number, 3);
  EXPECT_EQ(before->revisions.size(), 2u) << "who reads it has it as it was";
  owners.drop("CloneSet/shop/web");
  EXPECT_EQ(owners.find("CloneSet/shop/web"), nullptr);
}

}  // namespace
}  // namespace fettle::cluster
