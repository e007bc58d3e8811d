#include "cluster/revisions.h"

#include <gtest/gtest.h>

#include "tests/kubernetes/json_text.h"
#include "tests/kubernetes/patches.h"
#include "value/with.h"

namespace fettle::cluster {
namespace {

using kubernetes::json;

constexpr std::string_view revision_of_openkruise = R"({
  "apiVersion":"apps/v1","kind":"ControllerRevision","revision":3,
  "metadata":{"name":"web-6d4b75cb6d","namespace":"default",
    "labels":{"app":"web","controller.kubernetes.io/hash":"6d4b75cb6d"},
    "ownerReferences":[{"apiVersion":"apps.kruise.io/v1beta1","kind":"CloneSet","name":"web",
      "uid":"u","controller":true}]},
  "data":{"spec":{"template":{"$patch":"replace",
    "metadata":{"creationTimestamp":null,"labels":{"app":"web"}},
    "spec":{"containers":[{"name":"c0","image":"web:1","resources":{},
      "terminationMessagePath":"/dev/termination-log"}],
      "restartPolicy":"Always","dnsPolicy":"ClusterFirst"}}}}})";

TEST(ClusterRevision, ReadsThatOfOpenKruise) {
  const auto revision = read_revision(json(revision_of_openkruise));
  ASSERT_TRUE(revision) << revision.error().message;
  EXPECT_EQ(revision->name, "web-6d4b75cb6d");
  EXPECT_EQ(revision->hash, "6d4b75cb6d");
  EXPECT_EQ(revision->owner, "CloneSet/default/web");
  EXPECT_EQ(revision->number, 3);
  EXPECT_EQ(revision->pod_template.value(), json(R"({"metadata":{"labels":{"app":"web"}},
                     "spec":{"containers":[{"name":"c0","image":"web:1"}]}})"));
}

/// OpenKruise compares the bytes.
TEST(ClusterRevision, IsWrittenAsTheTemplateIsStored) {
  const auto revision = read_revision(json(revision_of_openkruise));
  ASSERT_TRUE(revision) << revision.error().message;
  workloads::Object owner;
  owner.kind = "CloneSet";
  owner.name = "web";
  owner.document = json(R"({"apiVersion":"apps.kruise.io/v1beta1"})");
  const Value written = json(revision_of_openkruise).at("data");
  const Value stored = json(R"({"metadata":{"creationTimestamp":null,"labels":{"app":"web"}},
    "spec":{"containers":[{"name":"c0","image":"web:1","resources":{},
      "terminationMessagePath":"/dev/termination-log"}],
      "restartPolicy":"Always","dnsPolicy":"ClusterFirst"}})");
  EXPECT_EQ(revision_object(*revision, owner, stored).at("data"), written);
  const Value another = json(R"({"metadata":{"labels":{"app":"web"}},
    "spec":{"containers":[{"name":"c0","image":"web:2"}]}})");
  EXPECT_EQ(read_revision(
                kubernetes::merge_patch(
                    json(revision_of_openkruise),
                    Value::dict({{"data", revision_object(*revision, owner, another).at("data")}})))
                ->pod_template.value(),
            revision->pod_template.value());
}

TEST(ClusterRevision, SaysWhatIsMissing) {
  const struct {
    std::string_view object, message;
  } table[] = {{R"({"metadata":{"namespace":"a","name":"b"}})",
                "ControllerRevision `a/b` has no `data.spec.template.spec`, a PodSpec"},
               {R"({"metadata":{"namespace":"a","name":"b","ownerReferences":[{"kind":"CloneSet"}]},
           "data":{"spec":{"template":{"spec":{"containers":[]}}}}})",
                "ControllerRevision `a/b` has no owner with `controller: true`"},
               {R"({"metadata":{"namespace":"a","name":"b","ownerReferences":[{"controller":true,
           "apiVersion":"apps.kruise.io/v1beta1","kind":"CloneSet","name":"c"}]},
           "data":{"spec":{"template":{"spec":{}}}}})",
                "ControllerRevision `a/b` has a template without containers"}};
  for (const auto& [object, message] : table) {
    const auto revision = read_revision(json(object));
    ASSERT_FALSE(revision);
    EXPECT_EQ(revision.error().message, message);
  }
}

TEST(ClusterRevision, IsOfAWorkload) {
  const Value object = json(revision_of_openkruise);
  EXPECT_TRUE(read_revision(object, "u"));
  EXPECT_FALSE(read_revision(object, "another"));
  const Value of_kubernetes = kubernetes::merge_patch(
      object, json(R"({"metadata":{"ownerReferences":[{"apiVersion":"apps/v1",
                       "kind":"StatefulSet","name":"web","uid":"u","controller":true}]}})"));
  EXPECT_FALSE(read_revision(of_kubernetes));
}

TEST(ClusterRevision, ComesBackAsItWas) {
  ControllerRevision revision;
  revision.name = "web-abc";
  revision.space = "default";
  revision.owner = "CloneSet/default/web";
  revision.hash = "abc";
  revision.number = 2;
  revision.pod_template = json(R"({"metadata":{"labels":{"app":"web"}},
                                   "spec":{"containers":[{"name":"c0","image":"web:1"}]}})");
  revision.claims_hash = "xyz";
  revision.collisions = 1;
  revision.state = json(R"({"current":"web-abc","made":4})");
  workloads::Object owner;
  owner.kind = "CloneSet";
  owner.name = "web";
  owner.uid = "u";
  owner.document = json(R"({"apiVersion":"apps.kruise.io/v1beta1"})");
  const Value object = revision_object(revision, owner);
  EXPECT_EQ(object.at("data").at("spec").at("template").text_at("$patch"), "replace");
  const auto again = read_revision(object);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(write(*again), write(revision));
  EXPECT_EQ(record_of(*again, "e")->applied->key.name, "default/web-abc");
}

constexpr std::string_view revision_of_a_set = R"({
  "apiVersion":"apps/v1","kind":"ControllerRevision","revision":2,
  "metadata":{"name":"logs-c64c6776","namespace":"kruise-system",
    "labels":{"kruise.io/sidecarset-name":"logs","controller.kubernetes.io/hash":"c64c6776",
      "apps.kruise.io/sidecarset-custom-version":"v2"},
    "ownerReferences":[{"apiVersion":"apps.kruise.io/v1beta1","kind":"SidecarSet","name":"logs",
      "uid":"u","controller":true}]},
  "data":{"spec":{"$patch":"replace","containers":[{"name":"log","image":"log:1","resources":{},
    "podInjectPolicy":"BeforeAppContainer","upgradeStrategy":{"upgradeType":"ColdUpgrade"}}],
    "imagePullSecrets":null,"initContainers":null,"patchPodMetadata":null,"volumes":null}}})";

TEST(ClusterRevision, ThatOfASidecarSetStandsWithTheManager) {
  const auto revision = read_revision(json(revision_of_a_set), "u");
  ASSERT_TRUE(revision) << revision.error().message;
  EXPECT_EQ(revision->owner, "SidecarSet//logs");
  EXPECT_EQ(revision->space, "");
  EXPECT_EQ(revision->version, "v2");
  EXPECT_EQ(revision->pod_template.value(),
            json(R"({"spec":{"containers":[{"name":"log","image":"log:1"}]}})"));
  EXPECT_EQ(record_of(*revision, "e")->applied->key.name, "/logs-c64c6776");
  EXPECT_EQ(to_string(object_of_revision(revision->space, revision->name)),
            "kruise-system/logs-c64c6776");
  EXPECT_EQ(to_string(object_of_revision("shop", "web-a")), "shop/web-a");

  workloads::Object owner;
  owner.kind = "SidecarSet";
  owner.name = "logs";
  owner.uid = "u";
  owner.document = json(R"({"apiVersion":"apps.kruise.io/v1beta1"})");
  const Value stored = json(R"({"selector":{},"containers":[{"name":"log","image":"log:1",
    "resources":{},"podInjectPolicy":"BeforeAppContainer",
    "upgradeStrategy":{"upgradeType":"ColdUpgrade"}}]})");
  const Value object = revision_object(*revision, owner, stored);
  EXPECT_EQ(object.at("data"), json(revision_of_a_set).at("data"));
  EXPECT_EQ(object.at("metadata").text_at("namespace"), "kruise-system");
  EXPECT_EQ(object.at("metadata").at("labels"),
            json(revision_of_a_set).at("metadata").at("labels"));
  for (const Value& from : {stored, Value()}) {
    const auto again = read_revision(revision_object(*revision, owner, from), "u");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(write(*again), write(*revision));
  }
}

/// Whoever may write in one namespace must not say what all pods get.
TEST(ClusterRevision, ThatOfASidecarSetStandsNowhereElse) {
  const Value elsewhere = kubernetes::merge_patch(json(revision_of_a_set),
                                                  json(R"({"metadata":{"namespace":"shop"}})"));
  EXPECT_FALSE(read_revision(elsewhere, "u"));
  for (const char* data : {R"({"spec":{"containers":[1]}})", R"({"spec":{"containers":3}})",
                           R"({"spec":{"containers":[{}],"initContainers":null}})"})
    EXPECT_FALSE(read_revision(with(json(revision_of_a_set), "data", json(data)), "u")) << data;
}

TEST(ClusterRevision, TheStatusSaysWhichIsCurrent) {
  std::vector<ControllerRevision> revisions(2);
  revisions[0].number = 2;
  revisions[0].name = "web-b";
  revisions[0].hash = "b";
  revisions[0].state = json(R"({"current":"web-b","made":4})");
  revisions[1].number = 1;
  revisions[1].name = "web-a";
  take_current(revisions, json("{}"));
  EXPECT_EQ(revisions[0].state.at("current"), Value("web-b"));
  take_current(revisions, json(R"({"currentRevision":"web-a"})"));
  EXPECT_EQ(revisions[0].state.value(), json(R"({"current":"web-a","made":4})"));
  EXPECT_EQ(revisions[1].state.value(), ControllerRevision().state.value());
  EXPECT_EQ(revision_of_label(revisions, "web-b"), &revisions[0]);
  EXPECT_EQ(revision_of_label(revisions, "b"), &revisions[0]);
  EXPECT_EQ(revision_of_label(revisions, ""), nullptr);
}

TEST(ClusterRevision, IsWrittenAnewInOtherWords) {
  const Value before = json(revision_of_openkruise);
  const Value words = words_of_revision(before);
  EXPECT_EQ(words.at("template").find("$patch"), nullptr);
  EXPECT_NE(words.at("template").at("metadata").find("creationTimestamp"), nullptr);
  const Value same = revision_in_words(before, words);
  EXPECT_EQ(same.at("data"), before.at("data"));
  for (const char* const key : {"name", "labels", "ownerReferences"})
    EXPECT_EQ(same.at("metadata").at(key), before.at("metadata").at(key)) << key;
  EXPECT_EQ(same.at("metadata").find("uid"), nullptr);
  EXPECT_EQ(same.at("revision"), before.at("revision"));
  const Value other = revision_in_words(before, json(R"({"template":{"spec":{"a":1}},"x":2})"));
  EXPECT_EQ(other.at("data"), json(R"({"spec":{"template":{"$patch":"replace","spec":{"a":1}}}})"));
  EXPECT_TRUE(words_of_revision(json(R"({"data":{"spec":{"template":3}}})")).is_null());
}

TEST(ClusterRevision, ThoseOfASidecarSetHaveItsPartsAsWords) {
  const Value before = json(revision_of_a_set);
  EXPECT_EQ(revision_in_words(before, words_of_revision(before)).at("data"), before.at("data"));
}

TEST(ClusterRevision, WhoeverHasWrittenItsDataIsKnown) {
  const Value revision = json(R"({"metadata":{"managedFields":[
    {"manager":"fettle","fieldsV1":{"f:metadata":{}}},
    {"manager":"other","fieldsV1":{"f:data":{}}}]}})");
  EXPECT_TRUE(has_data_of(revision, "other"));
  EXPECT_FALSE(has_data_of(revision, "fettle"));
  EXPECT_FALSE(has_data_of(json("{}"), "fettle"));
}

}  // namespace
}  // namespace fettle::cluster
