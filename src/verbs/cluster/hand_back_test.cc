/// What of fettle's revisions OpenKruise finds when a cluster is handed back. Its webhook is played as
/// far as these templates need it; `tests/kubernetes/exchange` has the real one.

#include <algorithm>

#include <gtest/gtest.h>

#include "cluster/names.h"
#include "cluster/owners.h"
#include "cluster/revisions.h"
#include "tests/kubernetes/kruise_cluster.h"
#include "verbs/cluster/spare_revisions.h"

namespace fettle::take_over_test {
namespace {

using cluster::types::clone_sets;
using cluster::types::revisions;

/// A struct that is there without a word stays, unlike a map.
Value without_empty_parts(const Value& dict, bool has_maps = false) {
  std::vector<Entry> kept;
  for (const Entry& entry : dict.entries())
    if (entry.value != Value::list({}) && (!has_maps || entry.value != Value::dict({})) &&
        entry.value != Value(false) && entry.value != Value(""))
      kept.push_back(entry);
  return Value::dict(std::move(kept));
}

Value with_missing(Value dict, std::initializer_list<Entry> defaults) {
  for (const Entry& entry : defaults)
    if (dict.find(entry.key.view()) == nullptr)
      dict = with(dict, entry.key.view(), entry.value);
  return dict;
}

template <typename Change>
Value with_containers(const Value& pod_template, Change change) {
  std::vector<Value> containers;
  for (const Value& each : items_of(pod_template.at("spec").at("containers")))
    containers.push_back(change(each));
  return with(pod_template, "spec",
              with(pod_template.at("spec"), "containers", Value::list(std::move(containers))));
}

/// In the form that Go gives to it.
Value typed(const Value& pod_template) {
  Value made = with(
      pod_template, "metadata",
      with(without_empty_parts(pod_template.at("metadata"), true), "creationTimestamp", Value()));
  made = with(made, "spec", without_empty_parts(made.at("spec")));
  return with_containers(made, [](const Value& container) {
    return with_missing(without_empty_parts(container), {{"resources", Value::dict({})}});
  });
}

Value with_defaults(const Value& pod_template) {
  const Value spec = with_missing(pod_template.at("spec"), {{"restartPolicy", "Always"},
                                                            {"dnsPolicy", "ClusterFirst"},
                                                            {"schedulerName", "default-scheduler"},
                                                            {"securityContext", Value::dict({})},
                                                            {"terminationGracePeriodSeconds", 30}});
  return with_containers(with(pod_template, "spec", spec), [](const Value& container) {
    return with_missing(container, {{"imagePullPolicy", "Always"},
                                    {"terminationMessagePath", "/dev/termination-log"},
                                    {"terminationMessagePolicy", "File"}});
  });
}

/// A template that is as before gets no defaults, as with OpenKruise.
Value as_openkruise_stores(const Value& before, const Value& after) {
  const Value& spec = after.at("spec");
  Value pod_template = typed(spec.at("template"));
  if (before.is_null() || typed(before.at("spec").at("template")) != pod_template)
    pod_template = with_defaults(pod_template);
  return with(after, "spec",
              with(with_missing(spec, {{"revisionHistoryLimit", 10}}), "template", pod_template));
}

const std::string plain_template =
    R"({"metadata":{"labels":{"app":"new"},"annotations":{}},"spec":{"hostNetwork":false,
        "containers":[{"name":"main","image":"new:2","args":["a && b"],"env":[]}]}})";

/// With a CloneSet `shop/new` that was made and changed while fettle led: revision 1 is of pods that a
/// partition keeps.
class HandBack : public testing::Test {
 protected:
  HandBack() : cluster(with_kruise({})) {
    cluster.server().know_webhook("kruise-mutating-webhook-configuration", "CloneSet",
                                  as_openkruise_stores);
    expect_done(cluster.take_over());
    cluster.play();
    cluster.make(clone_sets_alpha, "shop",
                 cat(R"({"apiVersion":"apps.kruise.io/v1alpha1","kind":"CloneSet","metadata":{
        "name":"new"},"spec":{"selector":{"matchLabels":{"app":"new"}},"template":)",
                     plain_template, R"(,"updateStrategy":{"type":"InPlaceIfPossible"}}})"));
    Value first = json(plain_template);
    first = with_containers(first, [](const Value& one) { return with(one, "image", "new:1"); });
    make_revision("new", "new-1", 1, first, installation_name);
    make_revision("new", "new-2", 2, json(plain_template), installation_name);
    const Value stored = with_defaults(typed(cluster.clone_set().at("spec").at("template")));
    make_revision("web", "web-1", 1, stored, "kruise-manager");
  }

  void make_revision(std::string_view of, std::string_view name, int64_t number,
                     const Value& pod_template, std::string_view manager) {
    const Value object = cluster.get(clone_sets_alpha, {"shop", std::string(of)});
    const auto owner = cluster::read_workload(object, clone_sets_alpha);
    ASSERT_TRUE(owner) << to_string(owner.error());
    ControllerRevision revision;
    revision.name = name;
    revision.space = "shop";
    revision.owner = owner->owner();
    revision.hash = name.substr(name.rfind('-') + 1);
    revision.number = number;
    revision.pod_template = pod_template;
    Value made = cluster::revision_object(revision, *owner);
    made =
        with(made, "data",
             Value::dict(
                 {{"spec", Value::dict({{"template", with(pod_template, "$patch", "replace")}})}}));
    const auto answer = cluster.client().create(revisions, {"shop", ""}, made,
                                                {.field_manager = std::string(manager)}, {});
    ASSERT_TRUE(answer) << to_string(answer.error());
  }
  Value revision(std::string name) { return cluster.get(revisions, {"shop", std::move(name)}); }
  Value workload() { return cluster.get(clone_sets, {"shop", "new"}); }
  /// The data with which OpenKruise looks for the revision of a workload.
  static Value sought(const Value& object) {
    return Value::dict(
        {{"spec", Value::dict({{"template", with(typed(object.at("spec").at("template")), "$patch",
                                                 "replace")}})}});
  }
  void write(const ObjectName& name, std::string_view change) {
    const auto written = cluster.client().patch(clone_sets, name, kubernetes::PatchType::merge,
                                                json(change), {}, {});
    ASSERT_TRUE(written) << to_string(written.error());
  }
  size_t spares() {
    return static_cast<size_t>(std::ranges::count_if(
        cluster.all_of(revisions),
        [](const Value& each) { return name_of(each).name.starts_with("fettle-spare-"); }));
  }

  KruiseCluster cluster;
};

TEST_F(HandBack, OpenKruiseFindsItsOwnWords) {
  const Value before = revision("new-2");
  const auto report = cluster.hand_back();
  expect_done(report);
  EXPECT_TRUE(report->warnings.empty()) << join(report->warnings, "\n");
  EXPECT_EQ(told(report).at("ControllerRevision/new-2"), "rewritten");
  EXPECT_EQ(told(report).at("ControllerRevision/new-1"), "rewritten");
  const Value after = revision("new-2");
  EXPECT_EQ(after.at("data"), sought(workload()));
  EXPECT_EQ(workload().at("spec").at("template"), with_defaults(typed(json(plain_template))));
  for (const char* const key : {"labels", "annotations", "ownerReferences", "name"})
    EXPECT_EQ(after.at("metadata").at(key), before.at("metadata").at(key)) << key;
  EXPECT_EQ(after.at("revision"), before.at("revision"));
  EXPECT_NE(after.at("metadata").at("uid"), before.at("metadata").at("uid"));
  EXPECT_EQ(spares(), 0u);
}

/// Whatever somebody writes next.
TEST_F(HandBack, NoRevisionIsDueAtTheNextWrite) {
  expect_done(cluster.hand_back());
  write({"shop", "new"}, R"({"metadata":{"annotations":{"a":"b"}}})");
  EXPECT_EQ(sought(workload()), revision("new-2").at("data"));
  write({"shop", "new"}, cat(R"({"spec":{"template":)", plain_template, "}}"));
  EXPECT_EQ(sought(workload()), revision("new-2").at("data"));
}

/// Pods of the old revision are updated in place only if nothing else differs.
TEST_F(HandBack, RevisionsDifferInNothingButTheImage) {
  expect_done(cluster.hand_back());
  const auto image_of_first = [](const Value& each) { return with(each, "image", "new:1"); };
  const Value newest = cluster::words_of_revision(revision("new-2")).at("template");
  EXPECT_EQ(cluster::words_of_revision(revision("new-1")).at("template"),
            with_containers(newest, image_of_first));
}

TEST_F(HandBack, RevisionsOfOpenKruiseStayAsTheyAre) {
  const Value before = revision("web-1");
  expect_done(cluster.hand_back());
  EXPECT_EQ(revision("web-1"), before);
  EXPECT_EQ(sought(cluster.clone_set()), before.at("data"));
}

TEST_F(HandBack, TheSecondTimeThereIsNothingToDo) {
  expect_done(cluster.hand_back());
  const Value before = revision("new-2"), object = workload();
  expect_done(cluster.take_over());
  cluster.play();
  const auto report = cluster.hand_back();
  expect_done(report);
  EXPECT_FALSE(told(report).contains("ControllerRevision/new-2"));
  EXPECT_EQ(revision("new-2"), before);
  EXPECT_EQ(workload().at("spec").at("template"), object.at("spec").at("template"));
}

TEST_F(HandBack, WhoeverDiesOnTheWayKeepsEachRevision) {
  const kubernetes::ApiServer start = cluster.server();
  const std::vector<Value> before = cluster.all_of(revisions);
  expect_done(cluster.hand_back());
  const auto whole = cluster.picture();
  int write = 1;
  for (bool is_broken = true; is_broken; write += writes_apart) {
    KruiseCluster other(start);
    other.refuse_from(write);
    const auto broken = other.hand_back();
    other.server().stop_failing();
    ASSERT_TRUE(broken) << to_string(broken.error());
    is_broken = broken->failure.has_value();
    // Its name and its number are somewhere.
    std::map<int64_t, int> numbers;
    for (const Value& each : other.all_of(revisions))
      ++numbers[each.integer_at("revision")];
    EXPECT_GE(numbers[1], 2) << "write " << write;
    EXPECT_GE(numbers[2], 1) << "write " << write;
    // Until then it is as without revisions, which `TakeOver` tries.
    if (is_broken && other.all_of(revisions) == before)
      continue;
    const auto again = other.hand_back();
    ASSERT_TRUE(again) << to_string(again.error());
    EXPECT_FALSE(again->failure) << to_string(*again->failure);
    EXPECT_EQ(other.picture(), whole) << "write " << write;
  }
  EXPECT_GT(write, 40);
}

/// As after a death in between.
TEST_F(HandBack, WhoTakesOverInsteadFindsTheRevisionAgain) {
  const Value before = revision("new-2");
  const Value wanted = cluster::revision_in_words(
      before, Value::dict({{"template", cluster::words_of_revision(before).at("template")}}));
  cluster.server().fail(
      1,
      [](const kubernetes::ApiRequest& request) {
        return request.method == "POST" &&
               request.body.find(R"("name":"new-2","namespace")") != std::string::npos &&
               request.body.find("fettle-spare") == std::string::npos;
      },
      kubernetes::refusal(403, "Forbidden", "on purpose"));
  EXPECT_FALSE(replace_revision(cluster.client(), before, wanted, {}));
  ASSERT_TRUE(revision("new-2").is_null());
  ASSERT_EQ(spares(), 1u);
  expect_done(cluster.take_over());
  EXPECT_EQ(revision("new-2").at("data"), before.at("data"));
  EXPECT_EQ(revision("new-2").at("metadata").at("ownerReferences"),
            before.at("metadata").at("ownerReferences"));
  EXPECT_EQ(spares(), 0u);
}

TEST_F(HandBack, WhereNoRevisionMayBeMadeNoneGoes) {
  cluster.server().fail(
      1,
      [](const kubernetes::ApiRequest& request) {
        return request.method == "POST" && request.body.find("fettle-spare") != std::string::npos;
      },
      kubernetes::refusal(403, "Forbidden", "it is being terminated"));
  const Value before = revision("new-2");
  const auto report = cluster.hand_back();
  expect_done(report);
  ASSERT_EQ(report->warnings.size(), 1u);
  EXPECT_TRUE(report->warnings[0].starts_with(
      "ControllerRevision `shop/new-2` stays in the words of fettle: "))
      << report->warnings[0];
  EXPECT_EQ(revision("new-2"), before);
}

TEST_F(HandBack, WhatOpenKruiseRefusesStaysAndIsSaid) {
  cluster.server().fail(
      1,
      [](const kubernetes::ApiRequest& request) {
        return request.target.find("dryRun") != std::string::npos &&
               request.body.find("fettle/question") != std::string::npos;
      },
      kubernetes::refusal(422, "Invalid", "no such template"));
  const Value before = revision("new-2");
  const auto report = cluster.hand_back();
  expect_done(report);
  ASSERT_EQ(report->warnings.size(), 1u);
  EXPECT_NE(
      report->warnings[0].find("ControllerRevision `shop/new-2` stays in the words of fettle, "
                               "for OpenKruise refuses them"),
      std::string::npos)
      << report->warnings[0];
  EXPECT_EQ(revision("new-2"), before);
  EXPECT_NE(revision("new-1").at("data"), before.at("data"));
}

TEST_F(HandBack, AWebhookThatDoesNotAnswerIsSaid) {
  cluster.server().know_webhook("kruise-mutating-webhook-configuration", "CloneSet",
                                [](const Value&, const Value& after) {
                                  std::vector<Entry> spec;
                                  for (const Entry& entry : after.at("spec").entries())
                                    if (entry.key != "revisionHistoryLimit")
                                      spec.push_back(entry);
                                  return with(after, "spec", Value::dict(std::move(spec)));
                                });
  const Value before = revision("new-2");
  const auto report = cluster.hand_back();
  expect_done(report);
  EXPECT_EQ(report->warnings,
            std::vector<std::string>{
                "OpenKruise's webhook does not answer, so these have revisions in the words of "
                "fettle, and OpenKruise may make new ones of the same templates: CloneSet "
                "`shop/new`"});
  EXPECT_EQ(revision("new-2"), before);
}

TEST_F(HandBack, MissingRightsOnRevisionsAreSaidBefore) {
  cluster.server().deny("delete controllerrevisions");
  const auto report = cluster.hand_back();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->problems,
            std::vector<std::string>{"you may not delete `controllerrevisions.apps`"});
}

/// A run that died before has restored the definitions, and the lease is held for revisions, too.
TEST_F(HandBack, TheRightToTheLeaseIsNeededWhileRevisionsAreLeft) {
  cluster.server().fail(
      1,
      [](const kubernetes::ApiRequest& request) {
        return request.method == "POST" &&
               request.target.find("/controllerrevisions") != std::string::npos;
      },
      kubernetes::refusal(500, "InternalError", "on purpose"));
  const auto broken = cluster.hand_back();
  ASSERT_TRUE(broken);
  ASSERT_TRUE(broken->failure);
  cluster.server().deny("update leases");
  const auto report = cluster.hand_back();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->problems,
            std::vector<std::string>{
                "you may not update `leases.coordination.k8s.io` in `kruise-system`"});
}

const ObjectName lease{std::string(system_space), "kruise-manager"};

TEST_F(HandBack, TheLeaseIsRenewedWhileItLasts) {
  auto request = cluster.request();
  Instant now{};
  int renewals = 0;
  request.patience.clock = [&] { return now; };
  request.patience.pause = [&](Duration, const std::stop_token&) -> Status {
    now += 1min;
    cluster.play();
    return {};
  };
  cluster.server().fail(100'000,
                        [&](const kubernetes::ApiRequest& asked) {
                          renewals += asked.method == "PUT" &&
                                      asked.target.find("/leases/") != std::string::npos;
                          return false;
                        },
                        {});
  expect_done(hand_back(cluster.client(), request, {}));
  EXPECT_GE(renewals, 2);
  EXPECT_EQ(cluster.get(kubernetes::types::leases, lease).at("spec").text_at("holderIdentity"), "");
}

TEST_F(HandBack, WhoeverHasLostTheLeaseStops) {
  auto request = cluster.request();
  Instant now{};
  request.patience.clock = [&] { return now; };
  request.patience.pause = [&](Duration, const std::stop_token&) -> Status {
    now += 3min;
    cluster.play();
    std::ignore =
        cluster.client().patch(kubernetes::types::leases, lease, kubernetes::PatchType::merge,
                               json(R"({"spec":{"holderIdentity":"other"}})"), {}, {});
    return {};
  };
  const auto report = hand_back(cluster.client(), request, {});
  ASSERT_TRUE(report);
  ASSERT_TRUE(report->failure);
  EXPECT_EQ(
      report->failure->message,
      "the lease `kruise-system/kruise-manager` was taken by `other` meanwhile, for this took "
      "too long: the same command goes on");
  EXPECT_EQ(revision("new-2").at("data").at("spec").at("template").at("spec").find("dnsPolicy"),
            nullptr);
  expect_done(cluster.hand_back());
}

/// With a default in each container, and a hash of all of them.
Value set_as_openkruise_stores(const Value&, const Value& after) {
  std::vector<Value> containers;
  for (const Value& each : items_of(after.at("spec").at("containers")))
    containers.push_back(with_missing(
        each, {{"podInjectPolicy", "BeforeAppContainer"}, {"resources", Value::dict({})}}));
  std::string all, images;
  for (const Value& each : containers) {
    all += cat(each.text_at("name"), "=", each.text_at("image"), ";");
    images += cat(each.text_at("name"), ";");
  }
  const Value annotations =
      with(with(after.at("metadata").at("annotations"), cluster::annotation::sidecar_hash, all),
           cluster::annotation::sidecar_hash_without_image, images);
  return with(with(after, "spec",
                   with(with_missing(after.at("spec"), {{"revisionHistoryLimit", 10}}),
                        "containers", Value::list(std::move(containers)))),
              "metadata", with(after.at("metadata"), "annotations", annotations));
}

/// A SidecarSet that was changed while fettle led, with a pod of each of its revisions.
class HandBackSidecars : public HandBack {
 protected:
  HandBackSidecars() {
    cluster.server().know_webhook("kruise-mutating-webhook-configuration", "SidecarSet",
                                  set_as_openkruise_stores);
    cluster.make(cluster::types::sidecar_sets, {}, R"({"apiVersion":"apps.kruise.io/v1beta1",
      "kind":"SidecarSet","metadata":{"name":"logs","annotations":{
      "kruise.io/sidecarset-hash":"stale"}},"spec":{"selector":{"matchLabels":{"app":"new"}},
      "containers":[{"name":"log","image":"log:2"}]}})");
    for (const int number : {1, 2}) {
      make_revision_of_set(number);
      cluster.make(
          pods, "shop",
          cat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"pod-)", number,
              R"(","annotations":{"fettle/sidecars":"[{\"name\":\"logs\",)",
              R"(\"revision\":\"logs-)", number, R"(\",\"containers\":[{\"name\":\"log\"}]}]",)",
              R"("kruise.io/sidecarset-hash":"{\"mesh\":{\"hash\":\"m\"}}"}},)",
              R"("spec":{"containers":[{"name":"main","image":"a"}]}})"));
    }
  }
  void make_revision_of_set(int number) {
    const Value uid = set().at("metadata").at("uid");
    const Value revision = json(cat(
        R"({"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"logs-)", number,
        R"(","ownerReferences":[{"apiVersion":"apps.kruise.io/v1beta1","kind":"SidecarSet",
        "name":"logs","controller":true,"uid":")",
        to_text(uid), R"("}]},"revision":)", number,
        R"(,"data":{"spec":{"$patch":"replace","volumes":null,
        "initContainers":null,"imagePullSecrets":null,"patchPodMetadata":null,
        "containers":[{"name":"log","image":"log:)",
        number, R"("}]}}})"));
    const auto made =
        cluster.client().create(revisions, {std::string(system_space), ""}, revision,
                                {.field_manager = std::string(installation_name)}, {});
    ASSERT_TRUE(made) << to_string(made.error());
  }
  Value set() { return cluster.get(cluster::types::sidecar_sets, {"", "logs"}); }
  Value revision_of_set(int number) {
    return cluster.get(revisions, {std::string(system_space), cat("logs-", number)});
  }
  Value hashes_of_pod(int number) {
    const auto found = read_json(annotation_of(cluster.get(pods, {"shop", cat("pod-", number)}),
                                               cluster::annotation::sidecar_hash));
    return found ? *found : Value();
  }
};

TEST_F(HandBackSidecars, PodsHaveTheHashOfTheirRevision) {
  const auto report = cluster.hand_back();
  expect_done(report);
  EXPECT_TRUE(report->warnings.empty()) << join(report->warnings, "\n");
  EXPECT_EQ(annotation_of(set(), cluster::annotation::sidecar_hash), "log=log:2;");
  for (const int number : {1, 2}) {
    const std::string hash = cat("log=log:", number, ";");
    const Value hashes = hashes_of_pod(number);
    EXPECT_EQ(hashes.at("logs").text_at("hash"), hash);
    EXPECT_EQ(hashes.at("logs").text_at("controllerRevision"), cat("logs-", number));
    EXPECT_EQ(hashes.at("mesh").text_at("hash"), "m") << "that of another set stays";
    EXPECT_EQ(annotation_of(revision_of_set(number), cluster::annotation::sidecar_hash), hash);
    const Value spec = revision_of_set(number).at("data").at("spec");
    EXPECT_EQ(spec.at("containers"),
              json(cat(R"([{"name":"log","image":"log:)", number,
                       R"(","podInjectPolicy":"BeforeAppContainer","resources":{}}])")));
    EXPECT_NE(spec.find("volumes"), nullptr);
  }
  EXPECT_EQ(set().at("spec").at("containers"),
            revision_of_set(2).at("data").at("spec").at("containers"));
}

TEST_F(HandBackSidecars, APodThatOthersWriteGetsItAllTheSame) {
  int refused = 0;
  cluster.server().fail(
      1,
      [&](const kubernetes::ApiRequest& request) {
        const bool is_it =
            request.method == "PATCH" && request.target.find("/pods/pod-1") != std::string::npos;
        refused += is_it ? 1 : 0;
        return is_it;
      },
      kubernetes::refusal(409, "Conflict", "it has been modified"));
  expect_done(cluster.hand_back());
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(hashes_of_pod(1).at("logs").text_at("hash"), "log=log:1;");
}

}  // namespace
}  // namespace fettle::take_over_test
