#include "drivers/kubernetes/cluster_link.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "cluster/types.h"
#include "tests/kubernetes/json_text.h"
#include "tests/kubernetes/played_transport.h"

namespace fettle {
namespace {

using kubernetes::json;
namespace types = cluster::types;

class ClusterLinkTest : public testing::Test {
 protected:
  void define(std::string_view plural, std::string_view kind,
              std::string_view scope = "Namespaced") {
    const auto made = client_.create(
        kubernetes::types::definitions, {},
        json(cat(
            R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":
            {"name":")",
            plural, R"(.apps.kruise.io"},"spec":{"group":"apps.kruise.io","scope":")", scope, R"(",
            "names":{"plural":")",
            plural, R"(","singular":"one","kind":")", kind, R"(","listKind":"List"},"versions":[
            {"name":"v1beta1","served":true,"storage":true,"schema":{"openAPIV3Schema":{
            "type":"object","properties":{"spec":{"type":"object",
            "x-kubernetes-preserve-unknown-fields":true}}}}}]}})")),
        {}, {});
    ASSERT_TRUE(made) << to_string(made.error());
  }

  kubernetes::ApiServer server_;
  Time now_ = Time(Duration(1'800'000'000'000'000'000));
  kubernetes::Client client_{std::make_unique<kubernetes::PlayedTransport>(server_, now_),
                             {.qps = 0}};
  ClusterLink link_{std::make_unique<kubernetes::PlayedTransport>(server_, now_),
                    {.client = {.qps = 0}},
                    [this] { return now_; },
                    1};
};

TEST_F(ClusterLinkTest, AClusterWithoutOurTypesIsNone) {
  const Status checked = link_.check({});
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().blame, Blame::user);
  EXPECT_NE(checked.error().message.find("`clonesets`"), std::string::npos);
  define("clonesets", "CloneSet");
  define("statefulsets", "StatefulSet");
  define("daemonsets", "DaemonSet");
  define("sidecarsets", "SidecarSet", "Cluster");
  EXPECT_TRUE(link_.check({}));
}

/// Nodes cannot be told of images, so jobs would wait for ever.
TEST_F(ClusterLinkTest, WithoutNodeImagesNoJobIsKept) {
  for (const kubernetes::ResourceType& type : types::workloads)
    define(type.plural, type.kind, type.is_namespaced ? "Namespaced" : "Cluster");
  EXPECT_TRUE(link_.objects().follows("ImagePullJob"));
  EXPECT_TRUE(link_.check({}));
  EXPECT_FALSE(link_.objects().follows("ImagePullJob"));
  EXPECT_FALSE(link_.objects().follows("NodeImage"));
  EXPECT_TRUE(link_.objects().follows("CloneSet"));
  EXPECT_EQ(*link_.unkept({}), std::vector<std::string>());
  ASSERT_TRUE(client_.create(
      {"apps.kruise.io", "v1beta1", "imagepulljobs", "ImagePullJob"}, {"default", ""},
      json(R"({"apiVersion":"apps.kruise.io/v1beta1","kind":"ImagePullJob","metadata":
        {"name":"db","namespace":"default"},"spec":{}})"),
      {}, {}));
  EXPECT_EQ(*link_.unkept({}), std::vector<std::string>{"imagepulljobs"});
}

TEST_F(ClusterLinkTest, WithThemJobsAreKept) {
  for (const kubernetes::ResourceType& type : types::workloads)
    define(type.plural, type.kind, type.is_namespaced ? "Namespaced" : "Cluster");
  define("nodeimages", "NodeImage", "Cluster");
  EXPECT_TRUE(link_.check({}));
  EXPECT_TRUE(link_.objects().follows("ImagePullJob"));
  EXPECT_TRUE(link_.objects().follows("NodeImage"));
  ClusterSettings settings{.client = {.qps = 0}};
  settings.gates.daemon = false;
  ClusterLink without(
      std::make_unique<kubernetes::PlayedTransport>(server_, now_), settings,
      [this] { return now_; }, 1);
  EXPECT_TRUE(without.check({}));
  EXPECT_FALSE(without.objects().follows("ImagePullJob"));
}

/// Their revisions stand in another namespace.
TEST_F(ClusterLinkTest, SidecarSetsAreNotKeptInOneNamespaceAlone) {
  define("sidecarsets", "SidecarSet", "Cluster");
  ASSERT_TRUE(
      client_.create(types::sidecar_sets, {},
                     json(R"({"apiVersion":"apps.kruise.io/v1beta1","kind":"SidecarSet","metadata":
        {"name":"logs"},"spec":{}})"),
                     {}, {}));
  EXPECT_EQ(*link_.unkept({}), std::vector<std::string>());
  ClusterLink of_one(
      std::make_unique<kubernetes::PlayedTransport>(server_, now_),
      {.client = {.qps = 0}, .space = "default"}, [this] { return now_; }, 1);
  EXPECT_EQ(*of_one.unkept({}), std::vector<std::string>{"sidecarsets"});
  define("clonesets", "CloneSet");
  define("statefulsets", "StatefulSet");
  define("daemonsets", "DaemonSet");
  EXPECT_TRUE(of_one.check({}));
}

/// Any group can be defined on our own server.
class PoliciesOfALink : public ClusterLinkTest {
 protected:
  PoliciesOfALink() {
    for (const kubernetes::ResourceType& type : types::workloads)
      define(type.plural, type.kind, type.is_namespaced ? "Namespaced" : "Cluster");
  }
  void serve(kubernetes::ResourceType type, std::string_view version) {
    const auto made = client_.create(
        kubernetes::types::definitions, {},
        json(cat(
            R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":
            {"name":")",
            type.plural, ".", type.group, R"("},"spec":{"group":")", type.group,
            R"(","scope":"Cluster","names":{"plural":")", type.plural,
            R"(","singular":"one","kind":")", type.kind,
            R"(","listKind":"List"},"versions":[{"name":")", version,
            R"(","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})")),
        {}, {});
    ASSERT_TRUE(made) << to_string(made.error());
  }
};

TEST_F(PoliciesOfALink, AreUsedInTheVersionThatIsServed) {
  EXPECT_TRUE(link_.check({}));
  EXPECT_EQ(link_.policy_version(), "");
  serve(types::policies, "v1beta1");
  EXPECT_TRUE(link_.check({}));
  EXPECT_EQ(link_.policy_version(), "");  // a policy without a binding does nothing
  serve(types::policy_bindings, "v1beta1");
  EXPECT_TRUE(link_.check({}));
  EXPECT_EQ(link_.policy_version(), "v1beta1");
}

TEST_F(PoliciesOfALink, WhoMayNotReadThemDoesWithout) {
  serve(types::policies, "v1");
  serve(types::policy_bindings, "v1");
  server_.fail(
      1,
      [](const kubernetes::ApiRequest& request) {
        return request.target.find("mutatingadmissionpolicies?") != std::string::npos;
      },
      {.status = 403,
       .body = json(R"({"kind":"Status","status":"Failure","reason":"Forbidden","code":403})")});
  EXPECT_TRUE(link_.check({}));
  EXPECT_EQ(link_.policy_version(), "");
  ClusterLink of_one(
      std::make_unique<kubernetes::PlayedTransport>(server_, now_),
      {.client = {.qps = 0}, .space = "default"}, [this] { return now_; }, 1);
  EXPECT_TRUE(of_one.check({}));
  EXPECT_EQ(of_one.policy_version(), "");
  EXPECT_TRUE(link_.check({}));
  EXPECT_EQ(link_.policy_version(), "v1");
}

TEST_F(ClusterLinkTest, WithoutALeaseNobodyWaits) { EXPECT_TRUE(link_.await_lease({})); }

}  // namespace
}  // namespace fettle
