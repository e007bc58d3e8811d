/// Commands that ask about a fleet in a cluster: what would be done, how far it is, and why. The
/// objects are those that a real controller has made on our own server, and whoever asks finds them
/// without one.

#include <gtest/gtest.h>

#include "cluster/types.h"
#include "controller/cluster_access.h"
#include "controller/cluster_fleet.h"
#include "controller/workloads.h"
#include "drivers/host/host_driver.h"
#include "drivers/kubernetes/cluster_link.h"
#include "tests/fixtures/home.h"
#include "tests/fixtures/workload_kinds.h"
#include "tests/fixtures/workplace_setup.h"
#include "tests/kubernetes/api_server_face.h"
#include "tests/kubernetes/json_text.h"
#include "tests/kubernetes/played_kubelet.h"
#include "verbs/fleet/workload_edits.h"
#include "verbs/fleet/workload_plan.h"
#include "verbs/fleet/workload_views.h"
#include "verbs/fleet/workload_why.h"

namespace fettle {
namespace {

namespace kinds = cluster::types;
using kubernetes::ApiRequest;
using kubernetes::refusal;
using workloads::PodTurn;

constexpr std::string_view web = "CloneSet/default/web";

std::string web_manifest(int replicas, std::string_view image, std::string_view more = {}) {
  return cat(R"({"apiVersion":"apps.kruise.io/v1beta1","kind":"CloneSet","metadata":
      {"name":"web","namespace":"default"},"spec":{"replicas":)",
             replicas, R"(,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":
      {"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":")",
             image, R"("}]}},"updateStrategy":{"rollingUpdate":
      {"podUpdatePolicy":"InPlaceIfPossible","maxUnavailable":1}})",
             more, "}}");
}

/// As ours are: both versions are served, and nothing is converted.
Value definition_for(const kubernetes::ResourceType& type) {
  std::vector<std::string> versions;
  for (const char* version : {"v1beta1", "v1alpha1"})
    versions.push_back(cat(
        R"({"name":")", version, R"(","served":true,"storage":)",
        version == std::string_view("v1beta1") ? "true" : "false",
        R"(,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{
          "spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
          "status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}})"));
  return kubernetes::json(cat(
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
      "metadata":{"name":")",
      type.plural, ".", type.group, R"("},"spec":{"group":")", type.group, R"(","scope":")",
      type.is_namespaced ? "Namespaced" : "Cluster", R"(","names":{"plural":")", type.plural,
      R"(","singular":"one","kind":")", type.kind, R"(","listKind":"List"},"versions":[)",
      join(versions, ","), "]}}"));
}

constexpr std::string_view web_of_alpha = R"({"apiVersion":"apps.kruise.io/v1alpha1",
    "kind":"CloneSet","metadata":{"name":"web","namespace":"default"},"spec":{"replicas":2,
    "selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},
    "spec":{"containers":[{"name":"c","image":"web:1"}]}},
    "updateStrategy":{"type":"InPlaceIfPossible","maxUnavailable":1}}})";

class ClusterLooks : public testing::Test {
 protected:
  ClusterLooks() {
    for (const kubernetes::ResourceType& type : kinds::workloads)
      EXPECT_TRUE(
          client_->create(kubernetes::types::definitions, {}, definition_for(type), {}, {}));
    EXPECT_TRUE(client_->create(kubernetes::types::definitions, {},
                                definition_for(kinds::node_images), {}, {}));
    EXPECT_TRUE(client_->create(kinds::spaces, {},
                                kubernetes::json(R"({"apiVersion":"v1","kind":"Namespace",
                                                 "metadata":{"name":"kruise-system"}})"),
                                {}, {}));
    place_ = place_of({home_.store(), home_.blobs(), all_, interrupt_}, {});
    place_.notice = [this](const std::string& text) { told_.push_back(text); };
  }

  void make(std::string_view manifest) {
    const auto made =
        client_->create(kinds::clone_sets, {"default", ""}, kubernetes::json(manifest), {}, {});
    ASSERT_TRUE(made) << to_string(made.error());
  }
  void make_alpha() {
    kubernetes::ResourceType type = kinds::clone_sets;
    type.version = "v1alpha1";
    const auto made =
        client_->create(type, {"default", ""}, kubernetes::json(web_of_alpha), {}, {});
    ASSERT_TRUE(made) << to_string(made.error());
  }
  Value spec() {
    const auto set = client_->get(kinds::clone_sets, {"default", "web"}, {});
    return set ? set->at("spec") : Value();
  }
  void change(std::string_view patch) {
    const auto changed =
        client_->patch(kinds::clone_sets, {"default", "web"}, kubernetes::PatchType::merge,
                       kubernetes::json(patch), {}, {});
    ASSERT_TRUE(changed) << to_string(changed.error());
  }
  void set_image(std::string_view image) {
    change(cat(R"({"spec":{"template":{"spec":{"containers":[{"name":"c","image":")", image,
               R"("}]}}}})"));
  }

  /// Lets a controller act until the status of the workload says something.
  void keep_until(const std::function<bool(const Value& status)>& holds) {
    Interrupt ending;
    ClusterLink link(std::make_unique<kubernetes::HttpTransport>(server_.config()),
                     {.client = {.qps = 0}}, now_from_clock, 1);
    HttpClient http;
    HostDriver host(http, home_.blobs(), [] { return uint64_t{7}; }, {});
    Workplace place = place_of({home_.store(), home_.blobs(), all_, ending},
                               {{cluster::driver_name, &link.driver()}, {"host", &host}});
    place.notice = place_.notice;
    link.begin();
    const std::jthread keeping([&] {
      BringOptions options;
      options.keeps = true;
      const auto brought =
          bring_cluster(place, {link.client(), link.objects(), link.owners()}, {}, options);
      EXPECT_TRUE(brought) << to_string(brought.error());
    });
    // The limit is for a failing test.
    bool is_there = false;
    for (int i = 0; i < 1'500 && !is_there; ++i) {
      const auto set = client_->get(kinds::clone_sets, {"default", "web"}, {});
      is_there = set && holds(set->at("status"));
      if (!is_there) {
        EXPECT_TRUE(pause_for(20ms, {}));
      }
    }
    EXPECT_TRUE(is_there);
    ending.ask();
  }
  /// Three pods of `web:1`, made by a controller that has ended.
  void bring_web() {
    make(web_manifest(3, "web:1"));
    keep_until([](const Value& status) {
      return status.text_at("phase") == "complete" && status.integer_at("readyReplicas") == 3;
    });
  }

  static std::string sidecars_manifest(std::string_view image) {
    return cat(R"({"apiVersion":"apps.kruise.io/v1beta1","kind":"SidecarSet","metadata":
        {"name":"logs"},"spec":{"selector":{"matchLabels":{"app":"web"}},"containers":[
        {"name":"log","podInjectPolicy":"AfterAppContainer","image":")",
               image, R"("}],"updateStrategy":{"maxUnavailable":1}}})");
  }
  /// Three pods of `web:1` that have the sidecar `log:1`.
  void bring_web_with_sidecar() {
    const auto made = client_->create(kinds::sidecar_sets, {},
                                      kubernetes::json(sidecars_manifest("log:1")), {}, {});
    ASSERT_TRUE(made) << to_string(made.error());
    bring_web();
    const auto pods = client_->list(kinds::pods, "default", {}, {});
    ASSERT_TRUE(pods);
    ASSERT_EQ(pods->items.size(), 3u);
    for (const Value& pod : pods->items)
      ASSERT_EQ(items_of(pod.at("spec").at("containers")).size(), 2u);
  }

  ClusterFleet fleet(std::string space = "default") {
    return ClusterFleet(place_, {*asking_, "default"}, std::move(space));
  }
  static std::vector<workloads::Object> read(std::string_view manifest) {
    workloads::Manifests read =
        workloads::read_manifests(manifest, "web.json", {.keeps_written = true});
    EXPECT_TRUE(read.errors.empty()) << to_string(read.errors.front());
    return std::move(read.objects);
  }
  Result<WorkloadPlan> plan(std::string_view manifest) {
    ClusterFleet there = fleet();
    return plan_workloads(there, read(manifest));
  }
  std::vector<std::string> why(std::string_view what) {
    ClusterFleet there = fleet();
    const auto found = why_workloads(there, what);
    EXPECT_TRUE(found) << to_string(found.error());
    return found && found->size() == 1 ? found->front().lines : std::vector<std::string>();
  }

  /// Of everything that a write would change.
  std::set<std::string> versions() {
    std::set<std::string> found;
    for (const kubernetes::ResourceType& type :
         {kinds::pods, kinds::revisions, kinds::clone_sets}) {
      const auto listed = client_->list(type, "default", {}, {});
      for (const Value& object : listed ? listed->items : std::vector<Value>())
        found.insert(cat(type.plural, " ", object.at("metadata").text_at("name"), " ",
                         object.at("metadata").text_at("resourceVersion")));
    }
    return found;
  }
  void refuse(std::string method, int code, std::string reason, std::string message,
              std::string part = {}) {
    server_.with([&](kubernetes::ApiServer& server) {
      server.fail(
          100,
          [method, part](const ApiRequest& request) {
            return request.method == method && request.user_agent == "asking" &&
                   request.target.find(part) != std::string::npos;
          },
          refusal(code, reason, message));
    });
  }

  kubernetes::ApiServerFace server_;
  std::unique_ptr<kubernetes::Client> client_ = server_.client();
  std::unique_ptr<kubernetes::Client> asking_ =
      server_.client({.qps = 0, .user_agent = "asking", .tries = 1});
  std::unique_ptr<kubernetes::Client> kubelets_client_ = server_.client();
  TestHome home_;
  WorkloadKinds all_;
  Interrupt interrupt_;
  Workplace place_;
  std::vector<std::string> told_;
  kubernetes::PlayedKubelet kubelet_{*kubelets_client_};
};

TEST_F(ClusterLooks, APlanSaysPodByPodWhatWouldBeDoneAndWritesNothing) {
  bring_web();
  const std::set<std::string> before = versions();
  const auto found = plan(web_manifest(3, "web:2"));
  ASSERT_TRUE(found) << to_string(found.error());
  ASSERT_EQ(found->objects.size(), 1u);
  EXPECT_EQ(found->objects[0].owner, web);
  EXPECT_EQ(found->objects[0].fate, StoredObject::Fate::configured);
  ASSERT_EQ(found->rollout.turns.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const PodTurn& turn = found->rollout.turns[i];
    EXPECT_EQ(turn.sort, PodTurn::Sort::in_place);
    EXPECT_EQ(turn.why, "image of container `c`: web:1 -> web:2");
    EXPECT_EQ(turn.batch, i + 1) << "one may be unavailable";
  }
  EXPECT_EQ(found->rollout.warnings, std::vector<std::string>());
  EXPECT_FALSE(found->is_settled());
  EXPECT_EQ(versions(), before);
}

TEST_F(ClusterLooks, APlanIsWhatAControllerThenDoes) {
  bring_web();
  const auto found = plan(web_manifest(3, "web:2", R"(,"minReadySeconds":0)"));
  ASSERT_TRUE(found) << to_string(found.error());
  std::set<std::string> planned, kept;
  for (const PodTurn& turn : found->rollout.turns)
    planned.insert(turn.pod.str());
  set_image("web:2");
  keep_until([](const Value& status) {
    return status.text_at("phase") == "complete" && status.integer_at("observedGeneration") == 2;
  });
  const auto pods = client_->list(kinds::pods, "default", {}, {});
  ASSERT_TRUE(pods);
  for (const Value& pod : pods->items) {
    kept.emplace(pod.at("metadata").text_at("name"));
    EXPECT_EQ(items_of(pod.at("spec").at("containers"))[0].text_at("image"), "web:2");
  }
  EXPECT_EQ(planned, kept) << "in place";
}

TEST_F(ClusterLooks, WhatIsAsTheManifestSaysIsSettled) {
  bring_web();
  const auto found = plan(web_manifest(3, "web:1"));
  ASSERT_TRUE(found) << to_string(found.error());
  EXPECT_EQ(found->objects.at(0).fate, StoredObject::Fate::unchanged);
  EXPECT_TRUE(found->is_settled());
}

TEST_F(ClusterLooks, WhatIsNotThereIsCreated) {
  const auto found = plan(web_manifest(2, "web:1"));
  ASSERT_TRUE(found) << to_string(found.error());
  EXPECT_EQ(found->objects.at(0).fate, StoredObject::Fate::created);
  ASSERT_EQ(found->rollout.turns.size(), 2u);
  EXPECT_EQ(found->rollout.turns[0].sort, PodTurn::Sort::create);
  EXPECT_FALSE(client_->get(kinds::clone_sets, {"default", "web"}, {}));
}

TEST_F(ClusterLooks, OtherWorkloadsAreNoPartOfThePlan) {
  bring_web();
  std::string other = web_manifest(2, "web:1");
  make(replace_all(replace_all(other, R"("name":"web")", R"("name":"other")"), R"("app":"web")",
                   R"("app":"other")"));
  const auto found = plan(web_manifest(4, "web:1"));
  ASSERT_TRUE(found) << to_string(found.error());
  ASSERT_EQ(found->rollout.turns.size(), 1u);
  EXPECT_EQ(found->rollout.turns[0].owner, web);
  ClusterFleet there = fleet();
  const auto all = plan_workloads(there, {});
  ASSERT_TRUE(all) << to_string(all.error());
  EXPECT_EQ(all->rollout.turns.size(), 2u) << "without a manifest, what is due";
}

// As kubectl applies: what the last manifest named and this one does not goes, all else stays.
TEST_F(ClusterLooks, WhatAManifestNamesNoMoreGoes) {
  make(web_manifest(3, "web:1", R"(,"minReadySeconds":9)"));
  change(cat(R"({"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":)",
             write_json(web_manifest(3, "web:1", R"(,"minReadySeconds":9)"), {.indent = 0}),
             R"(}},"spec":{"revisionHistoryLimit":4}})"));
  ClusterFleet there = fleet();
  const auto trial = there.try_out(read(web_manifest(3, "web:1")));
  ASSERT_TRUE(trial) << to_string(trial.error());
  const workloads::Object* const web_set = trial->view->fleet.object(web);
  ASSERT_NE(web_set, nullptr);
  const Value& spec = web_set->document.at("spec");
  EXPECT_EQ(spec.find("minReadySeconds"), nullptr);
  EXPECT_EQ(spec.integer_at("revisionHistoryLimit"), 4);
}

TEST_F(ClusterLooks, WhatOthersChangedSinceIsSaidToBeTakenBack) {
  make(web_manifest(3, "web:1"));
  change(cat(R"({"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":)",
             write_json(web_manifest(3, "web:1"), {.indent = 0}), R"(}},"spec":{"replicas":5}})"));
  const auto found = plan(web_manifest(3, "web:2"));
  ASSERT_TRUE(found) << to_string(found.error());
  ASSERT_EQ(found->objects.at(0).taken_back.size(), 1u);
  EXPECT_EQ(found->objects[0].taken_back[0].path, "spec.replicas");
  EXPECT_EQ(found->objects[0].taken_back[0].before, Value(5));
}

TEST_F(ClusterLooks, AManifestThatTheServerRefusesIsWrongInput) {
  bring_web();
  refuse("PATCH", 422, "Invalid", "spec.replicas: too many");
  const auto found = plan(web_manifest(3, "web:2"));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().blame, Blame::user);
  EXPECT_NE(to_string(found.error()).find("spec.replicas: too many"), std::string::npos);
}

TEST_F(ClusterLooks, ARefusalOfAdmissionIsNoMissingRight) {
  refuse("POST", 403, "Forbidden", "clonesets \"web\" is forbidden: exceeded quota");
  const auto found = plan(web_manifest(3, "web:2"));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().blame, Blame::user);
}

TEST_F(ClusterLooks, WhoMayOnlyReadGetsAPlanAndAWarning) {
  bring_web();
  refuse("PATCH", 403, "Forbidden",
         "clonesets \"web\" is forbidden: User \"jane\" cannot patch resource \"clonesets\"");
  const auto found = plan(web_manifest(3, "web:2"));
  ASSERT_TRUE(found) << to_string(found.error());
  EXPECT_EQ(found->rollout.turns.size(), 3u);
  ASSERT_EQ(found->rollout.warnings.size(), 1u);
  EXPECT_NE(found->rollout.warnings[0].find("cannot patch"), std::string::npos);
}

TEST_F(ClusterLooks, PodsWithSidecarsChangeOnlyWhatTheManifestSays) {
  bring_web_with_sidecar();
  const auto same = plan(web_manifest(3, "web:1"));
  ASSERT_TRUE(same) << to_string(same.error());
  EXPECT_TRUE(same->is_settled());
  EXPECT_EQ(same->rollout.warnings, std::vector<std::string>());
  const auto next = plan(web_manifest(3, "web:2"));
  ASSERT_TRUE(next) << to_string(next.error());
  ASSERT_EQ(next->rollout.turns.size(), 3u);
  for (const PodTurn& turn : next->rollout.turns)
    EXPECT_EQ(turn.why, "image of container `c`: web:1 -> web:2");
  EXPECT_EQ(why("cloneset/web").at(0),
            "CloneSet/default/web is complete: 3 of 3 updated pods are available");
}

TEST_F(ClusterLooks, ASidecarSetIsPlannedPodByPod) {
  bring_web_with_sidecar();
  const auto found = plan(sidecars_manifest("log:2"));
  ASSERT_TRUE(found) << to_string(found.error());
  ASSERT_EQ(found->rollout.turns.size(), 3u);
  for (const PodTurn& turn : found->rollout.turns) {
    EXPECT_EQ(turn.owner, web);
    EXPECT_EQ(turn.sort, PodTurn::Sort::in_place);
  }
  EXPECT_TRUE(pause_rollout(*std::make_unique<ClusterFleet>(fleet()), "SidecarSet//logs", true));
}

TEST_F(ClusterLooks, PodsOfOthersAreInThePlanOfTheirSidecarSet) {
  bring_web_with_sidecar();
  const auto revisions = client_->list(kinds::revisions, "kruise-system", {}, {});
  ASSERT_TRUE(revisions && revisions->items.size() == 1);
  const std::string parts =
      write_json(kubernetes::json(cat(R"([{"name":"logs","revision":")",
                                      revisions->items[0].at("metadata").text_at("name"),
                                      R"(","containers":[{"name":"log","image":"log:1"}]}])")),
                 {.indent = 0});
  const auto made = client_->create(
      kinds::pods, {"default", ""},
      kubernetes::json(cat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"single",
        "namespace":"default","labels":{"app":"web"},"annotations":{
        "kruise.io/sidecarset-injected-list":"logs","fettle/sidecars":)",
                           write_json(Value(parts)), R"(}},"spec":{"containers":[
        {"name":"main","image":"main:1"},{"name":"log","image":"log:1"}]}})")),
      {}, {});
  ASSERT_TRUE(made) << to_string(made.error());
  const auto found = plan(sidecars_manifest("log:2"));
  ASSERT_TRUE(found) << to_string(found.error());
  ASSERT_EQ(found->rollout.turns.size(), 4u);
  EXPECT_EQ(std::ranges::count_if(found->rollout.turns,
                                  [](const PodTurn& turn) {
                                    return turn.owner == "Others/default/pods" &&
                                           turn.pod == "single" &&
                                           turn.sort == PodTurn::Sort::in_place;
                                  }),
            1);
}

TEST_F(ClusterLooks, WhoMayNotReadSidecarSetsGetsAPlanAndAWarning) {
  bring_web_with_sidecar();
  refuse("GET", 403, "Forbidden", "sidecarsets is forbidden", "/sidecarsets");
  const auto same = plan(web_manifest(3, "web:1"));
  ASSERT_TRUE(same) << to_string(same.error());
  EXPECT_TRUE(same->is_settled()) << "pods keep what they have";
  ASSERT_EQ(same->rollout.warnings.size(), 1u);
  EXPECT_NE(same->rollout.warnings[0].find("--resource=sidecarsets.apps.kruise.io"),
            std::string::npos)
      << same->rollout.warnings[0];
  EXPECT_FALSE(plan(sidecars_manifest("log:2"))) << "it is asked about";
}

TEST_F(ClusterLooks, WhatTheClusterDoesNotServeIsAbsent) {
  bring_web();
  refuse("GET", 404, "NotFound", "there is no such path", "apps.kruise.io/v1beta1/nodeimages");
  refuse("GET", 404, "NotFound", "there is no such path", "apps.kruise.io/v1beta1/sidecarsets");
  const auto found = plan(web_manifest(3, "web:2"));
  ASSERT_TRUE(found) << to_string(found.error());
  EXPECT_EQ(found->rollout.turns.size(), 3u);
  EXPECT_EQ(found->rollout.warnings, std::vector<std::string>());
}

TEST_F(ClusterLooks, WhyNamesTheJobForWhoseImagePodsWait) {
  ASSERT_TRUE(client_->create(
      kubernetes::types::nodes, {},
      kubernetes::json(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}})"), {}, {}));
  ASSERT_TRUE(client_->patch(kubernetes::types::nodes, {"", "n1"}, kubernetes::PatchType::merge,
                             kubernetes::json(R"({"status":{"conditions":[{"type":"Ready",
                                 "status":"True","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})"),
                             {.subresource = "status"}, {}));
  bring_web();
  const auto pods = client_->list(kinds::pods, "default", {}, {});
  ASSERT_TRUE(pods);
  for (const Value& pod : pods->items) {
    const std::string name(pod.at("metadata").text_at("name"));
    ASSERT_TRUE(client_->create(
        kinds::pods, {"default", name},
        kubernetes::json(cat(R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":")", name,
                             R"("},"target":{"apiVersion":"v1","kind":"Node","name":"n1"}})")),
        {.subresource = "binding"}, {}));
  }
  change(R"({"metadata":{"annotations":{"fettle/image-predownload-mode":"wait"}},"spec":
      {"template":{"spec":{"containers":[{"name":"c","image":"web:2"}]}}}})");
  // Nobody pulls on this node.
  keep_until([](const Value& status) {
    return status.text_at("reason").find("pods wait for image web:2") != std::string::npos;
  });
  const std::vector<std::string> lines = why("web");
  ASSERT_GE(lines.size(), 2u);
  EXPECT_NE(lines[0].find("pods wait for image web:2"), std::string::npos) << lines[0];
  EXPECT_TRUE(lines[1].starts_with("ImagePullJob `web-")) << lines[1];
  EXPECT_NE(lines[1].find("pulls image web:2: 0 of 1 node has it"), std::string::npos) << lines[1];
}

TEST_F(ClusterLooks, WhatHasNoPodsIsNotCompared) {
  const auto config = plan(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"web"}})");
  ASSERT_TRUE(config) << to_string(config.error());
  EXPECT_EQ(config->rollout.warnings.size(), 1u);
}

TEST_F(ClusterLooks, ARightToReadThatIsMissingIsNamed) {
  refuse("GET", 403, "Forbidden", "pods is forbidden", "/pods");
  const auto found = plan(web_manifest(3, "web:2"));
  ASSERT_FALSE(found);
  EXPECT_NE(to_string(found.error())
                .find("kubectl create role fettle-look -n default --verb=get,list "
                      "--resource=pods"),
            std::string::npos)
      << to_string(found.error());
}

TEST_F(ClusterLooks, NodesAreReadForDaemonSetsAlone) {
  refuse("GET", 403, "Forbidden", "nodes is forbidden", "/nodes");
  EXPECT_TRUE(plan(web_manifest(1, "web:1")));
  const auto found = plan(R"({"apiVersion":"apps.kruise.io/v1beta1","kind":"DaemonSet",
      "metadata":{"name":"agent"},"spec":{"selector":{"matchLabels":{"app":"a"}},"template":{
      "metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"a:1"}]}}}})");
  EXPECT_FALSE(found);
}

TEST_F(ClusterLooks, ADaemonSetIsPlannedOnTheNodesOfTheCluster) {
  for (const char* name : {"n1", "n2"})
    ASSERT_TRUE(client_->create(
        kubernetes::types::nodes, {},
        kubernetes::json(cat(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")", name,
                             R"(","labels":{"kubernetes.io/hostname":")", name, R"("}}})")),
        {}, {}));
  const auto found = plan(R"({"apiVersion":"apps.kruise.io/v1beta1","kind":"DaemonSet",
      "metadata":{"name":"agent"},"spec":{"selector":{"matchLabels":{"app":"a"}},"template":{
      "metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"a:1"}]}}}})");
  ASSERT_TRUE(found) << to_string(found.error());
  std::set<std::string> nodes;
  for (const PodTurn& turn : found->rollout.turns)
    nodes.insert(turn.node.str());
  EXPECT_EQ(nodes, (std::set<std::string>{"n1", "n2"}));
}

TEST_F(ClusterLooks, WhySaysHowFarItIsAndWhatWasDoneLast) {
  bring_web();
  const std::vector<std::string> lines = why("cloneset/web");
  ASSERT_GE(lines.size(), 2u);
  EXPECT_EQ(lines.front(), "CloneSet/default/web is complete: 3 of 3 updated pods are available");
  EXPECT_TRUE(lines.back().starts_with("last act: ")) << lines.back();
  EXPECT_NE(lines.back().find(" was made; it has revision `web-"), std::string::npos)
      << lines.back();
  EXPECT_EQ(why("nobody"), std::vector<std::string>());
}

TEST_F(ClusterLooks, WhySaysThatNoControllerHasSeenWhatIsWanted) {
  bring_web();
  set_image("web:2");
  const std::vector<std::string> lines = why("web");
  ASSERT_GE(lines.size(), 3u);
  EXPECT_TRUE(lines[0].starts_with("CloneSet/default/web is progressing: 0 of 3 updated pods"))
      << lines[0];
  EXPECT_EQ(lines[1], "its controller has seen generation 1 of 2");
}

TEST_F(ClusterLooks, WhyTellsWhatStandsInTheStatusWhenEventsAreGone) {
  make(web_manifest(1, "web:1"));
  const auto patched = client_->patch(kinds::clone_sets, {"default", "web"},
                                      kubernetes::PatchType::merge, kubernetes::json(R"({
        "status":{"observedGeneration":1,"phase":"failed","reason":"exceeded quota","conditions":[
          {"type":"FailedScale","status":"True","message":"no more than 0 pods",
           "lastTransitionTime":"2026-01-02T03:04:05Z"}]}})"),
                                      {.subresource = "status"}, {});
  ASSERT_TRUE(patched) << to_string(patched.error());
  const std::vector<std::string> lines = why("web");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1], "its controller says: failed: exceeded quota");
  EXPECT_EQ(lines[2], "2026-01-02T03:04:05.000Z FailedScale is True: no more than 0 pods");
}

TEST_F(ClusterLooks, RolloutStatusIsTheOneThatItsControllerWroteLast) {
  bring_web();
  ClusterFleet there = fleet();
  const auto before = there.rollout_status(web);
  ASSERT_TRUE(before) << to_string(before.error());
  EXPECT_EQ(before->text_at("phase"), "complete");
  set_image("web:2");
  const auto after = there.rollout_status(web);
  ASSERT_TRUE(after) << to_string(after.error());
  EXPECT_EQ(after->text_at("phase"), "progressing") << "not complete before anybody has seen it";
  EXPECT_EQ(rollout_text("CloneSet", *after),
            "0 of 3 updated pods are available: its controller has seen generation 1 of 2");
}

// OpenKruise writes no phase.
TEST_F(ClusterLooks, AStatusWithoutPhaseIsDecidedHere) {
  bring_web();
  const auto patched = client_->patch(
      kinds::clone_sets, {"default", "web"}, kubernetes::PatchType::merge,
      kubernetes::json(R"({"status":{"phase":null}})"), {.subresource = "status"}, {});
  ASSERT_TRUE(patched) << to_string(patched.error());
  const auto status = fleet().rollout_status(web);
  ASSERT_TRUE(status) << to_string(status.error());
  EXPECT_EQ(status->text_at("phase"), "complete");
}

/// As a controller does before it decides anything.
TEST_F(ClusterLooks, OrphansAreThoseOfTheSetThatTakesThemOver) {
  const auto set = client_->create(
      kinds::stateful_sets, {"default", ""},
      kubernetes::json(R"({"apiVersion":"apps.kruise.io/v1beta1","kind":"StatefulSet","metadata":
        {"name":"db","namespace":"default"},"spec":{"replicas":2,"serviceName":"db",
        "selector":{"matchLabels":{"app":"db"}},"template":{"metadata":{"labels":{"app":"db"}},
        "spec":{"containers":[{"name":"c","image":"db:1"}]}}}})"),
      {}, {});
  ASSERT_TRUE(set) << to_string(set.error());
  for (const char* name : {"db-0", "other-0"}) {
    const auto pod = client_->create(
        kinds::pods, {"default", ""},
        kubernetes::json(cat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name,
                             R"(","namespace":"default","labels":{"app":"db"}},
          "spec":{"containers":[{"name":"c","image":"db:1"}]}})")),
        {}, {});
    ASSERT_TRUE(pod) << to_string(pod.error());
  }
  const Name owner = "StatefulSet/default/db";
  const auto view = fleet().view_of(owner);
  ASSERT_TRUE(view) << to_string(view.error());
  ASSERT_NE((*view)->fleet.object(owner), nullptr);
  const auto& pods = (*view)->fleet.owned(owner).pods;
  ASSERT_EQ(pods.size(), 1u);
  EXPECT_EQ(pods[0]->name, "db-0");
  const auto stored = client_->get(kinds::pods, {"default", "db-0"}, {});
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->at("metadata").find("ownerReferences"), nullptr) << "nothing is written";
}

TEST_F(ClusterLooks, WhatCannotBeReadIsSaid) {
  make(replace_all(web_manifest(2, "web:1"), R"("replicas":2)", R"("replicas":"two")"));
  const auto view = fleet().view_of(web);
  ASSERT_TRUE(view) << to_string(view.error());
  EXPECT_EQ((*view)->fleet.object(web), nullptr);
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_NE(told_[0].find("replicas"), std::string::npos) << told_[0];
}

TEST_F(ClusterLooks, WhatHasNoRolloutHasNoStatus) {
  ClusterFleet there = fleet();
  for (const char* owner :
       {"CloneSet/default/nobody", "ConfigMap/default/web", "SidecarSet//web"}) {
    const auto status = there.rollout_status(owner);
    ASSERT_FALSE(status) << owner;
    EXPECT_EQ(status.error().blame, Blame::user) << owner;
  }
}

TEST_F(ClusterLooks, DocumentsAreThoseOfTheServer) {
  bring_web();
  ClusterFleet there = fleet();
  const auto pods = there.documents("Pod", "default");
  ASSERT_TRUE(pods) << to_string(pods.error());
  ASSERT_EQ(pods->size(), 3u);
  EXPECT_EQ(pods->front().text_at("kind"), "Pod");
  EXPECT_EQ(there.documents("Pod", "kube-system")->size(), 0u);
  EXPECT_EQ(there.documents("CloneSet", "")->front().at("status").text_at("phase"), "complete");
  EXPECT_EQ(there.documents("SidecarSet", "default")->size(), 0u);
  for (const char* kind : {"Secret", "Deployment"}) {
    const auto found = there.documents(kind, "default");
    ASSERT_FALSE(found) << kind;
    EXPECT_EQ(found.error().blame, Blame::user) << kind;
  }
}

TEST_F(ClusterLooks, ARolloutIsPausedAndResumed) {
  make(web_manifest(2, "web:1"));
  ClusterFleet there = fleet();
  const auto paused = pause_rollout(there, web, true);
  ASSERT_TRUE(paused) << to_string(paused.error());
  EXPECT_EQ(paused->at(0).fate, StoredObject::Fate::configured);
  EXPECT_TRUE(spec().at("updateStrategy").at("rollingUpdate").bool_at("paused"));
  EXPECT_EQ(spec().at("updateStrategy").at("rollingUpdate").integer_at("maxUnavailable"), 1);
  const auto again = pause_rollout(there, web, true);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().blame, Blame::user);
  EXPECT_TRUE(pause_rollout(there, web, false));
  EXPECT_FALSE(spec().at("updateStrategy").at("rollingUpdate").bool_at("paused"));
  EXPECT_FALSE(pause_rollout(there, "CloneSet/default/nobody", true));
  EXPECT_FALSE(pause_rollout(there, "SidecarSet//web", true));
}

TEST_F(ClusterLooks, AnEditIsWrittenInTheVersionOfTheSpec) {
  make_alpha();
  ClusterFleet there = fleet();
  ASSERT_TRUE(pause_rollout(there, web, true));
  EXPECT_EQ(spec().at("updateStrategy"),
            kubernetes::json(R"({"type":"InPlaceIfPossible","maxUnavailable":1,"paused":true})"));
  ASSERT_TRUE(pause_rollout(there, web, false));
  EXPECT_EQ(spec().at("updateStrategy"),
            kubernetes::json(R"({"type":"InPlaceIfPossible","maxUnavailable":1})"));
}

TEST_F(ClusterLooks, AManifestIsTriedOutInItsOwnVersion) {
  make_alpha();
  ClusterFleet there = fleet();
  auto trial = there.try_out(read(web_of_alpha));
  ASSERT_TRUE(trial) << to_string(trial.error());
  EXPECT_EQ(trial->objects.at(0).fate, StoredObject::Fate::unchanged);
  trial = there.try_out(read(replace_all(web_of_alpha, "web:1", "web:2")));
  ASSERT_TRUE(trial) << to_string(trial.error());
  EXPECT_EQ(trial->objects.at(0).fate, StoredObject::Fate::configured);
  const workloads::Workload* const workload = trial->view->fleet.workload(web);
  ASSERT_NE(workload, nullptr);
  EXPECT_EQ(workload->policy, workloads::PodPolicy::in_place_if_possible);
}

TEST_F(ClusterLooks, ARolloutGoesBackToAnEarlierRevision) {
  bring_web();
  set_image("web:2");
  keep_until([](const Value& status) {
    return status.text_at("phase") == "complete" && status.integer_at("observedGeneration") == 2;
  });
  ClusterFleet there = fleet();
  const auto revisions = revisions_of(there, web);
  ASSERT_TRUE(revisions) << to_string(revisions.error());
  ASSERT_EQ(revisions->size(), 2u);
  EXPECT_EQ(revisions->at(0).pods, 0u);
  EXPECT_EQ(revisions->at(1).pods, 3u);
  EXPECT_TRUE(revisions->at(1).is_current);
  const auto missing = undo_rollout(there, web, 9);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().blame, Blame::user);
  const auto undone = undo_rollout(there, web, 0);
  ASSERT_TRUE(undone) << to_string(undone.error());
  const Value now = spec();
  const auto containers = items_of(now.at("template").at("spec").at("containers"));
  ASSERT_EQ(containers.size(), 1u);
  EXPECT_EQ(containers[0].text_at("image"), "web:1");
  EXPECT_EQ(spec().at("template").find("$patch"), nullptr);
}

TEST_F(ClusterLooks, ARestartIsAnAnnotationOfTheTemplate) {
  make(web_manifest(2, "web:1"));
  ClusterFleet there = fleet();
  ASSERT_TRUE(restart_rollout(there, web));
  EXPECT_FALSE(spec()
                   .at("template")
                   .at("metadata")
                   .at("annotations")
                   .text_at("kubectl.kubernetes.io/restartedAt")
                   .empty());
}

TEST_F(ClusterLooks, AnEditWithoutRightsIsNoWrongInput) {
  make(web_manifest(2, "web:1"));
  refuse("PATCH", 403, "Forbidden",
         "clonesets \"web\" is forbidden: User \"jane\" cannot patch resource \"clonesets\"");
  ClusterFleet there = fleet();
  const auto paused = pause_rollout(there, web, true);
  ASSERT_FALSE(paused);
  EXPECT_EQ(paused.error().blame, Blame::world);
}

TEST_F(ClusterLooks, EventsAreToldInTheirOrder) {
  const auto report = [&](std::string_view name, std::string_view rest) {
    const auto made = client_->create(
        kubernetes::types::events, {"default", ""},
        kubernetes::json(cat(
            R"({"apiVersion":"v1","kind":"Event","metadata":{"name":")", name,
            R"("},"involvedObject":{"kind":"Pod","namespace":"default","name":"a"},)", rest, "}")),
        {}, {});
    ASSERT_TRUE(made) << to_string(made.error());
  };
  report("late",
         R"("reason":"B","message":"two","lastTimestamp":"2026-01-02T03:04:06Z","count":4)");
  report("early", R"("reason":"A","type":"Warning","message":"one","lastTimestamp":null,
      "eventTime":"2026-01-02T03:04:05.000001Z")");
  const auto events = fleet().events();
  ASSERT_TRUE(events) << to_string(events.error());
  ASSERT_EQ(events->size(), 2u);
  EXPECT_EQ(events->at(0).reason, "A");
  EXPECT_EQ(events->at(0).type, "Warning");
  EXPECT_EQ(events->at(0).object, "Pod/default/a");
  EXPECT_EQ(events->at(1).text, "two");
  EXPECT_EQ(events->at(1).count, 4);
}

TEST_F(ClusterLooks, WhatIsNoObjectIsPassedOver) {
  server_.with([&](kubernetes::ApiServer& server) {
    server.fail(100, [](const ApiRequest& request) { return request.user_agent == "asking"; },
                {.status = 200, .body = kubernetes::json(R"({"kind":"List","apiVersion":"v1",
            "metadata":{"resourceVersion":"1"},"items":[7,null,{"metadata":[]},
            {"metadata":{"name":"web","namespace":"default","uid":"u"},"spec":"x","status":[]}]})")});
  });
  ClusterFleet there = fleet();
  EXPECT_TRUE(there.events());
  EXPECT_TRUE(there.documents("Pod", "default"));
  EXPECT_TRUE(there.with_status([](const workloads::Object&) { return true; }));
}

}  // namespace
}  // namespace fettle
