#include "drivers/kubernetes/cluster_health.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/http.h"
#include "base/metrics_text.h"
#include "base/text.h"
#include "cluster/types.h"
#include "tests/kubernetes/api_server_face.h"
#include "tests/kubernetes/json_text.h"

namespace fettle {
namespace {

using kubernetes::json;
using kubernetes::ObjectName;
namespace types = cluster::types;

class ClusterHealthTest : public testing::Test {
 protected:
  void define(const kubernetes::ResourceType& type) {
    const auto made = client_->create(
        kubernetes::types::definitions, {},
        json(cat(
            R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":
            {"name":")",
            type.plural, R"(.apps.kruise.io"},"spec":{"group":"apps.kruise.io","scope":"Namespaced",
            "names":{"plural":")",
            type.plural, R"(","singular":"one","kind":")", type.kind,
            R"(","listKind":"List"},"versions":[
            {"name":"v1beta1","served":true,"storage":true,"schema":{"openAPIV3Schema":{
            "type":"object","properties":{"spec":{"type":"object",
            "x-kubernetes-preserve-unknown-fields":true}}}}}]}})")),
        {}, {});
    ASSERT_TRUE(made) << to_string(made.error());
  }
  void define_all() {
    for (const kubernetes::ResourceType& type : types::workloads)
      define(type);
    define(types::node_images);
  }
  /// The text at a path, once it has this in it; what it was last, after ten seconds.
  std::string awaited(int port, const std::string& path, std::string_view wanted) {
    HttpResponse last;
    for (const Instant began = instant_from_clock(); instant_from_clock() - began < 10s;) {
      last = asked(port, path);
      if (last.body.find(wanted) != std::string::npos)
        break;
      std::this_thread::sleep_for(5ms);
    }
    return last.body;
  }
  HttpResponse asked(int port, const std::string& path) {
    auto answer = http_.send({.url = cat("http://127.0.0.1:", port, path)}, {});
    EXPECT_TRUE(answer) << to_string(answer.error());
    return answer ? *std::move(answer) : HttpResponse();
  }
  /// The UID of the new CloneSet.
  std::string make_clone_set(std::string_view name) {
    const auto made = client_->create(
        types::clone_sets, {"default", ""},
        json(cat(R"({"apiVersion":"apps.kruise.io/v1beta1","kind":"CloneSet","metadata":{"name":")",
                 name, R"(","namespace":"default"},"spec":{}})")),
        {}, {});
    EXPECT_TRUE(made) << to_string(made.error());
    return made ? std::string(made->at("metadata").text_at("uid")) : std::string();
  }
  void make_pod(const std::string& name, const std::string& owner, std::string_view status) {
    const auto made = client_->create(
        types::pods, {"default", ""},
        json(cat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name,
                 R"(","namespace":"default","ownerReferences":[{"apiVersion":
            "apps.kruise.io/v1beta1","kind":"CloneSet","name":"web","controller":true,"uid":")",
                 owner, R"("}]},"spec":{"containers":[{"name":"c","image":"x:1"}]}})")),
        {}, {});
    ASSERT_TRUE(made) << to_string(made.error());
    const auto told =
        client_->patch(types::pods, {"default", name}, kubernetes::PatchType::merge,
                       json(cat(R"({"status":)", status, "}")), {.subresource = "status"}, {});
    ASSERT_TRUE(told) << to_string(told.error());
  }

  kubernetes::ApiServerFace server_;
  std::unique_ptr<kubernetes::Client> client_ = server_.client();
  const ObjectName lease_{"default", "leader"};
  ClusterLink link_{std::make_unique<kubernetes::HttpTransport>(server_.config()),
                    {.client = {.qps = 0},
                     .lease = kubernetes::LeaseSettings{.lease = lease_,
                                                        .identity = "a",
                                                        .duration = 3s,
                                                        .renew_deadline = 2s,
                                                        .retry = 100ms}},
                    now_from_clock,
                    1};
  HttpClient http_;
  /// Two servers, since the texts of the addresses differ.
  std::unique_ptr<ClusterHealth> health_ = *ClusterHealth::open(
      link_,
      {.metrics_address = "127.0.0.1:0", .probe_address = ":0", .version = "1.2", .commit = "abc"});
};

TEST_F(ClusterHealthTest, ItLivesBeforeItIsReady) {
  EXPECT_EQ(asked(health_->probe_port(), "/healthz").status, 200);
  const HttpResponse before = asked(health_->probe_port(), "/readyz");
  EXPECT_EQ(before.status, 503);
  EXPECT_EQ(before.body, "the cluster has not answered yet\n");
  EXPECT_NE(asked(health_->metrics_port(), "/metrics").body.find("\nfettle_leader 0\n"),
            std::string::npos);
}

TEST_F(ClusterHealthTest, ItSaysWhichObjectsAreMissing) {
  for (const kubernetes::ResourceType& type : types::workloads)
    if (type != types::stateful_sets)
      define(type);
  link_.begin();
  EXPECT_EQ(awaited(health_->probe_port(), "/readyz", ": NodeImage, StatefulSet\n"),
            "not all objects are known yet of: NodeImage, StatefulSet\n");
  EXPECT_EQ(asked(health_->probe_port(), "/readyz").status, 503);
}

TEST_F(ClusterHealthTest, WhoIsReadyLeadsOrStandsForElection) {
  define_all();
  link_.begin();
  EXPECT_EQ(awaited(health_->probe_port(), "/readyz", "ok"), "ok\n");
  EXPECT_EQ(asked(health_->probe_port(), "/readyz").status, 200);
  ASSERT_TRUE(link_.await_lease({}));
  EXPECT_NE(asked(health_->metrics_port(), "/metrics").body.find("\nfettle_leader 1\n"),
            std::string::npos);

  ClusterLink other(
      std::make_unique<kubernetes::HttpTransport>(server_.config()),
      {.client = {.qps = 0}, .lease = kubernetes::LeaseSettings{.lease = lease_, .identity = "b"}},
      now_from_clock, 2);
  const auto health = *ClusterHealth::open(other, {.probe_address = "127.0.0.1:0"});
  other.begin();
  EXPECT_EQ(awaited(health->probe_port(), "/readyz", "ok"), "ok\n");
  EXPECT_FALSE(other.is_leader());
}

TEST_F(ClusterHealthTest, WhoHasLostTheLeaseIsNotReady) {
  define_all();
  link_.begin();
  ASSERT_TRUE(link_.await_lease({}));
  ASSERT_TRUE(client_->patch(kubernetes::types::leases, lease_, kubernetes::PatchType::merge,
                             json(R"({"spec":{"holderIdentity":"b"}})"), {}, {}));
  EXPECT_EQ(awaited(health_->probe_port(), "/readyz", "lost"), "the lease is lost\n");
  EXPECT_EQ(asked(health_->probe_port(), "/healthz").status, 200);
}

TEST_F(ClusterHealthTest, MetricsCountPodsByTheirState) {
  define_all();
  const std::string uid = make_clone_set("web");
  make_clone_set("empty");
  const std::string ready = R"({"conditions":[{"type":"Ready","status":"True"}]})";
  make_pod("web-1", uid, ready);
  make_pod("web-2", uid, ready);
  make_pod("web-3", uid, R"({"conditions":[{"type":"Ready","status":"False"}]})");
  make_pod("web-4", uid, R"({"phase":"Failed"})");
  make_pod("web-5", "somebody-else", ready);
  link_.begin();
  EXPECT_EQ(awaited(health_->probe_port(), "/readyz", "ok"), "ok\n");
  const HttpResponse answer = asked(health_->metrics_port(), "/metrics");
  EXPECT_EQ(answer.header("content-type"), MetricsText::content_type);
  const auto pods_in = [&](std::string_view name, std::string_view state, int count) {
    return answer.body.find(
               cat(R"(fettle_workload_pods{kind="CloneSet",namespace="default",name=")", name,
                   R"(",state=")", state, "\"} ", count, "\n")) != std::string::npos;
  };
  EXPECT_TRUE(pods_in("web", "ready", 2)) << answer.body;
  EXPECT_TRUE(pods_in("web", "unready", 1)) << answer.body;
  EXPECT_TRUE(pods_in("web", "ended", 1)) << answer.body;
  EXPECT_TRUE(pods_in("web", "leaving", 0)) << answer.body;
  EXPECT_TRUE(pods_in("empty", "ready", 0)) << answer.body;
}

TEST_F(ClusterHealthTest, MetricsTellOfWritesSilenceAndTheProgram) {
  define_all();
  link_.begin();
  ASSERT_TRUE(link_.await_lease({}));
  ASSERT_TRUE(link_.objects().await_sync({}));
  ASSERT_FALSE(link_.client().create(types::pods, {"nowhere", ""}, json("{}"), {}, {}));
  const std::string text = awaited(health_->metrics_port(), "/metrics",
                                   R"(fettle_kubernetes_silence_seconds{kind="Pod"})");
  const auto has = [&](std::string_view wanted) { return text.find(wanted) != std::string::npos; };
  EXPECT_TRUE(has(R"(fettle_kubernetes_writes_total{urgency="free",code="201"} 1)")) << text;
  EXPECT_TRUE(has(R"(fettle_kubernetes_writes_total{urgency="progress",code="4)")) << text;
  EXPECT_TRUE(has(R"(fettle_kubernetes_silence_seconds{kind="Pod"} )")) << text;
  EXPECT_TRUE(has(R"(fettle_build_info{version="1.2",commit="abc"} 1)")) << text;
  EXPECT_TRUE(has("\nprocess_resident_memory_bytes ")) << text;
}

TEST_F(ClusterHealthTest, EachAddressAnswersItsOwn) {
  EXPECT_EQ(asked(health_->probe_port(), "/metrics").status, 404);
  EXPECT_EQ(asked(health_->metrics_port(), "/healthz").status, 404);
  const auto both = *ClusterHealth::open(
      link_, {.metrics_address = "127.0.0.1:0", .probe_address = "127.0.0.1:0"});
  EXPECT_EQ(both->metrics_port(), both->probe_port());
  EXPECT_EQ(asked(both->probe_port(), "/metrics").status, 200);
  EXPECT_EQ(asked(both->probe_port(), "/healthz").status, 200);
  const auto none = *ClusterHealth::open(link_, {});
  EXPECT_EQ(none->metrics_port(), 0);
  EXPECT_EQ(none->probe_port(), 0);
}

}  // namespace
}  // namespace fettle
