#pragma once
/// A cluster with OpenKruise in the process of a test: its objects, and what its webhook and the
/// controllers of Kubernetes do while somebody waits.

#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/text.h"
#include "cluster/types.h"
#include "tests/fixtures/sanitized.h"
#include "tests/kubernetes/json_text.h"
#include "tests/kubernetes/played_transport.h"
#include "value/with.h"
#include "verbs/cluster/cluster_objects.h"
#include "verbs/cluster/put_aside.h"
#include "verbs/cluster/take_over.h"
#include "verbs/cluster/upstream.h"

namespace fettle::take_over_test {

using kubernetes::json;
using kubernetes::ObjectName;
using kubernetes::ResourceType;

inline const ResourceType pods = kubernetes::types::pods;
inline const ResourceType definitions = kubernetes::types::definitions;
inline const ResourceType clone_sets_alpha{"apps.kruise.io", "v1alpha1", "clonesets", "CloneSet"};
inline const ResourceType spreads{"apps.kruise.io", "v1alpha1", "workloadspreads",
                                  "WorkloadSpread"};
inline constexpr std::string_view system_space = "kruise-system";

/// Somebody dies at each write, or under a sanitizer at each third: those between run the same code.
inline constexpr int writes_apart = is_sanitized ? 3 : 1;

/// As OpenKruise stores what its user wrote in v1alpha1.
inline constexpr std::string_view stored_spec =
    R"({"replicas":4,"selector":{"matchLabels":{"app":"web"}},
  "template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"main",
  "image":"web:1"}]}},"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":2,
  "maxUnavailable":"20%","podUpdatePolicy":"InPlaceIfPossible"}},
  "scaleStrategy":{"enablePVCReuse":true}})";
/// As its user writes it.
inline constexpr std::string_view written_strategy =
    R"({"type":"InPlaceIfPossible","partition":2,"maxUnavailable":"20%"})";

/// All rules of definitions hold: they are in CEL, which the server of the tests does not know.
inline void know_rules_in(const Value& schema, kubernetes::ApiServer& server) {
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
inline Value without_nothing(const Value& dict) {
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
      if (name_of(pod).space == system_space && !wanted.contains(name_of(pod).name))
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
    for (const ResourceType& type :
         {definitions, cluster_types::deployments, cluster_types::config_maps, clone_sets_alpha,
          spreads, cluster::types::revisions})
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
inline std::string upstream_definition(const Value& ours, std::string_view storage,
                                       bool is_of_helm) {
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

inline void make_manager(KruiseCluster& cluster, std::string_view gates) {
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

inline kubernetes::ApiServer with_kruise(const KruiseSettings& settings) {
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
inline std::map<std::string, std::string> told(const Result<InstallationReport>& report) {
  EXPECT_TRUE(report) << to_string(report.error());
  std::map<std::string, std::string> lines;
  if (report)
    for (const InstallationLine& line : report->objects)
      lines[cat(line.kind, "/", line.name)] = line.status;
  return lines;
}

inline void expect_done(const Result<InstallationReport>& report) {
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_TRUE(report->problems.empty()) << join(report->problems, "\n");
  EXPECT_FALSE(report->failure) << to_string(*report->failure);
}

}  // namespace fettle::take_over_test
