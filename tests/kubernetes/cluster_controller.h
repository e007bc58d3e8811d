#pragma once
/// A controller of a cluster from end to end, beside kubelets and users: reflectors, cache,
/// decisions, runs, driver and statuses, over HTTP. The server is our own, and so is the kubelet.

#include <gtest/gtest.h>

#include "cluster/daemon_pods.h"
#include "cluster/secret_copies.h"
#include "cluster/types.h"
#include "controller/cluster_access.h"
#include "controller/workloads.h"
#include "drivers/host/host_driver.h"
#include "drivers/kubernetes/cluster_link.h"
#include "tests/fixtures/home.h"
#include "tests/fixtures/workload_kinds.h"
#include "tests/fixtures/workplace_setup.h"
#include "tests/kubernetes/api_server_face.h"
#include "tests/kubernetes/json_text.h"
#include "tests/kubernetes/patches.h"
#include "tests/kubernetes/played_daemon.h"
#include "tests/kubernetes/played_kubelet.h"

namespace fettle {

using kubernetes::at_path;
using kubernetes::json;
using kubernetes::ObjectName;
namespace types = cluster::types;

inline Value definition_of(const kubernetes::ResourceType& type) {
  return json(cat(R"({
    "apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
    "metadata":{"name":")",
                  type.plural, ".", type.group, R"("},
    "spec":{"group":")",
                  type.group, R"(","scope":")", type.is_namespaced ? "Namespaced" : "Cluster",
                  R"(","names":{"plural":")", type.plural, R"(","singular":"one","kind":")",
                  type.kind, R"(","listKind":"List"},
      "versions":[{"name":")",
                  type.version, R"(","served":true,"storage":true,"subresources":{"status":{}},
        "schema":{"openAPIV3Schema":{"type":"object","properties":{
          "spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
          "status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}})"));
}

/// One process that keeps the cluster, until it is stopped. `checks`: first looks what is served.
class Controller {
 public:
  Controller(const kubernetes::Config& config, Store& store, Blobs& blobs,
             ClusterSettings settings = {}, bool checks = false)
      : host_(http_, blobs, [] { return uint64_t{7}; }, {}),
        link_(std::make_unique<kubernetes::HttpTransport>(config), std::move(settings),
              now_from_clock, 1) {
    place_ = place_of({store, blobs, kinds_, interrupt_},
                      {{cluster::driver_name, &link_.driver()}, {"host", &host_}});
    if (const Status checked = checks ? link_.check({}) : Status(); !checked)
      ADD_FAILURE() << to_string(checked.error());
    link_.begin();
    thread_ = std::jthread([this] {
      if (!link_.await_lease(interrupt_.acts_token()))
        return;  // it was never elected
      BringOptions options;
      options.keeps = true;
      const auto brought = bring_cluster(place_,
                                         {link_.client(), link_.objects(), link_.owners(),
                                          link_.policy_version(), &link_.copies()},
                                         {}, options);
      EXPECT_TRUE(brought) << to_string(brought.error());
    });
  }
  ~Controller() {
    interrupt_.ask();
    thread_.join();
  }
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  /// A pod as it has heard of it. Null: it has not.
  Value known_pod(const ObjectName& name) { return link_.objects().find(types::pods.kind, name); }

 private:
  HttpClient http_;
  WorkloadKinds kinds_;
  Interrupt interrupt_;
  Workplace place_;
  HostDriver host_;
  ClusterLink link_;
  std::jthread thread_;
};

class ClusterController : public testing::Test {
 protected:
  ClusterController() {
    for (const kubernetes::ResourceType& type : types::workloads)
      EXPECT_TRUE(client_->create(kubernetes::types::definitions, {}, definition_of(type), {}, {}));
    EXPECT_TRUE(client_->create(kubernetes::types::definitions, {},
                                definition_of(types::node_images), {}, {}));
    EXPECT_TRUE(client_->create(types::spaces, {}, json(R"({"apiVersion":"v1","kind":"Namespace",
                                  "metadata":{"name":"kruise-system"}})"),
                                {}, {}));
  }

  /// `identity`: in its election; empty: without one.
  std::unique_ptr<Controller> controller(const std::string& identity = {}) {
    ClusterSettings settings{.client = {.qps = 0}};
    if (!identity.empty())
      settings.lease = kubernetes::LeaseSettings{.lease = lease_,
                                                 .identity = identity,
                                                 .duration = 3s,
                                                 .renew_deadline = 2s,
                                                 .retry = 200ms};
    return std::make_unique<Controller>(server_.config(), home_.store(), home_.blobs(),
                                        std::move(settings));
  }

  /// In a cluster that serves admission policies.
  std::unique_ptr<Controller> injecting_controller() {
    for (const kubernetes::ResourceType& type : {types::policies, types::policy_bindings})
      EXPECT_TRUE(client_->create(kubernetes::types::definitions, {}, definition_of(type), {}, {}));
    return std::make_unique<Controller>(server_.config(), home_.store(), home_.blobs(),
                                        ClusterSettings{.client = {.qps = 0}}, true);
  }
  Value policy(const kubernetes::ResourceType& type = types::policies) {
    const auto found = client_->get(type, {"", "fettle-sidecarset-logs"}, {});
    return found ? *found : Value();
  }
  bool has_policy_with(std::string_view text) {
    return write_json(policy().at("spec")).find(text) != std::string::npos;
  }
  /// What the status of `logs` says of pods of others.
  Value injection_condition() {
    const Value now = sidecar_status();
    for (const Value& row : items_of(now.at("conditions")))
      if (row.text_at("type") == "InjectsPodsOfOthers")
        return row;
    return {};
  }
  std::string injection_reason() {
    const Value condition = injection_condition();
    return std::string(condition.text_at("reason"));
  }
  void change_sidecars(std::string_view spec) {
    const auto changed = client_->patch(types::sidecar_sets, logs_, kubernetes::PatchType::merge,
                                        json(cat(R"({"spec":)", spec, "}")), {}, {});
    ASSERT_TRUE(changed) << to_string(changed.error());
  }

  void make(int replicas, std::string_view image, std::string_view more = {}) {
    const auto made = client_->create(
        types::clone_sets, {"default", ""},
        json(cat(R"({"apiVersion":"apps.kruise.io/v1beta1","kind":"CloneSet","metadata":
          {"name":"web","namespace":"default"},"spec":{"replicas":)",
                 replicas, R"(,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":
          {"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":")",
                 image, R"("}]}},"updateStrategy":{"rollingUpdate":
          {"podUpdatePolicy":"InPlaceIfPossible","maxUnavailable":1}})",
                 more, "}}")),
        {}, {});
    ASSERT_TRUE(made) << to_string(made.error());
  }
  /// A StatefulSet `db` without claims, all of whose pods may come at once.
  void make_set(int replicas) {
    const auto made = client_->create(
        types::stateful_sets, {"default", ""},
        json(cat(R"({"apiVersion":"apps.kruise.io/v1beta1","kind":"StatefulSet","metadata":
          {"name":"db","namespace":"default"},"spec":{"replicas":)",
                 replicas, R"(,"serviceName":"data","podManagementPolicy":"Parallel",
          "selector":{"matchLabels":{"app":"db"}},"template":{"metadata":{"labels":{"app":"db"}},
          "spec":{"containers":[{"name":"c","image":"db:1"}]}}}})")),
        {}, {});
    ASSERT_TRUE(made) << to_string(made.error());
  }
  Value status_of_set() {
    const auto set = client_->get(types::stateful_sets, {"default", "db"}, {});
    return set ? set->at("status") : Value();
  }
  void change(std::string_view spec) {
    const auto changed = client_->patch(types::clone_sets, web_, kubernetes::PatchType::merge,
                                        json(cat(R"({"spec":)", spec, "}")), {}, {});
    ASSERT_TRUE(changed) << to_string(changed.error());
  }
  void set_image(std::string_view image) {
    change(cat(R"({"template":{"spec":{"containers":[{"name":"c","image":")", image, R"("}]}}})"));
  }

  /// `logs`, with the container `log`, by default. Waits until its status says that it is kept.
  void make_sidecars(std::string_view image, std::string_view more = {},
                     std::string_view name = "log") {
    const auto made = client_->create(
        types::sidecar_sets, {},
        json(cat(R"({"apiVersion":"apps.kruise.io/v1beta1","kind":"SidecarSet","metadata":
          {"name":")",
                 name, R"(s"},"spec":{"selector":{"matchLabels":{"app":"web"}},"containers":[
          {"name":")",
                 name, R"(","podInjectPolicy":"AfterAppContainer","image":")", image,
                 R"("}],"updateStrategy":{"maxUnavailable":1})", more, "}}")),
        {}, {});
    ASSERT_TRUE(made) << to_string(made.error());
    ASSERT_TRUE(await(
        [&] { return sidecar_status({"", cat(name, "s")}).integer_at("matchedPods", -1) == 0; }));
  }
  Value sidecar_status(const ObjectName& name = {"", "logs"}) {
    const auto set = client_->get(types::sidecar_sets, name, {});
    return set ? set->at("status") : Value();
  }
  size_t pods_with_sidecar(std::string_view image, std::string_view name = "log") {
    return static_cast<size_t>(std::ranges::count_if(pods(), [&](const Value& pod) {
      return std::ranges::any_of(items_of(pod.at("spec").at("containers")), [&](const Value& each) {
        return each.text_at("name") == name && each.text_at("image") == image;
      });
    }));
  }
  /// So many pods have the sidecar with an image and are ready, and its status says so.
  bool await_sidecars(size_t count, std::string_view image) {
    return await([&] {
      return pods_with_sidecar(image) == count &&
             sidecar_status().integer_at("updatedReadyPods", -1) == static_cast<int64_t>(count);
    });
  }

  /// It has been ready for long.
  void add_ready_node(std::string_view name) {
    const auto made = client_->create(
        types::nodes, {},
        json(cat(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")", name, R"("}})")), {},
        {});
    ASSERT_TRUE(made) << to_string(made.error());
    const auto told =
        client_->patch(types::nodes, {"", std::string(name)}, kubernetes::PatchType::merge,
                       json(R"({"status":{"conditions":[{"type":"Ready","status":"True",
          "lastTransitionTime":"2026-01-01T00:00:00Z"}]}})"),
                       {.subresource = "status"}, {});
    ASSERT_TRUE(told) << to_string(told.error());
  }
  /// The scheduler puts all pods on a node. Waits until a controller has heard of that: what is
  /// changed next, it might hear of before.
  void bind_pods(std::string_view node, Controller& keeping) {
    for (const Value& pod : pods()) {
      const ObjectName name{"default", std::string(pod.at("metadata").text_at("name"))};
      const Value target =
          json(cat(R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":")", name.name,
                   R"("},"target":{"apiVersion":"v1","kind":"Node","name":")", node, R"("}})"));
      const auto bound = client_->create(types::pods, name, target, {.subresource = "binding"}, {});
      ASSERT_TRUE(bound) << to_string(bound.error());
      ASSERT_TRUE(
          await([&] { return keeping.known_pod(name).at("spec").text_at("nodeName") == node; }));
    }
  }
  void make_job(std::string_view name, std::string_view spec) {
    const auto made = client_->create(
        types::pull_jobs, {"default", ""},
        json(cat(R"({"apiVersion":"apps.kruise.io/v1beta1","kind":"ImagePullJob","metadata":
          {"name":")",
                 name, R"(","namespace":"default"},"spec":)", spec, "}")),
        {}, {});
    ASSERT_TRUE(made) << to_string(made.error());
  }
  std::vector<Value> jobs() {
    const auto listed = client_->list(types::pull_jobs, "default", {}, {});
    return listed ? listed->items : std::vector<Value>();
  }
  Value job_status(std::string_view name) {
    const auto job = client_->get(types::pull_jobs, {"default", std::string(name)}, {});
    return job ? job->at("status") : Value();
  }
  /// Null: there is no NodeImage.
  Value orders(std::string_view node) {
    const auto found = client_->get(types::node_images, {"", std::string(node)}, {});
    return found ? found->at("spec").at("images") : Value();
  }
  bool has_order(std::string_view node, std::string_view image) {
    return orders(node).find(image) != nullptr;
  }

  std::vector<Value> pods() {
    const auto listed = client_->list(types::pods, "default", {}, {});
    return listed ? listed->items : std::vector<Value>();
  }
  std::set<std::string> uids() {
    std::set<std::string> found;
    for (const Value& pod : pods())
      found.emplace(pod.at("metadata").text_at("uid"));
    return found;
  }
  size_t pods_with(std::string_view image) {
    return static_cast<size_t>(std::ranges::count_if(pods(), [&](const Value& pod) {
      return items_of(pod.at("spec").at("containers"))[0].text_at("image") == image;
    }));
  }
  Value status() {
    const auto set = client_->get(types::clone_sets, web_, {});
    return set ? set->at("status") : Value();
  }
  bool has_status(std::string_view key, int64_t number) {
    return status().integer_at(key, -1) == number;
  }
  /// Of all pods and of the workload.
  std::set<std::string> versions() {
    std::vector<Value> objects = pods();
    if (const auto set = client_->get(types::clone_sets, web_, {}))
      objects.push_back(*set);
    std::set<std::string> found;
    for (const Value& object : objects)
      found.insert(cat(object.at("metadata").text_at("name"), " ",
                       object.at("metadata").text_at("resourceVersion")));
    return found;
  }
  size_t revisions() {
    const auto listed = client_->list(types::revisions, "default", {}, {});
    return listed ? listed->items.size() : 0;
  }

  /// The limit is for a failing test.
  static bool await(const std::function<bool()>& holds) {
    for (int i = 0; i < 1'500; ++i) {
      if (holds())
        return true;
      EXPECT_TRUE(pause_for(20ms, {}));
    }
    return false;
  }
  /// All pods run an image and are ready, and the status says so.
  bool await_rollout(size_t replicas, std::string_view image) {
    const auto count = static_cast<int64_t>(replicas);
    return await([&] {
      return pods().size() == replicas && pods_with(image) == replicas &&
             has_status("updatedReadyReplicas", count) && has_status("readyReplicas", count);
    });
  }

  kubernetes::ApiServerFace server_;
  std::unique_ptr<kubernetes::Client> client_ = server_.client();
  std::unique_ptr<kubernetes::Client> kubelets_client_ = server_.client();
  TestHome home_;
  kubernetes::PlayedKubelet kubelet_{*kubelets_client_};
  const ObjectName web_{"default", "web"}, logs_{"", "logs"}, lease_{"kube-system", "fettle"};
};

}  // namespace fettle
