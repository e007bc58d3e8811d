#include "verbs/cluster/take_over.h"

#include <map>
#include <set>

#include <gtest/gtest.h>

#include "base/text.h"
#include "cluster/types.h"
#include "tests/kubernetes/json_text.h"
#include "tests/kubernetes/played_transport.h"
#include "value/with.h"
#include "verbs/cluster/cluster_objects.h"
#include "verbs/cluster/put_aside.h"
#include "verbs/cluster/upstream.h"

namespace fettle::take_over_test {
namespace {

using kubernetes::json;
using kubernetes::ObjectName;
using kubernetes::ResourceType;

const ResourceType pods = kubernetes::types::pods;
const ResourceType definitions = kubernetes::types::definitions;
const ResourceType clone_sets_alpha{"apps.kruise.io", "v1alpha1", "clonesets", "CloneSet"};
const ResourceType spreads{"apps.kruise.io", "v1alpha1", "workloadspreads", "WorkloadSpread"};
constexpr std::string_view system_space = "kruise-system";

/// As OpenKruise stores what its user wrote in v1alpha1.
constexpr std::string_view stored_spec = R"({"replicas":4,"selector":{"matchLabels":{"app":"web"}},
  "template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"main",
  "image":"web:1"}]}},"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":2,
  "maxUnavailable":"20%","podUpdatePolicy":"InPlaceIfPossible"}},
  "scaleStrategy":{"enablePVCReuse":true}})";
/// As its user writes it.
constexpr std::string_view written_strategy =
    R"({"type":"InPlaceIfPossible","partition":2,"maxUnavailable":"20%"})";

/// All rules of definitions hold: they are in CEL, which the server of the tests does not know.
void know_rules_in(const Value& schema, kubernetes::ApiServer& server) {
  for (const Value& item : items_of(schema))
    know_rules_in(item, server);
  if (!schema.is_dict())
    return;
  for (const Value& rule : items_of(schema.at("x-kubernetes-validations")))
    server.know_rule(std::string(rule.text_at("rule")), [](const Value&) { return true; });
  for (const Entry& entry : schema.entries())
    know_rules_in(entry.value, server);
}

/// A dict without entries is none.
Value without_nothing(const Value& dict) {
  return dict.is_dict() && dict.entries().empty() ? Value() : dict;
}

/// A cluster with OpenKruise, and the controllers of Kubernetes, who act while somebody waits.
class KruiseCluster {
 public:
  explicit KruiseCluster(kubernetes::ApiServer server) : server_(std::move(server)) {}
  KruiseCluster(const KruiseCluster&) = delete;
  KruiseCluster& operator=(const KruiseCluster&) = delete;

  ExchangeRequest request() {
    ExchangeRequest request{.installation = {.image = "r.example/fettle:1"}};
    request.patience.limit = 20s;
    request.patience.pause = [this](Duration, const std::stop_token&) -> Status {
      play();
      return {};
    };
    return request;
  }
  Result<InstallationReport> take_over() { return fettle::take_over(client_, request(), {}); }
  Result<InstallationReport> hand_back() { return fettle::hand_back(client_, request(), {}); }

  /// What a controller manager and kubelets do.
  void play() {
    is_playing_ = true;
    std::set<std::string> wanted;
    for (const Value& each : all_of(cluster_types::deployments)) {
      const ObjectName name = name_of(each);
      const int64_t replicas = each.at("spec").integer_at("replicas", 1);
      for (int64_t i = 0; i < replicas; ++i) {
        wanted.insert(cat(name.name, "-", i));
        make(pods, name.space,
             cat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name.name, "-", i,
                 R"("},"spec":{"containers":[]}})"),
             each.at("spec").at("selector").at("matchLabels"));
      }
      const bool is_ready = replicas > 0 && is_manager_healthy;
      const auto told = client_.patch(
          cluster_types::deployments, name, kubernetes::PatchType::merge,
          Value::dict(
              {{"status", Value::dict({{"observedGeneration", each.at("metadata").at("generation")},
                                       {"readyReplicas", is_ready ? replicas : 0}})}}),
          {.subresource = "status"}, {});
      EXPECT_TRUE(told) << to_string(told.error());
    }
    for (const Value& pod : all_of(pods))
      if (!wanted.contains(name_of(pod).name))
        std::ignore = client_.remove(pods, name_of(pod), {}, {});
    is_playing_ = false;
  }

  /// From that write on none succeeds, as if whoever wrote had died.
  void refuse_from(int write) {
    server_.fail(
        100'000,
        [this, left = write](const kubernetes::ApiRequest& request) mutable {
          const bool is_write = request.method != "GET" && !is_playing_ &&
                                request.target.find("dryRun") == std::string::npos &&
                                request.target.find("accessreviews") == std::string::npos;
          return is_write && --left <= 0;
        },
        kubernetes::refusal(500, "InternalError", "on purpose"));
  }

  void make(const ResourceType& type, std::string_view space, std::string_view text,
            const Value& labels = {}) {
    Value object = json(text);
    if (!labels.is_null())
      object = with(object, "metadata", with(object.at("metadata"), "labels", labels));
    const auto made = client_.create(type, {std::string(space), ""}, object, {}, {});
    if (!made && made.error().reason != kubernetes::ApiReason::already_exists)
      ADD_FAILURE() << to_string(made.error());
  }
  std::vector<Value> all_of(const ResourceType& type) {
    auto listed = client_.list(type, {}, {}, {});
    EXPECT_TRUE(listed) << to_string(listed.error());
    return listed ? std::move(listed->items) : std::vector<Value>();
  }
  Value get(const ResourceType& type, const ObjectName& name) {
    const auto found = client_.get(type, name, {});
    return found ? *found : Value();
  }
  Value definition(const std::string& name) { return get(definitions, {"", name}); }
  Value manager() {
    return get(cluster_types::deployments,
               {std::string(system_space), std::string(upstream_manager_name)});
  }
  Value controller() {
    return get(cluster_types::deployments, {std::string(system_space), "fettle-controller"});
  }
  Value clone_set() { return get(clone_sets_alpha, {"shop", "web"}); }
  Value webhooks(size_t which = 0) {
    const UpstreamWebhooks& each = upstream_webhooks()[which];
    return get(each.type, {"", each.name});
  }
  size_t copies() {
    return client_
        .list(cluster_types::config_maps, std::string(system_space),
              {.label_selector = "fettle/put-aside"}, {})
        ->items.size();
  }

  /// What counts of all objects that an exchange concerns.
  std::map<std::string, Value> picture() {
    std::map<std::string, Value> found;
    const auto add = [&](const ResourceType& type) {
      for (const Value& each : all_of(type)) {
        const Value& metadata = each.at("metadata");
        found[cat(type.kind, " ", to_string(name_of(each)))] =
            Value::dict({{"labels", without_nothing(metadata.at("labels"))},
                         {"annotations", without_nothing(metadata.at("annotations"))},
                         {"spec", each.at("spec")},
                         {"webhooks", each.at("webhooks")},
                         {"data", each.at("data")}});
      }
    };
    for (const UpstreamWebhooks& each : upstream_webhooks())
      add(each.type);
    for (const ResourceType& type : {definitions, cluster_types::deployments,
                                     cluster_types::config_maps, clone_sets_alpha, spreads})
      add(type);
    return found;
  }

  kubernetes::Client& client() { return client_; }
  kubernetes::ApiServer& server() { return server_; }

  bool is_manager_healthy = true;

 private:
  kubernetes::ApiServer server_;
  Time now_ = Time(Duration(1'800'000'000'000'000'000));
  bool is_playing_ = false;
  kubernetes::Client client_{std::make_unique<kubernetes::PlayedTransport>(server_, now_),
                             {.qps = 0}};
};

/// A definition of OpenKruise: it is short, and asks for a conversion if its versions differ.
std::string upstream_definition(const Value& ours, std::string_view storage, bool is_of_helm) {
  const Value& names = ours.at("spec").at("names");
  const std::string kind(names.text_at("kind"));
  const bool converts = kind.ends_with("Set") || kind.ends_with("Spread");
  const auto version = [&](std::string_view name) {
    return cat(R"({"name":")", name, R"(","served":true,"storage":)",
               name == storage ? "true" : "false", R"(,"subresources":{"status":{}},"schema":{
      "openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}})");
  };
  return cat(
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{
      "name":")",
      ours.at("metadata").text_at("name"), R"(","annotations":{"controller-gen":"v0.17")",
      is_of_helm ? R"(,"meta.helm.sh/release-name":"kruise",
                    "meta.helm.sh/release-namespace":"default")"
                 : "",
      R"(}},"spec":{"group":"apps.kruise.io","scope":")", ours.at("spec").text_at("scope"),
      R"(","names":)", write_json(names), converts ? R"(,"conversion":{"strategy":"Webhook"})" : "",
      R"(,"versions":[)", version("v1alpha1"), ",", version("v1beta1"), "]}}");
}

void make_manager(KruiseCluster& cluster, std::string_view gates) {
  cluster.make(cluster_types::deployments, system_space,
               cat(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{
        "name":"kruise-controller-manager","labels":{"control-plane":"controller-manager"}},
        "spec":{"replicas":2,"selector":{"matchLabels":{"control-plane":"controller-manager"}},
        "template":{"spec":{"containers":[{"name":"manager","args":["--feature-gates=)",
                   gates, R"("]}]}}}})"));
}

struct KruiseSettings {
  std::string_view gates = "ImagePullJobGate=true,PreparingUpdateAsUpdate=true";
  std::string_view storage = "v1beta1";
  bool is_of_helm = false;
};

kubernetes::ApiServer with_kruise(const KruiseSettings& settings) {
  KruiseCluster cluster{kubernetes::ApiServer()};
  for (const char* const space : {"kruise-system", "shop"})
    cluster.make(
        cluster::types::spaces, {},
        cat(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")", space, R"("}})"));
  const auto parts = installation_objects({});
  EXPECT_TRUE(parts);
  for (const InstallationObject& part : *parts)
    if (is_definition(part)) {
      know_rules_in(part.object.at("spec").at("versions"), cluster.server());
      cluster.make(definitions, {},
                   upstream_definition(part.object, settings.storage, settings.is_of_helm));
    }
  const Value spread = json(R"({"metadata":{"name":"workloadspreads.apps.kruise.io"},"spec":{
    "scope":"Namespaced","names":{"plural":"workloadspreads","singular":"workloadspread",
    "kind":"WorkloadSpread","listKind":"WorkloadSpreadList"}}})");
  cluster.make(definitions, {}, upstream_definition(spread, settings.storage, settings.is_of_helm));
  make_manager(cluster, settings.gates);
  for (const auto& [type, name] : upstream_webhooks())
    cluster.make(type, {},
                 cat(R"({"apiVersion":"admissionregistration.k8s.io/v1","kind":")", type.kind,
                     R"(","metadata":{"name":")", name, R"(","labels":{"a":"b"},
            "annotations":{"template":"[{\"name\":\"mpod.kb.io\"}]"}},
            "webhooks":[{"name":"mpod.kb.io","failurePolicy":"Fail"}]})"));
  cluster.make(clone_sets_alpha, "shop",
               cat(R"({"apiVersion":"apps.kruise.io/v1alpha1","kind":"CloneSet","metadata":{
            "name":"web"},"spec":)",
                   stored_spec, "}"));
  cluster.play();
  return cluster.server();
}

/// `Kind/name`: status.
std::map<std::string, std::string> told(const Result<InstallationReport>& report) {
  EXPECT_TRUE(report) << to_string(report.error());
  std::map<std::string, std::string> lines;
  if (report)
    for (const InstallationLine& line : report->objects)
      lines[cat(line.kind, "/", line.name)] = line.status;
  return lines;
}

void expect_done(const Result<InstallationReport>& report) {
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_TRUE(report->problems.empty()) << join(report->problems, "\n");
  EXPECT_FALSE(report->failure) << to_string(*report->failure);
}

constexpr std::string_view clone_definition = "CustomResourceDefinition/clonesets.apps.kruise.io";

TEST(TakeOver, ALookSaysWhatItWouldDoAndChangesNothing) {
  KruiseCluster cluster(with_kruise({}));
  const auto before = cluster.picture();
  const auto report = check_take_over(cluster.client(), cluster.request(), {});
  auto lines = told(report);
  EXPECT_TRUE(report->problems.empty()) << join(report->problems, "\n");
  EXPECT_EQ(lines["MutatingWebhookConfiguration/kruise-mutating-webhook-configuration"],
            "to put aside");
  EXPECT_EQ(lines["ValidatingWebhookConfiguration/kruise-validating-webhook-configuration"],
            "to put aside");
  EXPECT_EQ(lines["Deployment/kruise-controller-manager"], "to stop");
  EXPECT_EQ(lines[std::string(clone_definition)], "to put aside");
  EXPECT_EQ(lines["CloneSet/web"], "to rewrite");
  EXPECT_EQ(lines["Deployment/fettle-controller"], "missing");
  EXPECT_EQ(cluster.picture(), before);
}

TEST(TakeOver, AllIsPutAsideAndOursStandsInItsPlace) {
  KruiseCluster cluster(with_kruise({}));
  const Value uid = cluster.clone_set().at("metadata").at("uid");
  const Value definition_uid =
      cluster.definition("clonesets.apps.kruise.io").at("metadata").at("uid");
  const auto report = cluster.take_over();
  expect_done(report);
  auto lines = told(report);
  EXPECT_EQ(lines["Deployment/kruise-controller-manager"], "stopped");
  EXPECT_EQ(lines[std::string(clone_definition)], "put aside");
  EXPECT_EQ(lines["CloneSet/web"], "rewritten");
  EXPECT_EQ(lines["Deployment/fettle-controller"], "created");
  for (size_t i = 0; i < 2; ++i)
    EXPECT_TRUE(cluster.webhooks(i).is_null());
  EXPECT_EQ(cluster.manager().at("spec").integer_at("replicas"), 0);
  const Value definition = cluster.definition("clonesets.apps.kruise.io");
  EXPECT_EQ(definition.at("metadata").at("uid"), definition_uid);
  EXPECT_EQ(annotation_of(definition, taken_over_mark), "whole");
  EXPECT_EQ(definition.at("spec").at("conversion").text_at("strategy"), "None");
  EXPECT_GT(write_json(definition.at("spec")).size(), 10'000u);
  for (const Value& version : items_of(definition.at("spec").at("versions")))
    EXPECT_TRUE(version.bool_at("served"));
  const Value clone_set = cluster.clone_set();
  EXPECT_EQ(clone_set.at("metadata").at("uid"), uid);
  EXPECT_EQ(clone_set.at("spec").at("updateStrategy"), json(written_strategy));
  EXPECT_EQ(clone_set.at("spec").at("template"), json(stored_spec).at("template"));
  EXPECT_GE(cluster.copies(), 9u);
}

TEST(TakeOver, HandingBackRestoresAll) {
  KruiseCluster cluster(with_kruise({}));
  const auto before = cluster.picture();
  expect_done(cluster.take_over());
  cluster.play();
  const auto report = cluster.hand_back();
  expect_done(report);
  auto lines = told(report);
  EXPECT_EQ(lines["MutatingWebhookConfiguration/kruise-mutating-webhook-configuration"],
            "restored");
  EXPECT_EQ(lines[std::string(clone_definition)], "restored");
  EXPECT_EQ(lines["Deployment/kruise-controller-manager"], "started");
  EXPECT_EQ(lines["Deployment/fettle-controller"], "deleted");
  EXPECT_EQ(lines["CloneSet/web"], "rewritten");
  EXPECT_TRUE(report->warnings.empty()) << join(report->warnings, "\n");
  EXPECT_EQ(cluster.picture(), before);
  const Value lease =
      cluster.get(kubernetes::types::leases, {std::string(system_space), "kruise-manager"});
  EXPECT_EQ(lease.at("spec").find("holderIdentity")->text(), "");
}

TEST(TakeOver, OnceMoreChangesNothing) {
  KruiseCluster cluster(with_kruise({}));
  expect_done(cluster.take_over());
  const auto before = cluster.picture();
  const auto again = cluster.take_over();
  expect_done(again);
  EXPECT_EQ(told(again).at(std::string(clone_definition)), "unchanged");
  EXPECT_EQ(cluster.picture(), before);
  expect_done(cluster.hand_back());
  const auto back = cluster.picture();
  const auto nothing = cluster.hand_back();
  ASSERT_TRUE(nothing);
  ASSERT_EQ(nothing->problems.size(), 1u);
  EXPECT_TRUE(nothing->problems[0].starts_with("nothing of OpenKruise is put aside"));
  EXPECT_EQ(cluster.picture(), back);
}

TEST(TakeOver, WhatIsUsedAndNotDoneHasToBeAccepted) {
  KruiseCluster cluster(
      with_kruise({.gates = "SidecarTerminator=true,EnhancedLivenessProbe=false"}));
  cluster.make(spreads, "shop", R"({"apiVersion":"apps.kruise.io/v1alpha1","kind":"WorkloadSpread",
    "metadata":{"name":"web"},"spec":{}})");
  const auto before = cluster.picture();
  const auto refused = cluster.take_over();
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->problems,
            std::vector<std::string>{
                "fettle does not do what is used here: WorkloadSpread: 1 object; gate "
                "SidecarTerminator. `--accept` goes on without"});
  EXPECT_EQ(cluster.picture(), before);
  ExchangeRequest request = cluster.request();
  request.is_accepted = true;
  const auto done = take_over(cluster.client(), request, {});
  expect_done(done);
  ASSERT_FALSE(done->warnings.empty());
  EXPECT_TRUE(done->warnings[0].ends_with("gate SidecarTerminator"));
  EXPECT_EQ(cluster.definition("workloadspreads.apps.kruise.io").at("spec"),
            before.at("CustomResourceDefinition workloadspreads.apps.kruise.io").at("spec"));
}

/// `install` without them keeps them as well.
TEST(TakeOver, GatesOfTheManagerAreThoseOfOurController) {
  KruiseCluster cluster(with_kruise({}));
  expect_done(cluster.take_over());
  EXPECT_EQ(gates_of_manager(cluster.controller()), "PreparingUpdateAsUpdate=true");
  ASSERT_TRUE(install(cluster.client(), {.image = "r.example/fettle:2"}, {}));
  EXPECT_EQ(gates_of_manager(cluster.controller()), "PreparingUpdateAsUpdate=true");
  EXPECT_EQ(to_text(*follow(cluster.controller(), "/spec/template/spec/containers/0/image")),
            "r.example/fettle:2");
}

TEST(TakeOver, AMissingRightIsSaidBeforeAnythingIsDone) {
  KruiseCluster cluster(with_kruise({}));
  const auto before = cluster.picture();
  cluster.server().deny("delete mutatingwebhookconfigurations");
  cluster.server().deny("update clonesets");
  const auto report = cluster.take_over();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->problems,
            (std::vector<std::string>{
                "you may not delete `mutatingwebhookconfigurations.admissionregistration.k8s.io`",
                "you may not update `clonesets.apps.kruise.io`"}));
  EXPECT_EQ(cluster.picture(), before);
}

TEST(TakeOver, AMissingRightToRemoveFettleIsSaidBeforeAnythingIsHandedBack) {
  KruiseCluster cluster(with_kruise({}));
  expect_done(cluster.take_over());
  const auto before = cluster.picture();
  cluster.server().deny("delete clusterroles");
  cluster.server().deny("list pods");
  const auto report = cluster.hand_back();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->problems, (std::vector<std::string>{
                                  "you may not list `pods` in `kruise-system`",
                                  "you may not delete `clusterroles.rbac.authorization.k8s.io`"}));
  EXPECT_EQ(cluster.picture(), before);
}

/// The rights were there when it was begun.
TEST(TakeOver, WhatIsPutAsideStaysUntilFettleIsRemoved) {
  KruiseCluster cluster(with_kruise({}));
  expect_done(cluster.take_over());
  const size_t copies = cluster.copies();
  ASSERT_GT(copies, 0u);
  auto request = cluster.request();
  request.patience.pause = [&](Duration, const std::stop_token&) -> Status {
    cluster.server().deny("delete clusterroles");
    cluster.play();
    return {};
  };
  const auto report = hand_back(cluster.client(), request, {});
  ASSERT_TRUE(report);
  ASSERT_TRUE(report->failure);
  EXPECT_EQ(report->failure->message,
            "OpenKruise is back, and fettle cannot be removed: you may not delete "
            "`clusterroles.rbac.authorization.k8s.io`");
  EXPECT_EQ(cluster.copies(), copies);
}

TEST(TakeOver, WithoutOpenKruiseThereIsNothingToTakeOver) {
  KruiseCluster cluster{kubernetes::ApiServer()};
  const auto report = cluster.take_over();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->problems, std::vector<std::string>{"OpenKruise is not in this cluster: "
                                                       "install without `--take-over`"});
  EXPECT_TRUE(cluster.controller().is_null());
}

TEST(TakeOver, WhatHelmKeepsStaysWhenItsReleaseGoes) {
  KruiseCluster cluster(with_kruise({.is_of_helm = true}));
  const auto before = cluster.picture();
  const auto report = cluster.take_over();
  expect_done(report);
  ASSERT_EQ(report->warnings.size(), 1u) << join(report->warnings, "\n");
  EXPECT_TRUE(report->warnings[0].starts_with("Helm's release `default/kruise` has OpenKruise"));
  for (const char* const plural : {"clonesets", "nodeimages", "workloadspreads"})
    EXPECT_EQ(annotation_of(cluster.definition(cat(plural, ".apps.kruise.io")),
                            "helm.sh/resource-policy"),
              "keep")
        << plural;
  expect_done(cluster.hand_back());
  auto after = cluster.picture();
  const std::string spread = "CustomResourceDefinition workloadspreads.apps.kruise.io";
  after[spread] = before.at(spread);  // of which nothing else was touched
  EXPECT_EQ(after, before);
}

/// So that no version that is stored is missing when the definition comes back.
TEST(TakeOver, ObjectsStayStoredInTheVersionInWhichTheyAre) {
  KruiseCluster cluster(with_kruise({.storage = "v1alpha1"}));
  expect_done(cluster.take_over());
  const Value definition = cluster.definition("clonesets.apps.kruise.io");
  for (const Value& version : items_of(definition.at("spec").at("versions")))
    EXPECT_EQ(version.bool_at("storage"), version.text_at("name") == "v1alpha1");
}

TEST(TakeOver, ADefinitionThatSomebodyHasPutBackIsStoredAnew) {
  KruiseCluster cluster(with_kruise({}));
  expect_done(cluster.take_over());
  const ObjectName name{"", "clonesets.apps.kruise.io"};
  const auto synced =
      cluster.client().patch(definitions, name, kubernetes::PatchType::merge,
                             json(R"({"metadata":{"annotations":{"controller-gen":"v0.18"}},
        "spec":{"conversion":{"strategy":"Webhook"}}})"),
                             {}, {});
  ASSERT_TRUE(synced) << to_string(synced.error());
  const auto again = cluster.take_over();
  expect_done(again);
  EXPECT_EQ(told(again).at(std::string(clone_definition)), "put aside");
  expect_done(cluster.hand_back());
  EXPECT_EQ(annotation_of(cluster.definition(name.name), "controller-gen"), "v0.18");
  EXPECT_EQ(annotation_of(cluster.definition(name.name), taken_over_mark), "");
}

TEST(TakeOver, WhoRemovesFettleIsToldOfWhatIsPutAside) {
  KruiseCluster cluster(with_kruise({}));
  expect_done(cluster.take_over());
  const auto removed = uninstall(cluster.client(), {}, {});
  ASSERT_FALSE(removed);
  EXPECT_NE(removed.error().message.find("`--hand-back`"), std::string::npos);
  EXPECT_FALSE(cluster.controller().is_null());
}

TEST(TakeOver, WhatWasWrittenSinceIsHandedBackInTheStoredVersion) {
  KruiseCluster cluster(with_kruise({}));
  expect_done(cluster.take_over());
  cluster.make(clone_sets_alpha, "shop", R"({"apiVersion":"apps.kruise.io/v1alpha1",
    "kind":"CloneSet","metadata":{"name":"new"},"spec":{"selector":{"matchLabels":{"app":"new"}},
    "template":{"metadata":{"labels":{"app":"new"}},"spec":{"containers":[{"name":"main",
    "image":"new:1"}]}},"updateStrategy":{"type":"InPlaceOnly","partition":"50%","paused":true}}})");
  expect_done(cluster.hand_back());
  const Value spec = cluster.get(cluster::types::clone_sets, {"shop", "new"}).at("spec");
  EXPECT_EQ(spec.at("updateStrategy"),
            json(R"({"type":"RollingUpdate","rollingUpdate":{"partition":"50%","paused":true,
              "podUpdatePolicy":"InPlaceOnly"}})"));
  EXPECT_TRUE(spec.at("scaleStrategy").bool_at("enablePVCReuse"));
}

/// OpenKruise would make a revision of it, and all pods anew.
TEST(TakeOver, APlainManifestIsHandedBackInTheWordsOfItsRevision) {
  KruiseCluster cluster(with_kruise({}));
  const Value uid = cluster.clone_set().at("metadata").at("uid");
  Value revision = json(R"({"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{
    "name":"web-1","ownerReferences":[{"apiVersion":"apps.kruise.io/v1beta1","kind":"CloneSet",
    "name":"web","controller":true}]},"revision":1,"data":{"spec":{"template":{"$patch":"replace",
    "metadata":{"labels":{"app":"web"}},"spec":{"restartPolicy":"Always","containers":[{
    "name":"main","image":"web:1","imagePullPolicy":"IfNotPresent"}]}}}}})");
  Value owner = revision.at("metadata").at("ownerReferences").items()[0];
  owner = with(owner, "uid", uid);
  revision = with(revision, "metadata",
                  with(revision.at("metadata"), "ownerReferences", Value::list({owner})));
  ASSERT_TRUE(cluster.client().create(cluster::types::revisions, {"shop", ""}, revision, {}, {}));
  expect_done(cluster.take_over());
  EXPECT_EQ(cluster.clone_set().at("spec").at("template"), json(stored_spec).at("template"));
  expect_done(cluster.hand_back());
  EXPECT_EQ(cluster.clone_set().at("spec").at("template"),
            json(R"({"metadata":{"labels":{"app":"web"}},"spec":{"restartPolicy":"Always",
              "containers":[{"name":"main","image":"web:1","imagePullPolicy":"IfNotPresent"}]}})"));
}

TEST(TakeOver, NothingIsHandedBackBeforeTheManagerIsReady) {
  KruiseCluster cluster(with_kruise({}));
  const auto before = cluster.picture();
  expect_done(cluster.take_over());
  cluster.is_manager_healthy = false;
  const auto report = cluster.hand_back();
  ASSERT_TRUE(report);
  ASSERT_TRUE(report->failure);
  EXPECT_EQ(report->failure->message,
            "not after 20s: Deployment `kruise-system/kruise-controller-manager` is ready");
  EXPECT_TRUE(is_taken_over(cluster.definition("clonesets.apps.kruise.io")));
  EXPECT_TRUE(items_of(cluster.webhooks().at("webhooks")).empty());
  EXPECT_EQ(annotation_of(cluster.webhooks(), "template"), "[]");
  EXPECT_EQ(cluster.get(kubernetes::types::leases, {std::string(system_space), "kruise-manager"})
                .at("spec")
                .text_at("holderIdentity"),
            "fettle-hand-back");
  cluster.is_manager_healthy = true;
  expect_done(cluster.hand_back());
  EXPECT_EQ(cluster.picture(), before);
}

TEST(TakeOver, WhatIsLostIsSaidBeforeAnythingIsHandedBack) {
  KruiseCluster cluster(with_kruise({}));
  expect_done(cluster.take_over());
  ASSERT_TRUE(cluster.client().remove(
      cluster_types::config_maps,
      {std::string(system_space), "fettle-put-aside-clonesets.apps.kruise.io-0"}, {}, {}));
  ASSERT_TRUE(
      cluster.client().remove(cluster_types::deployments, name_of(cluster.manager()), {}, {}));
  const auto before = cluster.picture();
  const auto report = cluster.hand_back();
  ASSERT_TRUE(report);
  ASSERT_EQ(report->problems.size(), 2u) << join(report->problems, "\n");
  EXPECT_TRUE(report->problems[0].starts_with("there is no Deployment"));
  EXPECT_TRUE(report->problems[1].starts_with("the copy of OpenKruise's definition"));
  EXPECT_EQ(cluster.picture(), before);
}

/// Our controller that ran beside OpenKruise's manager does not act while objects are rewritten.
TEST(TakeOver, AControllerThatRanBesideStopsMeanwhile) {
  KruiseCluster cluster(with_kruise({}));
  ASSERT_TRUE(install(cluster.client(), {.image = "r.example/fettle:1"}, {}));
  cluster.play();
  expect_done(cluster.take_over());
  EXPECT_EQ(cluster.controller().at("spec").integer_at("replicas"), 2);
  EXPECT_EQ(cluster.all_of(pods).size(), 0u);
}

/// A deployment controller writes its status at any time.
TEST(TakeOver, AManagerThatOthersWriteIsStoppedAllTheSame) {
  KruiseCluster cluster(with_kruise({}));
  int refused = 0;
  cluster.server().fail(
      1,
      [&](const kubernetes::ApiRequest& request) {
        const bool is_stop =
            request.method == "PATCH" && request.body.find("replicas") != std::string::npos &&
            request.target.find("/deployments/kruise-controller-manager") != std::string::npos;
        refused += is_stop ? 1 : 0;
        return is_stop;
      },
      kubernetes::refusal(409, "Conflict", "it has been modified"));
  expect_done(cluster.take_over());
  EXPECT_EQ(cluster.manager().at("spec").integer_at("replicas", 1), 0);
  EXPECT_EQ(refused, 1);
}

/// It is read as it stands there, and nobody is stuck on the way.
TEST(TakeOver, WhatTheServerRefusesToRewriteStays) {
  KruiseCluster cluster(with_kruise({}));
  cluster.server().fail(
      1,
      [](const kubernetes::ApiRequest& request) {
        return request.method == "PUT" && request.target.find("/clonesets/") != std::string::npos;
      },
      kubernetes::refusal(422, "Invalid", "no such thing"));
  const auto report = cluster.take_over();
  expect_done(report);
  EXPECT_EQ(report->warnings, std::vector<std::string>{
                                  "CloneSet `shop/web` is not rewritten into `v1alpha1`, for the "
                                  "server refuses: no such thing"});
  EXPECT_EQ(cluster.clone_set().at("spec"), json(stored_spec));
  expect_done(cluster.hand_back());
}

TEST(TakeOver, NobodyInstallsWhatCannotReadItsObjectsYet) {
  KruiseCluster cluster(with_kruise({}));
  cluster.server().fail(
      1'000,
      [](const kubernetes::ApiRequest& request) {
        return request.method == "PUT" && request.target.find("/clonesets/") != std::string::npos;
      },
      kubernetes::refusal(500, "InternalError", "no conversion"));
  const auto broken = cluster.take_over();
  cluster.server().stop_failing();
  ASSERT_TRUE(broken);
  ASSERT_TRUE(broken->failure);
  EXPECT_EQ(broken->failure->message, "not after 20s: CloneSet `shop/web` is rewritten");
  const auto refused = install(cluster.client(), {.image = "r.example/fettle:1"}, {});
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->problems, std::vector<std::string>{"OpenKruise is put aside by half: "
                                                        "`--take-over` goes on, or `--hand-back` "
                                                        "back"});
  EXPECT_TRUE(cluster.controller().is_null());
  expect_done(cluster.take_over());
}

/// What has to hold whenever a process dies.
void expect_safe(KruiseCluster& cluster, int write) {
  for (size_t i = 0; i < 2; ++i) {
    const Value webhooks = cluster.webhooks(i);
    if (!items_of(webhooks.at("webhooks")).empty()) {
      EXPECT_GT(cluster.manager().at("spec").integer_at("replicas"), 0)
          << "webhooks stand that nobody answers, after write " << write;
    }
  }
  auto aside = PutAside::read(cluster.client(), std::string(system_space), {});
  ASSERT_TRUE(aside);
  for (const auto& [type, name] : upstream_webhooks())
    EXPECT_TRUE(!aside->find(type.kind, name).is_null() ||
                !items_of(cluster.get(type, {"", name}).at("webhooks")).empty())
        << name << " is lost after write " << write;
  for (const Value& definition : cluster.all_of(definitions))
    EXPECT_TRUE(!is_taken_over(definition) ||
                !aside->find(definitions.kind, name_of(definition).name).is_null())
        << name_of(definition).name << " is lost after write " << write;
  EXPECT_EQ(cluster.clone_set().at("spec").at("template"), json(stored_spec).at("template"));
}

TEST(TakeOver, WhoeverDiesOnTheWayLosesNothing) {
  const kubernetes::ApiServer start = with_kruise({});
  KruiseCluster whole(start);
  const auto before = whole.picture();
  expect_done(whole.take_over());
  const auto after = whole.picture();
  int write = 1;
  for (bool is_broken = true; is_broken; ++write) {
    KruiseCluster cluster(start);
    cluster.refuse_from(write);
    const auto broken = cluster.take_over();
    cluster.server().stop_failing();
    ASSERT_TRUE(broken) << to_string(broken.error());
    is_broken = broken->failure.has_value();
    expect_safe(cluster, write);
    KruiseCluster other(cluster.server());
    expect_done(cluster.take_over());
    EXPECT_EQ(cluster.picture(), after) << "write " << write;
    // Of nothing nothing comes back, and nothing has changed.
    const auto back = other.hand_back();
    ASSERT_TRUE(back) << to_string(back.error());
    EXPECT_FALSE(back->failure) << to_string(*back->failure);
    EXPECT_EQ(other.picture(), before) << "write " << write;
  }
  EXPECT_GT(write, 30);
}

TEST(TakeOver, WhoeverDiesOnTheWayBackLosesNothing) {
  const kubernetes::ApiServer start = with_kruise({});
  KruiseCluster taken(start);
  const auto before = taken.picture();
  expect_done(taken.take_over());
  taken.play();
  int write = 1;
  for (bool is_broken = true; is_broken; ++write) {
    KruiseCluster cluster(taken.server());
    cluster.refuse_from(write);
    const auto broken = cluster.hand_back();
    cluster.server().stop_failing();
    ASSERT_TRUE(broken) << to_string(broken.error());
    is_broken = broken->failure.has_value();
    // Once all is restored, copies may be gone.
    if (cluster.copies() >= 9)
      expect_safe(cluster, write);
    const auto again = cluster.hand_back();
    ASSERT_TRUE(again) << to_string(again.error());
    EXPECT_FALSE(again->failure) << to_string(*again->failure);
    EXPECT_EQ(cluster.picture(), before) << "write " << write;
  }
  EXPECT_GT(write, 30);
}

}  // namespace
}  // namespace fettle::take_over_test
