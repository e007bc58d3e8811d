#include "verbs/cluster/take_over.h"

#include <map>
#include <set>

#include <gtest/gtest.h>

#include "tests/kubernetes/kruise_cluster.h"

namespace fettle::take_over_test {
namespace {

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
  auto request = cluster.request();
  request.installation.has_default_gates = true;
  expect_done(take_over(cluster.client(), request, {}));
  EXPECT_EQ(gates_of_manager(cluster.controller()), "");
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
  EXPECT_EQ(report->problems,
            (std::vector<std::string>{
                "you may not list `pods` in `kruise-system`", "you may not list `pods`",
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
  for (bool is_broken = true; is_broken; write += writes_apart) {
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
  for (bool is_broken = true; is_broken; write += writes_apart) {
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
