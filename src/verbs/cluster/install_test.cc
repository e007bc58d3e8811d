#include "verbs/cluster/install.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "tests/kubernetes/json_text.h"
#include "tests/kubernetes/played_transport.h"

namespace fettle {
namespace {

using kubernetes::json;
using kubernetes::ObjectName;
using kubernetes::ResourceType;

class InstallTest : public testing::Test {
 protected:
  /// The status of each object by kind and name, but for definitions.
  static std::map<std::string, std::string> told(const Result<InstallationReport>& report) {
    EXPECT_TRUE(report) << to_string(report.error());
    std::map<std::string, std::string> lines;
    if (report)
      for (const InstallationLine& line : report->objects)
        if (line.kind != "CustomResourceDefinition")
          lines[cat(line.kind, "/", line.name)] = line.status;
    return lines;
  }
  static std::map<std::string, std::string> all_with(std::string_view status) {
    std::map<std::string, std::string> lines{{"Namespace/kruise-system", std::string(status)}};
    for (const char* kind : {"ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role",
                             "RoleBinding", "PodDisruptionBudget", "Deployment"})
      lines[cat(kind, "/fettle-controller")] = status;
    for (const char* kind : {"ServiceAccount", "ClusterRole", "ClusterRoleBinding", "DaemonSet",
                             "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"})
      lines[cat(kind, "/fettle-node-daemon")] = status;
    return lines;
  }
  /// The line of a definition.
  static InstallationLine definition_in(const Result<InstallationReport>& report,
                                        std::string_view plural) {
    for (const InstallationLine& line : report->objects)
      if (line.name == cat(plural, ".apps.kruise.io"))
        return line;
    return {};
  }
  void make(const ResourceType& type, const std::string& space, std::string_view text) {
    const auto made = client_.create(type, {space, ""}, json(text), {}, {});
    ASSERT_TRUE(made) << to_string(made.error());
  }
  void make_namespace(std::string_view name) {
    make(spaces_, {},
         cat(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")", name, R"("}})"));
  }
  /// A definition of others.
  void define_clone_sets(std::string_view version, std::string_view metadata = {},
                         std::string_view more = {}) {
    make(
        kubernetes::types::definitions, {},
        cat(R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":
            {"name":"clonesets.apps.kruise.io")",
            metadata, R"(},"spec":{"group":"apps.kruise.io","scope":"Namespaced","names":{
            "plural":"clonesets","singular":"cloneset","kind":"CloneSet","listKind":"CloneSetList"},
            "versions":[{"name":")",
            version, R"(","served":true,"storage":true,"schema":{"openAPIV3Schema":{
            "type":"object"}}}])",
            more, "}}"));
  }
  void run_manager(const std::string& space, int replicas) {
    make_namespace(space);
    make(deployments_, space,
         cat(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{
            "name":"kruise-controller-manager","labels":{"control-plane":"controller-manager"}},
            "spec":{"replicas":)",
             replicas, R"(,"template":{"spec":{"containers":[{"name":"manager","args":[
            "--leader-election-namespace=)",
             space, R"("]}]}}}})"));
  }
  void run_daemon(const std::string& space) {
    make(daemon_sets_, space,
         R"({"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"kruise-daemon"},
          "spec":{}})");
  }
  /// How all stands where the daemons' part is not installed.
  static std::map<std::string, std::string> all_but_daemons(std::string_view status,
                                                            std::string_view of_daemons) {
    auto lines = all_with(status);
    for (auto& [object, each] : lines)
      if (object.ends_with("/fettle-node-daemon"))
        each = of_daemons;
    return lines;
  }
  /// As a server that puts sidecars into pods of others, with a policy of a SidecarSet.
  void serve_policies() {
    for (const ResourceType& type : {policies_, bindings_}) {
      make(kubernetes::types::definitions, {},
           cat(R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
            "metadata":{"name":")",
               type.plural, ".", type.group, R"("},"spec":{"group":")", type.group,
               R"(","scope":"Cluster","names":{"plural":")", type.plural,
               R"(","singular":"one","kind":")", type.kind, R"(","listKind":"List"},
            "versions":[{"name":"v1beta1","served":true,"storage":true,"schema":{
            "openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})"));
      for (const char* labels : {R"({"app.kubernetes.io/name":"fettle"})", "{}"})
        make(type, {},
             cat(R"({"apiVersion":"admissionregistration.k8s.io/v1beta1","kind":")", type.kind,
                 R"(","metadata":{"name":")",
                 labels == std::string_view("{}") ? "others" : "fettle-sidecarset-logs",
                 R"(","labels":)", labels, "}}"));
    }
  }
  bool is_there(const ResourceType& type, const ObjectName& name) {
    return client_.get(type, name, {}).has_value();
  }
  bool has_daemon() { return is_there(daemon_sets_, {"kruise-system", "fettle-node-daemon"}); }
  bool has_controller() { return is_there(deployments_, {"kruise-system", "fettle-controller"}); }
  Result<InstallationReport> installed() { return install(client_, request_, {}); }
  /// Empty: it goes.
  std::string why_the_namespace_stays() {
    const auto report = uninstall(client_, request_, {});
    EXPECT_TRUE(report && !report->failure);
    for (const InstallationLine& line : report ? report->objects : std::vector<InstallationLine>())
      if (line.kind == "Namespace")
        return line.why;
    return "nobody says";
  }
  static std::function<bool(const kubernetes::ApiRequest&)> asks_for(std::string method,
                                                                     std::string path) {
    return [=](const kubernetes::ApiRequest& request) {
      return request.method == method && request.target.find(path) != std::string::npos;
    };
  }
  static kubernetes::ApiAnswer refusal_to(std::string_view what) {
    return {.status = 403,
            .body = json(cat(R"({"kind":"Status","status":"Failure","reason":"Forbidden",
              "code":403,"message":"you may not )",
                             what, R"("})"))};
  }

  const ResourceType spaces_{"", "v1", "namespaces", "Namespace", false};
  const ResourceType deployments_{"apps", "v1", "deployments", "Deployment"};
  const ResourceType daemon_sets_{"apps", "v1", "daemonsets", "DaemonSet"};
  const ResourceType roles_{"rbac.authorization.k8s.io", "v1", "roles", "Role"};
  const ResourceType hooks_{"admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations",
                            "MutatingWebhookConfiguration", false};
  const ResourceType policies_{"admissionregistration.k8s.io", "v1beta1",
                               "mutatingadmissionpolicies", "MutatingAdmissionPolicy", false};
  const ResourceType bindings_{"admissionregistration.k8s.io", "v1beta1",
                               "mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding",
                               false};
  kubernetes::ApiServer server_;
  Time now_ = Time(Duration(1'800'000'000'000'000'000));
  kubernetes::Client client_{std::make_unique<kubernetes::PlayedTransport>(server_, now_),
                             {.qps = 0}};
  InstallationRequest request_{.image = "r.example/fettle:1"};
};

TEST_F(InstallTest, ALookChangesNothing) {
  const auto report = check_installation(client_, {.version = "1"}, {});
  EXPECT_EQ(told(report), all_with("missing"));
  EXPECT_TRUE(report->problems.empty()) << join(report->problems, "\n");
  EXPECT_TRUE(report->warnings.empty()) << join(report->warnings, "\n");
  EXPECT_FALSE(is_there(spaces_, {"", "kruise-system"}));
}

TEST_F(InstallTest, AllIsMadeOnceAndThenChangedWhereItDiffers) {
  const auto first = installed();
  EXPECT_EQ(told(first), all_with("created"));
  EXPECT_EQ(definition_in(first, "clonesets").status, "created");
  EXPECT_EQ(told(check_installation(client_, request_, {})), all_with("there"));
  const auto second = installed();
  EXPECT_EQ(told(second), all_with("unchanged"));
  EXPECT_EQ(definition_in(second, "clonesets").status, "unchanged");
  request_.image = "r.example/fettle:2";
  auto expected = all_with("unchanged");
  expected["Deployment/fettle-controller"] = "configured";
  expected["DaemonSet/fettle-node-daemon"] = "configured";
  EXPECT_EQ(told(installed()), expected);
}

TEST_F(InstallTest, AnImageHasToBeNamed) {
  const auto report = install(client_, {.version = "1"}, {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().blame, Blame::user);
}

TEST_F(InstallTest, DefinitionsOfOthersStayAsTheyAre) {
  define_clone_sets("v1beta1", R"(,"annotations":{"meta.helm.sh/release-name":"kruise",
    "meta.helm.sh/release-namespace":"default"})");
  const ObjectName name{"", "clonesets.apps.kruise.io"};
  const Value before = *client_.get(kubernetes::types::definitions, name, {});
  const auto report = installed();
  EXPECT_EQ(told(report), all_with("created"));
  const InstallationLine line = definition_in(report, "clonesets");
  EXPECT_EQ(line.status, "left");
  EXPECT_EQ(line.why, "it is of Helm's release `default/kruise`");
  EXPECT_EQ(*client_.get(kubernetes::types::definitions, name, {}), before);
  EXPECT_EQ(definition_in(report, "daemonsets").status, "created");
}

TEST_F(InstallTest, ADefinitionOfOthersHasToServeOurVersion) {
  define_clone_sets("v1alpha1");
  const auto report = installed();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->problems,
            (std::vector<std::string>{"CustomResourceDefinition `clonesets.apps.kruise.io` is of "
                                      "OpenKruise and does not serve `v1beta1`"}));
  EXPECT_FALSE(has_controller());
}

TEST_F(InstallTest, NothingOfOthersIsTaken) {
  make_namespace("kruise-system");
  make(deployments_, "kruise-system",
       R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"fettle-controller",
        "labels":{"app.kubernetes.io/name":"fettle"},
        "annotations":{"argocd.argoproj.io/tracking-id":"shop:apps/Deployment:a/b"}},"spec":{}})");
  const auto report = installed();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->problems,
            (std::vector<std::string>{
                "Deployment `kruise-system/fettle-controller` is of Argo CD's `shop`"}));
  EXPECT_FALSE(is_there({"", "v1", "serviceaccounts", "ServiceAccount"},
                        {"kruise-system", "fettle-controller"}));
}

TEST_F(InstallTest, ANamespaceOfOthersStaysAsItIs) {
  make_namespace("kruise-system");
  auto expected = all_with("created");
  expected["Namespace/kruise-system"] = "left";
  EXPECT_EQ(told(installed()), expected);
  EXPECT_TRUE(client_.get(spaces_, {"", "kruise-system"}, {})
                  ->at("metadata")
                  .at("labels")
                  .text_at("pod-security.kubernetes.io/enforce")
                  .empty());
}

TEST_F(InstallTest, AMissingRightIsSaidBeforeAnythingIsDone) {
  server_.deny("create clusterroles");
  server_.deny("patch deployments");
  const auto report = installed();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->problems,
            (std::vector<std::string>{"you may not create `clusterroles.rbac.authorization.k8s.io`",
                                      "you may not patch `deployments.apps` in `kruise-system`"}));
  EXPECT_FALSE(is_there(spaces_, {"", "kruise-system"}));
}

TEST_F(InstallTest, AManagerWithAnotherLeaseWouldActAsWell) {
  run_manager("elsewhere", 1);
  const auto report = installed();
  ASSERT_TRUE(report);
  ASSERT_EQ(report->problems.size(), 1u);
  EXPECT_NE(report->problems[0].find("by `--namespace elsewhere`"), std::string::npos);
  EXPECT_FALSE(has_controller());
  request_.space = "elsewhere";
  const auto beside = installed();
  ASSERT_TRUE(beside);
  EXPECT_TRUE(beside->problems.empty());
  ASSERT_EQ(beside->warnings.size(), 1u);
  EXPECT_TRUE(beside->warnings[0].starts_with("OpenKruise's manager runs;"));
}

TEST_F(InstallTest, WhatAsksAManagerThatDoesNotRunIsSaid) {
  run_manager("kruise-system", 0);
  define_clone_sets("v1beta1", {}, R"(,"conversion":{"strategy":"Webhook"})");
  make(hooks_, {}, R"({"apiVersion":"admissionregistration.k8s.io/v1",
    "kind":"MutatingWebhookConfiguration",
    "metadata":{"name":"kruise-mutating-webhook-configuration"}})");
  const auto report = check_installation(client_, request_, {});
  ASSERT_TRUE(report);
  ASSERT_EQ(report->warnings.size(), 2u) << join(report->warnings, "\n");
  EXPECT_NE(report->warnings[0].find("for conversions"), std::string::npos);
  EXPECT_TRUE(report->warnings[1].starts_with("`kruise-mutating-webhook-configuration` stands"));
  EXPECT_TRUE(report->problems.empty());
}

/// They would share one role of the cluster.
TEST_F(InstallTest, ThereIsOneInACluster) {
  ASSERT_TRUE(installed());
  request_.space = "elsewhere";
  const std::string words =
      "fettle is installed in `kruise-system`: say `--namespace kruise-system`";
  const auto report = installed();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->problems, std::vector<std::string>{words});
  EXPECT_FALSE(is_there(spaces_, {"", "elsewhere"}));
  const auto removed = uninstall(client_, request_, {});
  ASSERT_FALSE(removed);
  EXPECT_EQ(removed.error().message, words);
  EXPECT_TRUE(has_controller());
}

/// Two would pull the same.
TEST_F(InstallTest, WhereOpenKruisesDaemonIsOursIsOmitted) {
  make_namespace("elsewhere");
  run_daemon("elsewhere");
  const auto looked = check_installation(client_, request_, {});
  EXPECT_EQ(told(looked), all_but_daemons("missing", "omitted"));
  request_.secret_spaces = {"kruise-system"};
  EXPECT_EQ(installed()->problems,
            std::vector<std::string>{"there is no namespace `kruise-daemon-config`, where "
                                     "OpenKruise's daemon reads Secrets"});
  make_namespace("kruise-daemon-config");
  const auto report = installed();
  auto expected = all_but_daemons("created", "omitted");
  for (const char* role : {"fettle-copied-secrets", "fettle-secret-copies"})
    for (const char* kind : {"Role", "RoleBinding"})
      expected[cat(kind, "/", role)] = "created";
  expected["Role/fettle-pull-secrets"] = expected["RoleBinding/fettle-pull-secrets"] = "omitted";
  EXPECT_EQ(told(report), expected);
  ASSERT_EQ(report->warnings.size(), 1u) << join(report->warnings, "\n");
  EXPECT_TRUE(report->warnings[0].starts_with("OpenKruise's daemon `elsewhere/kruise-daemon`"));
  EXPECT_FALSE(has_daemon());
  ASSERT_TRUE(client_.remove(daemon_sets_, {"elsewhere", "kruise-daemon"}, {}, {}));
  EXPECT_EQ(told(installed()).at("DaemonSet/fettle-node-daemon"), "created");
  EXPECT_TRUE(has_daemon());
}

/// Its daemon reads copies, which the controller makes.
TEST_F(InstallTest, BesideOpenKruisesDaemonTheControllerCopiesSecrets) {
  for (const char* space : {"elsewhere", "shop", "kruise-daemon-config"})
    make_namespace(space);
  run_daemon("elsewhere");
  request_.secret_spaces = {"shop"};
  ASSERT_TRUE(installed());
  const auto has_flag = [&] {
    const Value found = *client_.get(deployments_, {"kruise-system", "fettle-controller"}, {});
    for (const Value& word : items_of(*follow(found, "/spec/template/spec/containers/0/args")))
      if (word == Value("--copy-pull-secrets"))
        return true;
    return false;
  };
  EXPECT_TRUE(has_flag());
  EXPECT_TRUE(is_there(roles_, {"shop", "fettle-copied-secrets"}));
  EXPECT_TRUE(is_there(roles_, {"kruise-daemon-config", "fettle-secret-copies"}));
  // What it needs no more, and may be taken away.
  ASSERT_TRUE(client_.remove(daemon_sets_, {"elsewhere", "kruise-daemon"}, {}, {}));
  const auto without = installed();
  ASSERT_TRUE(without);
  ASSERT_EQ(without->warnings.size(), 1u) << join(without->warnings, "\n");
  EXPECT_EQ(without->warnings[0],
            "the controller may still read Secrets in `shop`, which it copied for OpenKruise's "
            "daemon; `kubectl delete role,rolebinding fettle-copied-secrets -n shop` ends that");
  EXPECT_FALSE(has_flag());
  const ResourceType secrets{"", "v1", "secrets", "Secret"};
  make(secrets, "kruise-daemon-config",
       R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"key-0123456789.fettle",
        "labels":{"app.kubernetes.io/name":"fettle"}}})");
  make(secrets, "kruise-daemon-config",
       R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"by-hand",
        "labels":{"app.kubernetes.io/name":"fettle"}}})");
  make(secrets, "kruise-daemon-config",
       R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"others"}})");
  EXPECT_EQ(told(uninstall(client_, request_, {})).at("Secret/key-0123456789.fettle"), "deleted");
  EXPECT_TRUE(is_there(secrets, {"kruise-daemon-config", "by-hand"})) << "it is no copy";
  EXPECT_FALSE(is_there(roles_, {"shop", "fettle-copied-secrets"}));
  EXPECT_FALSE(is_there(roles_, {"kruise-daemon-config", "fettle-secret-copies"}));
  EXPECT_TRUE(is_there(secrets, {"kruise-daemon-config", "others"}));
}

/// As the warning of a later installation says how.
TEST_F(InstallTest, WhereNoSourcesAreReadAnyMoreTheRightToWriteCopiesGoesAsWell) {
  for (const char* space : {"elsewhere", "shop", "kruise-daemon-config"})
    make_namespace(space);
  run_daemon("elsewhere");
  request_.secret_spaces = {"shop"};
  ASSERT_TRUE(installed());
  request_.secret_spaces = {};
  const ResourceType role_bindings{"rbac.authorization.k8s.io", "v1", "rolebindings",
                                   "RoleBinding"};
  for (const ResourceType& type : {roles_, role_bindings})
    ASSERT_TRUE(client_.remove(type, {"shop", "fettle-copied-secrets"}, {}, {}));
  EXPECT_EQ(told(uninstall(client_, request_, {})).at("Role/fettle-secret-copies"), "deleted");
  EXPECT_FALSE(is_there(role_bindings, {"kruise-daemon-config", "fettle-secret-copies"}));
}

TEST_F(InstallTest, TwoDaemonsAreSaidAndOursStaysAsItIs) {
  ASSERT_TRUE(installed());
  run_daemon("kruise-system");
  request_.image = "r.example/fettle:2";
  const auto report = installed();
  auto expected = all_but_daemons("unchanged", "left");
  expected["Deployment/fettle-controller"] = "configured";
  EXPECT_EQ(told(report), expected);
  ASSERT_EQ(report->warnings.size(), 1u);
  EXPECT_NE(report->warnings[0].find("delete one of these DaemonSets"), std::string::npos);
}

TEST_F(InstallTest, WithoutPoliciesOnTheServerTheyAreOmitted) {
  server_.forget("ValidatingAdmissionPolicy");
  server_.forget("ValidatingAdmissionPolicyBinding");
  const auto report = installed();
  auto expected = all_with("created");
  expected["ValidatingAdmissionPolicy/fettle-node-daemon"] = "omitted";
  expected["ValidatingAdmissionPolicyBinding/fettle-node-daemon"] = "omitted";
  EXPECT_EQ(told(report), expected);
  ASSERT_EQ(report->warnings.size(), 1u) << join(report->warnings, "\n");
  EXPECT_NE(report->warnings[0].find("ValidatingAdmissionPolicy"), std::string::npos);
  EXPECT_TRUE(has_daemon());
  const auto removed = uninstall(client_, request_, {});
  EXPECT_EQ(told(removed).at("ValidatingAdmissionPolicy/fettle-node-daemon"), "absent");
  EXPECT_FALSE(has_daemon());
}

TEST_F(InstallTest, SecretsAreReadWhereItWasAskedForUntilTheEnd) {
  make_namespace("shop");
  request_.secret_spaces = {"shop", "kruise-system", "nowhere"};
  const auto wrong = installed();
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->problems, std::vector<std::string>{
                                 "there is no namespace `nowhere`, which `--pull-secrets` names"});
  request_.secret_spaces.erase("nowhere");
  const auto first = installed();
  EXPECT_EQ(told(first).at("RoleBinding/fettle-pull-secrets"), "created");
  EXPECT_TRUE(is_there(roles_, {"kruise-system", std::string(secret_role_name)}));
  request_.secret_spaces = {"kruise-system"};
  const auto second = installed();
  ASSERT_TRUE(second);
  ASSERT_EQ(second->warnings.size(), 1u) << join(second->warnings, "\n");
  EXPECT_TRUE(second->warnings[0].starts_with("daemons go on reading Secrets in `shop`"));
  request_.secret_spaces.clear();
  EXPECT_EQ(told(uninstall(client_, request_, {})).at("Role/fettle-pull-secrets"), "deleted");
  for (const char* space : {"shop", "kruise-system"})
    EXPECT_FALSE(is_there(roles_, {space, std::string(secret_role_name)})) << space;
}

TEST_F(InstallTest, AFieldOfAnotherManagerIsNotTaken) {
  ASSERT_TRUE(installed());
  const ObjectName name{"kruise-system", "fettle-controller"};
  const auto scaled =
      client_.patch(deployments_, name, kubernetes::PatchType::merge,
                    json(R"({"spec":{"replicas":3}})"), {.field_manager = "somebody"}, {});
  ASSERT_TRUE(scaled) << to_string(scaled.error());
  request_.image = "r.example/fettle:2";
  const auto report = installed();
  ASSERT_TRUE(report) << to_string(report.error());
  ASSERT_EQ(report->problems.size(), 1u);
  EXPECT_NE(report->problems[0].find("somebody"), std::string::npos) << report->problems[0];
  EXPECT_EQ(told(report), all_with("there"));
  const Value now = *client_.get(deployments_, name, {});
  EXPECT_EQ(now.at("spec").integer_at("replicas"), 3);
  EXPECT_EQ(to_text(*follow(now, "/spec/template/spec/containers/0/image")), "r.example/fettle:1");
}

TEST_F(InstallTest, WhoMayNotLookIsToldAllThatIsMissing) {
  server_.fail(2, asks_for("GET", "/namespaces/kruise-system"), refusal_to("get namespaces"));
  server_.fail(1, asks_for("GET", "/apis/apps/v1/deployments"), refusal_to("list deployments"));
  const auto report = installed();
  ASSERT_TRUE(report) << to_string(report.error());
  ASSERT_EQ(report->problems.size(), 3u) << join(report->problems, "\n");
  EXPECT_TRUE(report->problems[0].ends_with("you may not get namespaces"));
  EXPECT_TRUE(report->problems[2].ends_with("you may not list deployments"));
  EXPECT_FALSE(has_controller());
}

/// A right that one does not have cannot be given away.
TEST_F(InstallTest, WhatTheServerWouldRefuseIsSaidBeforeAnythingIsDone) {
  server_.fail(1, asks_for("PATCH", "/clusterroles/"), refusal_to("grant"));
  const auto report = installed();
  ASSERT_TRUE(report) << to_string(report.error());
  ASSERT_EQ(report->problems.size(), 1u);
  EXPECT_TRUE(report->problems[0].ends_with("you may not grant"));
  EXPECT_FALSE(is_there(spaces_, {"", "kruise-system"}));
}

TEST_F(InstallTest, WhatBreaksOffIsToldWithWhatWasDoneAndGoesOnLater) {
  server_.fail(
      1,
      [](const kubernetes::ApiRequest& request) {
        return request.method == "PATCH" && request.target.find("dryRun") == std::string::npos &&
               request.target.find("/roles/") != std::string::npos;
      },
      refusal_to("patch roles any more"));
  const auto first = installed();
  ASSERT_TRUE(first) << to_string(first.error());
  ASSERT_TRUE(first->failure);
  EXPECT_EQ(told(first), (std::map<std::string, std::string>{
                             {"Namespace/kruise-system", "created"},
                             {"ServiceAccount/fettle-controller", "created"},
                             {"ClusterRole/fettle-controller", "created"},
                             {"ClusterRoleBinding/fettle-controller", "created"}}));
  auto expected = all_with("created");
  for (const auto& [object, status] : told(first))
    expected[object] = "unchanged";
  const auto second = installed();
  EXPECT_EQ(told(second), expected);
  EXPECT_FALSE(second->failure);
}

TEST_F(InstallTest, AllGoesButTheDefinitions) {
  ASSERT_TRUE(installed());
  const auto first = uninstall(client_, request_, {});
  EXPECT_EQ(told(first), all_with("deleted"));
  EXPECT_EQ(definition_in(first, "clonesets").status, "left");
  EXPECT_TRUE(is_there(kubernetes::types::definitions, {"", "clonesets.apps.kruise.io"}));
  EXPECT_FALSE(has_controller());
  EXPECT_EQ(told(uninstall(client_, request_, {})), all_with("absent"));
}

TEST_F(InstallTest, WhatInjectsSidecarsGoesAndThatOfOthersStays) {
  serve_policies();
  ASSERT_TRUE(installed());
  const auto report = uninstall(client_, request_, {});
  auto expected = all_with("deleted");
  expected["MutatingAdmissionPolicy/fettle-sidecarset-logs"] = "deleted";
  expected["MutatingAdmissionPolicyBinding/fettle-sidecarset-logs"] = "deleted";
  EXPECT_EQ(told(report), expected);
  for (const ResourceType& type : {policies_, bindings_}) {
    EXPECT_FALSE(is_there(type, {"", "fettle-sidecarset-logs"})) << type.kind;
    EXPECT_TRUE(is_there(type, {"", "others"})) << type.kind;
  }
  // What can make it anew goes before.
  std::vector<std::string> order;
  for (const InstallationLine& line : report->objects)
    if (line.kind.starts_with("Mutating") || line.kind == "ClusterRoleBinding")
      order.push_back(line.kind);
  EXPECT_EQ(order, (std::vector<std::string>{"ClusterRoleBinding", "ClusterRoleBinding",
                                             "MutatingAdmissionPolicyBinding",
                                             "MutatingAdmissionPolicy"}));
}

TEST_F(InstallTest, AMissingRightToDeleteIsSaidBeforeAnythingGoes) {
  serve_policies();
  ASSERT_TRUE(installed());
  server_.deny("delete mutatingadmissionpolicies");
  server_.deny("delete roles");
  const auto report = uninstall(client_, request_, {});
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_EQ(report->problems,
            (std::vector<std::string>{
                "you may not delete `roles.rbac.authorization.k8s.io` in `kruise-system`",
                "you may not delete `mutatingadmissionpolicies.admissionregistration.k8s.io`"}));
  EXPECT_TRUE(report->objects.empty());
  EXPECT_TRUE(has_controller());
  EXPECT_TRUE(is_there(bindings_, {"", "fettle-sidecarset-logs"}));
}

TEST_F(InstallTest, PoliciesThatMayNotBeListedAreSaidAndTheRestGoes) {
  serve_policies();
  ASSERT_TRUE(installed());
  server_.fail(1, asks_for("GET", "/mutatingadmissionpolicies?"), refusal_to("list policies"));
  const auto report = uninstall(client_, request_, {});
  ASSERT_TRUE(report && !report->failure);
  ASSERT_EQ(report->warnings.size(), 1u) << join(report->warnings, "\n");
  EXPECT_NE(report->warnings[0].find("`kubectl delete mutatingadmissionpolicies -l "
                                     "app.kubernetes.io/name=fettle`"),
            std::string::npos);
  EXPECT_FALSE(has_controller());
  EXPECT_FALSE(is_there(bindings_, {"", "fettle-sidecarset-logs"}));
  EXPECT_TRUE(is_there(policies_, {"", "fettle-sidecarset-logs"}));
}

TEST_F(InstallTest, WhereRolesMayNotBeListedTheRestGoesAllTheSame) {
  make_namespace("shop");
  request_.secret_spaces = {"shop", "kruise-system"};
  ASSERT_TRUE(installed());
  request_.secret_spaces.clear();
  server_.fail(4, asks_for("GET", "metadata.name"), refusal_to("list roles"));
  const auto report = uninstall(client_, request_, {});
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_FALSE(report->failure);
  ASSERT_EQ(report->warnings.size(), 1u) << join(report->warnings, "\n");
  EXPECT_NE(report->warnings[0].find("you may not list roles; roles and bindings "
                                     "`fettle-pull-secrets` and `fettle-copied-secrets` may stay"),
            std::string::npos)
      << report->warnings[0];
  EXPECT_FALSE(has_controller());
  EXPECT_FALSE(is_there(roles_, {"kruise-system", std::string(secret_role_name)}));
  EXPECT_TRUE(is_there(roles_, {"shop", std::string(secret_role_name)}));
}

/// Nobody knows then whether the controller may have made some.
TEST_F(InstallTest, WhereRolesMayNotBeListedCopiesOfSecretsGoOrAreNamed) {
  make_namespace("kruise-daemon-config");
  const ResourceType secrets{"", "v1", "secrets", "Secret"};
  make(secrets, "kruise-daemon-config",
       R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"key-0123456789.fettle",
        "labels":{"app.kubernetes.io/name":"fettle"}}})");
  ASSERT_TRUE(installed());
  server_.fail(4, asks_for("GET", "metadata.name"), refusal_to("list roles"));
  server_.fail(1, asks_for("GET", "/secrets?"), refusal_to("list secrets"));
  const auto report = check_uninstall(client_, request_, {});
  ASSERT_TRUE(report) << to_string(report.error());
  ASSERT_EQ(report->warnings.size(), 2u) << join(report->warnings, "\n");
  EXPECT_TRUE(report->warnings[1].ends_with(
      "you may not list secrets; copies of Secrets, if there are any, stay: `kubectl delete "
      "secrets -n kruise-daemon-config -l app.kubernetes.io/name=fettle` ends that"))
      << report->warnings[1];
  server_.fail(4, asks_for("GET", "metadata.name"), refusal_to("list roles"));
  EXPECT_EQ(told(uninstall(client_, request_, {})).at("Secret/key-0123456789.fettle"), "deleted");
}

TEST_F(InstallTest, GatesStayUnlessOthersOrNoneAreAskedFor) {
  const auto gates = [&] {
    const Value found = *client_.get(deployments_, {"kruise-system", "fettle-controller"}, {});
    for (const Value& word : items_of(*follow(found, "/spec/template/spec/containers/0/args")))
      if (to_text(word).starts_with("--feature-gates="))
        return to_text(word);
    return std::string();
  };
  request_.gates = "CloneSetShortHash=true";
  ASSERT_TRUE(installed());
  request_.gates.clear();
  ASSERT_TRUE(installed());
  EXPECT_EQ(gates(), "--feature-gates=CloneSetShortHash=true");
  request_.has_default_gates = true;
  ASSERT_TRUE(installed());
  EXPECT_EQ(gates(), "");
}

TEST_F(InstallTest, ANamespaceThatHasMoreStays) {
  ASSERT_TRUE(installed());
  for (const char* name : {"kube-root-ca.crt", "settings"})
    make({"", "v1", "configmaps", "ConfigMap"}, "kruise-system",
         cat(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")", name, R"("}})"));
  const auto report = uninstall(client_, request_, {});
  auto expected = all_with("deleted");
  expected["Namespace/kruise-system"] = "left";
  EXPECT_EQ(told(report), expected);
  for (const InstallationLine& line : report->objects)
    if (line.kind == "Namespace") {
      EXPECT_EQ(line.why, "it has ConfigMap `settings`");
    }
  EXPECT_TRUE(is_there(spaces_, {"", "kruise-system"}));
}

TEST_F(InstallTest, ANamespaceWithSecretsOrRevisionsStays) {
  const std::vector<std::pair<ResourceType, std::string>> others{
      {{"", "v1", "secrets", "Secret"}, "Secret `kept`"},
      {{"apps", "v1", "controllerrevisions", "ControllerRevision"}, "ControllerRevision `kept`"}};
  for (const auto& [type, what] : others) {
    ASSERT_TRUE(installed());
    make({"", "v1", "secrets", "Secret"}, "kruise-system",
         R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"token"},
          "type":"kubernetes.io/service-account-token"})");
    make(type, "kruise-system",
         cat(R"({"apiVersion":")", type.api_version(), R"(","kind":")", type.kind,
             R"(","metadata":{"name":"kept"}})"));
    EXPECT_EQ(why_the_namespace_stays(), cat("it has ", what));
    for (const char* name : {"token", "kept"})
      std::ignore =
          client_.remove({"", "v1", "secrets", "Secret"}, {"kruise-system", name}, {}, {});
  }
}

TEST_F(InstallTest, ANamespaceOfWhichNotAllIsKnownStays) {
  ASSERT_TRUE(installed());
  server_.fail(1, asks_for("GET", "/secrets"), refusal_to("list secrets"));
  EXPECT_EQ(why_the_namespace_stays(), "it may have `secrets`, which you may not list");
}

TEST_F(InstallTest, WhatIsNotOursIsNotDeleted) {
  make_namespace("kruise-system");
  make(deployments_, "kruise-system",
       R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"fettle-controller"},
        "spec":{}})");
  const auto report = uninstall(client_, request_, {});
  EXPECT_EQ(told(report).at("Deployment/fettle-controller"), "left");
  EXPECT_EQ(told(report).at("Namespace/kruise-system"), "left");
  EXPECT_TRUE(has_controller());
}

}  // namespace
}  // namespace fettle
