#include "drivers/kubernetes/kubernetes_driver.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "cluster/others.h"
#include "cluster/pod_writes.h"
#include "cluster/types.h"
#include "kinds/claim.h"
#include "kinds/kinds.h"
#include "kinds/pod.h"
#include "tests/kubernetes/json_text.h"
#include "tests/kubernetes/played_transport.h"
#include "workloads/decide/want.h"
#include "workloads/read/read.h"

namespace fettle {
namespace {

using kubernetes::json;
using kubernetes::ObjectName;
namespace types = cluster::types;

const Name owner = "CloneSet/default/web";

workloads::Object workload_with(std::string_view image) {
  const auto read = workloads::read_manifests(
      cat(R"({"apiVersion":"apps.kruise.io/v1beta1","kind":"CloneSet","metadata":{"name":"web"},
        "spec":{"replicas":1,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":
        {"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":")",
          image,
          R"("}]}},"updateStrategy":{"rollingUpdate":
        {"podUpdatePolicy":"InPlaceIfPossible","maxUnavailable":1}}}})"),
      "web.json", {});
  workloads::Object object = read.objects.at(0);
  object.uid = "uid-of-web";
  return object;
}

/// Acts of a workload's decisions, one by one, on a server of our own.
class KubernetesDriverTest : public testing::Test {
 protected:
  void SetUp() override { put("web:1"); }

  void put(std::string_view image) {
    const workloads::Object object = workload_with(image);
    owners_.put(object);
    fleet_.put(object);
  }

  /// What is wanted of its only pod, once its revisions are kept.
  Box<Resource> decide() {
    const workloads::Wanted wanted = workloads::want(fleet_, owner, now_);
    fleet_.accept(wanted);
    Box<Resource> pod;
    for (const Box<Resource>& resource : wanted.resources) {
      if (resource->key.kind == "pod")
        pod = resource;
      if (resource->key.kind != "revision")
        continue;
      EXPECT_TRUE(std::holds_alternative<Done>(act(Verb::run, *resource)));
      const auto revision = read<ControllerRevision>(resource->attributes);
      fleet_.know(resource->key, cluster::record_of(revision, "cluster"));
      owners_.put(revision);
    }
    return pod;
  }

  static Act act_of(Verb verb, const Resource& resource, RecordPointer known) {
    Act act;
    act.verb = verb;
    act.key = resource.key;
    act.attributes = resource.attributes;
    act.known = std::move(known);
    return act;
  }
  Outcome act(Verb verb, const Resource& resource, RecordPointer known = nullptr) {
    return call(act_of(verb, resource, std::move(known)));
  }
  Outcome call(const Act& act) {
    Result<Outcome> outcome = driver_.apply(act, {}, {});
    EXPECT_TRUE(outcome) << to_string(outcome.error());
    return outcome ? *std::move(outcome) : Outcome(Skipped{"error"});
  }

  /// The pod as it is in the server.
  Value stored() {
    const auto pod = client_.get(types::pods, name_, {});
    return pod ? *pod : Value();
  }
  RecordPointer record() {
    return cluster::read_pod(stored(),
                             {"cluster", cluster::driver_name, {}, &owners_.find(owner)->revisions})
        ->record;
  }
  std::string condition(std::string_view type) {
    const Value object = stored();
    for (const Value& each : items_of(object.at("status").at("conditions")))
      if (each.text_at("type") == type)
        return std::string(each.text_at("status"));
    return {};
  }
  std::string image() {
    return std::string(items_of(stored().at("spec").at("containers"))[0].text_at("image"));
  }
  /// Somebody else writes, of which no watch has told yet.
  void patch(std::string_view change, std::string_view subresource = {}) {
    const auto answer = client_.patch(types::pods, name_, kubernetes::PatchType::strategic,
                                      json(change), {.subresource = subresource}, {});
    ASSERT_TRUE(answer) << to_string(answer.error());
  }

  Box<Resource> make_pod() {
    const Box<Resource> pod = decide();
    const Pod wanted = read<Pod>(pod->attributes);
    name_ = {"default", wanted.name.get().str()};
    EXPECT_TRUE(std::holds_alternative<Done>(act(Verb::create, *pod)));
    know();
    return pod;
  }
  void know() {
    const auto known = cluster::read_pod(
        stored(), {"cluster", cluster::driver_name, {}, &owners_.find(owner)->revisions});
    fleet_.know(known->key, known->record);
    fleet_.see(known->key, known->state);
  }
  /// Its kubelet runs it.
  void become_ready() {
    run_unseen();
    objects_.take_answer(types::pods.kind, stored());
    know();
  }
  /// It does, and no watch has told yet.
  void run_unseen() {
    patch(R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}],
      "containerStatuses":[{"name":"c","image":"web:1","imageID":"web:1","ready":true,
      "restartCount":0,"containerID":"c://1","state":{"running":{}}}]}})",
          "status");
  }
  /// An update of its image, as the act that begins it.
  Act update_to(std::string_view image) {
    put(image);
    return act_of(Verb::update, *decide(), record());
  }
  /// The answers to its next writes. `is_done`: what they ask for is done all the same.
  void answer_writes(int times, int status, bool is_done = false) {
    server_.fail(times,
                 [this, is_done, is_within = false](const kubernetes::ApiRequest& request) mutable {
                   if (request.method != "PATCH" || is_within)
                     return false;
                   is_within = true;
                   if (is_done)
                     server_.handle(request, now_);
                   is_within = false;
                   return true;
                 },
                 {.status = status,
                  .body = json(cat(R"({"kind":"Status","status":"Failure","code":)", status,
                                   R"(,"message":"not now"})"))});
  }
  Value cached() const { return objects_.find(types::pods.kind, name_); }

  void make_manager_space() {
    ASSERT_TRUE(client_.create(types::spaces, {}, json(R"({"apiVersion":"v1","kind":"Namespace",
                               "metadata":{"name":"kruise-system"}})"),
                               {}, {}));
  }

  kubernetes::ApiServer server_;
  Time now_ = Time(Duration(1'800'000'000'000'000'000));
  kubernetes::Client client_{std::make_unique<kubernetes::PlayedTransport>(server_, now_),
                             {.qps = 0}};
  kubernetes::ObjectCache objects_{
      {types::pods, types::claims, types::revisions, types::clone_sets, types::sidecar_sets}};
  cluster::Owners owners_;
  workloads::Fleet fleet_{"cluster"};
  KubernetesDriver driver_{client_, objects_, owners_, {}, [this] { return now_; }};
  ObjectName name_;
};

TEST_F(KubernetesDriverTest, APodIsMadeAndItsGatesOpen) {
  const Box<Resource> pod = make_pod();
  EXPECT_EQ(condition("InPlaceUpdateReady"), "True");
  EXPECT_EQ(record()->applied->attributes, pod->attributes);
  EXPECT_EQ(objects_.find(types::pods.kind, name_).at("metadata").at("resourceVersion"),
            stored().at("metadata").at("resourceVersion"))
      << "the cache has the answer to the last write";
}

TEST_F(KubernetesDriverTest, APodWaitsForItsRevision) {
  const Box<Resource> pod = decide();
  owners_.drop_revision(owner, read<Pod>(pod->attributes).revision.get());
  EXPECT_TRUE(std::holds_alternative<Pending>(act(Verb::create, *pod)));
}

TEST_F(KubernetesDriverTest, AnActThatDiedGoesOn) {
  const Box<Resource> pod = decide();
  name_ = {"default", read<Pod>(pod->attributes).name.get().str()};
  ASSERT_TRUE(client_.create(
      types::pods, name_,
      cluster::pod_object(pod->attributes, {.owner = &owners_.find(owner)->object}), {}, {}));
  objects_.take_answer(types::pods.kind, stored());
  EXPECT_TRUE(std::holds_alternative<Done>(act(Verb::create, *pod)));
  EXPECT_EQ(condition("InPlaceUpdateReady"), "True");
}

TEST_F(KubernetesDriverTest, AKubeletStopsNoUpdate) {
  make_pod();
  become_ready();
  put("web:2");
  const Box<Resource> wanted = decide();
  ASSERT_NE(wanted->attributes, record()->applied->attributes);
  const RecordPointer known = record();
  patch(R"({"status":{"podIP":"10.0.0.7"}})", "status");
  const Outcome outcome = act(Verb::update, *wanted, known);
  ASSERT_TRUE(std::holds_alternative<Done>(outcome));
  EXPECT_EQ(image(), "web:2");
  EXPECT_EQ(condition("InPlaceUpdateReady"), "False");
  EXPECT_EQ(record()->applied->attributes, wanted->attributes);
  EXPECT_EQ(read<PodOutputs>(std::get<Done>(outcome).outputs).ip, "10.0.0.7");
}

TEST_F(KubernetesDriverTest, APodThatStaysNotReadyIsUpdated) {
  make_pod();
  const Act update = update_to("web:2");
  patch(R"({"status":{"podIP":"10.0.0.7"}})", "status");
  EXPECT_TRUE(std::holds_alternative<Done>(call(update)));
  EXPECT_EQ(image(), "web:2");
}

/// It cost nothing while it was not ready, and now somebody counts on it.
TEST_F(KubernetesDriverTest, APodThatHasBecomeReadyUnseenIsDecidedAgain) {
  make_pod();
  const Act update = update_to("web:2");
  run_unseen();
  const Value ready = stored();
  const Outcome outcome = call(update);
  ASSERT_TRUE(std::holds_alternative<Skipped>(outcome));
  EXPECT_EQ(std::get<Skipped>(outcome).why, "it has become ready since this was decided");
  EXPECT_EQ(stored(), ready) << "nothing is written";
  EXPECT_EQ(cached(), ready) << "the next decision knows that it is ready";
}

TEST_F(KubernetesDriverTest, APodThatHasBecomeReadyBetweenTwoCallsIsDecidedAgain) {
  make_pod();
  Act update = update_to("web:2");
  answer_writes(5, 409);
  const Outcome first = call(update);
  ASSERT_TRUE(std::holds_alternative<Pending>(first));
  update.so_far = std::get<Pending>(first).so_far;
  become_ready();
  EXPECT_TRUE(std::holds_alternative<Skipped>(call(update)));
  EXPECT_EQ(image(), "web:1");
  EXPECT_EQ(condition("Ready"), "True");
}

TEST_F(KubernetesDriverTest, AnUpdateOfAReadyPodGoesOnBetweenTwoCalls) {
  make_pod();
  become_ready();
  Act update = update_to("web:2");
  answer_writes(5, 409);
  const Outcome first = call(update);
  ASSERT_TRUE(std::holds_alternative<Pending>(first));
  update.so_far = std::get<Pending>(first).so_far;
  EXPECT_TRUE(std::holds_alternative<Done>(call(update)));
  EXPECT_EQ(image(), "web:2");
}

/// Else other pods are decided as if this one were what it was.
TEST_F(KubernetesDriverTest, AfterAWriteWithoutAnAnswerThePodIsAskedFor) {
  make_pod();
  become_ready();
  const Act update = update_to("web:2");
  const Value before = stored();
  answer_writes(1, 504, true);
  EXPECT_FALSE(driver_.apply(update, {}, {}));
  EXPECT_NE(stored(), before);
  EXPECT_EQ(cached(), stored());
}

/// A request may wait for others, and what it takes away was free only while it was not ready.
TEST_F(KubernetesDriverTest, APodThatHasBecomeReadyUnseenIsNotRemoved) {
  const Box<Resource> pod = make_pod();
  const Act removal = act_of(Verb::remove, *pod, record());
  run_unseen();
  const Value ready = stored();
  const Outcome outcome = call(removal);
  ASSERT_TRUE(std::holds_alternative<Skipped>(outcome));
  EXPECT_EQ(std::get<Skipped>(outcome).why, "it has become ready since this was decided");
  EXPECT_EQ(stored(), ready);
  EXPECT_EQ(cached(), ready) << "the next decision knows that it is ready";
}

TEST_F(KubernetesDriverTest, APodThatStaysNotReadyIsRemoved) {
  const Box<Resource> pod = make_pod();
  const Act removal = act_of(Verb::remove, *pod, record());
  patch(R"({"status":{"podIP":"10.0.0.7"}})", "status");
  EXPECT_TRUE(std::get<Done>(call(removal)).changed);
  EXPECT_TRUE(stored().is_null());
}

TEST_F(KubernetesDriverTest, WhatOthersWantIsLeftToTheNextDecision) {
  make_pod();
  become_ready();
  put("web:2");
  const Box<Resource> wanted = decide();
  const RecordPointer known = record();
  patch(R"({"metadata":{"labels":{"apps.kruise.io/specified-delete":"true"}}})");
  EXPECT_FALSE(std::holds_alternative<Done>(act(Verb::update, *wanted, known)));
  objects_.take_answer(types::pods.kind, stored());
  EXPECT_TRUE(std::holds_alternative<Skipped>(act(Verb::update, *wanted, known)));
  EXPECT_EQ(image(), "web:1");
  EXPECT_EQ(condition("Ready"), "True");
}

TEST_F(KubernetesDriverTest, ARefusedImageIsTakenBack) {
  make_pod();
  become_ready();
  put("web:2");
  const Box<Resource> wanted = decide();
  const RecordPointer known = record();
  server_.fail(
      1,
      [](const kubernetes::ApiRequest& request) {
        return request.method == "PATCH" && request.body.find("web:2\"") != std::string::npos &&
               request.target.find("/status") == std::string::npos;
      },
      {.status = 403, .body = json(R"({"kind":"Status","status":"Failure","reason":"Forbidden",
        "code":403,"message":"images of web are not allowed"})")});
  const Outcome outcome = act(Verb::update, *wanted, known);
  ASSERT_TRUE(std::holds_alternative<Failed>(outcome));
  EXPECT_EQ(std::get<Failed>(outcome).error.message, "images of web are not allowed");
  EXPECT_EQ(image(), "web:1");
  EXPECT_EQ(condition("InPlaceUpdateReady"), "True");
  EXPECT_EQ(record()->applied->attributes, known->applied->attributes);
}

TEST_F(KubernetesDriverTest, OnlyThePodThatIsKnownIsRemoved) {
  const Box<Resource> pod = make_pod();
  auto other = std::make_shared<Record>(*record());
  other->remote_id = "another";
  EXPECT_FALSE(std::get<Done>(act(Verb::remove, *pod, other)).changed);
  EXPECT_FALSE(stored().is_null());
  EXPECT_TRUE(std::get<Done>(act(Verb::remove, *pod, record())).changed);
  EXPECT_TRUE(stored().is_null());
}

/// A run may still know a workload that users have deleted without its pods and data.
TEST_F(KubernetesDriverTest, WhatAWorkloadThatIsGoneLeavesIsNotRemoved) {
  const Box<Resource> pod = make_pod();
  const RecordPointer known = record();
  Resource claim;
  claim.key = {"cluster", "claim", "|default/data"};
  VolumeClaim volume;
  volume.name = "data";
  volume.owner = owner;
  claim.attributes = write(volume);
  ASSERT_TRUE(std::get<Done>(act(Verb::create, claim)).changed);
  owners_.drop(owner);
  EXPECT_FALSE(std::get<Done>(act(Verb::remove, *pod, known)).changed);
  EXPECT_FALSE(std::get<Done>(act(Verb::remove, claim)).changed);
  EXPECT_FALSE(stored().is_null());
  EXPECT_TRUE(client_.get(types::claims, {"default", "data"}, {}));
}

TEST_F(KubernetesDriverTest, APodOfOthersThatHasAWantedNameStays) {
  const Box<Resource> pod = decide();
  name_ = {"default", read<Pod>(pod->attributes).name.get().str()};
  const auto foreign = client_.create(
      types::pods, {"default", ""},
      json(cat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name_.name,
               R"(","namespace":"default"},"spec":{"containers":[{"name":"x","image":"x"}]}})")),
      {}, {});
  ASSERT_TRUE(foreign) << to_string(foreign.error());
  objects_.take_answer(types::pods.kind, *foreign);
  for (const Verb verb : {Verb::create, Verb::replace})
    EXPECT_TRUE(std::holds_alternative<Skipped>(act(verb, *pod))) << static_cast<int>(verb);
  EXPECT_FALSE(std::get<Done>(act(Verb::remove, *pod)).changed);
  EXPECT_EQ(stored().at("metadata").at("uid"), foreign->at("metadata").at("uid"));
}

TEST_F(KubernetesDriverTest, WhatWaitsForLongIsLeftForAnotherRun) {
  const Box<Resource> pod = decide();
  owners_.drop(owner);
  owners_.put(workload_with("web:1"));  // whose revision is not stored
  Act late;
  late.verb = Verb::create;
  late.key = pod->key;
  late.attributes = pod->attributes;
  const auto outcome_of_call = [&](int number) {
    late.attempt = number;
    return *driver_.apply(late, {}, {});
  };
  EXPECT_TRUE(std::holds_alternative<Pending>(outcome_of_call(1)));
  EXPECT_TRUE(std::holds_alternative<Skipped>(outcome_of_call(100)));
}

TEST_F(KubernetesDriverTest, AClaimThatGoesWithItsOwnerGetsItsReferenceBack) {
  decide();
  Resource claim;
  claim.key = {"cluster", "claim", "|default/data"};
  VolumeClaim volume;
  volume.name = "data";
  volume.space = "default";
  volume.owner = owner;
  volume.retain = false;
  claim.attributes = write(volume);
  ASSERT_TRUE(std::get<Done>(act(Verb::create, claim)).changed);
  EXPECT_FALSE(std::get<Done>(act(Verb::update, claim)).changed);
  const auto taken = client_.patch(types::claims, {"default", "data"}, kubernetes::PatchType::merge,
                                   json(R"({"metadata":{"ownerReferences":null}})"), {}, {});
  ASSERT_TRUE(taken) << to_string(taken.error());
  objects_.take_answer(types::claims.kind, *taken);
  EXPECT_TRUE(std::get<Done>(act(Verb::update, claim)).changed);
  const auto now = client_.get(types::claims, {"default", "data"}, {});
  EXPECT_EQ(items_of(now->at("metadata").at("ownerReferences")).size(), 1u);
}

TEST_F(KubernetesDriverTest, ALookOnlyTellsWhetherAPodExists) {
  const Box<Resource> pod = make_pod();
  become_ready();
  Resource none = *pod;
  none.key.name = "|default/other";
  const std::vector<Subject> subjects{{pod->key, &*pod, record()}, {none.key, &none, nullptr}};
  const auto seen = driver_.observe(subjects, {});
  ASSERT_TRUE(seen);
  ASSERT_TRUE((*seen)[0].state);
  EXPECT_FALSE((*seen)[1].state);
  EXPECT_EQ(pod_kind().compare(*record(), (*seen)[0], Presence::running).verb, Verb::keep);
}

TEST_F(KubernetesDriverTest, ARevisionOfASidecarSetStandsWithTheManager) {
  const auto read = workloads::read_manifests(
      R"({"apiVersion":"apps.kruise.io/v1beta1","kind":"SidecarSet","metadata":{"name":"logs"},
        "spec":{"selector":{"matchLabels":{"app":"web"}},
        "containers":[{"name":"log","image":"log:1"}]}})",
      "logs.json", {});
  workloads::Object set = read.objects.at(0);
  set.uid = "uid-of-logs";
  owners_.put(set);
  fleet_.put(set);
  const workloads::Wanted wanted = workloads::want(fleet_, "SidecarSet//logs", now_);
  ASSERT_EQ(wanted.resources.size(), 1u);
  const Resource& resource = *wanted.resources[0];
  EXPECT_EQ(std::get<Failed>(act(Verb::run, resource)).error.message,
            "there is no namespace `kruise-system` for revisions of SidecarSets; `kubectl create "
            "namespace kruise-system` makes it");
  make_manager_space();
  EXPECT_TRUE(std::get<Done>(act(Verb::run, resource)).changed);
  const std::vector<Value> objects = objects_.all(types::revisions.kind);
  ASSERT_EQ(objects.size(), 1u);
  EXPECT_EQ(objects[0].at("metadata").text_at("namespace"), "kruise-system");
  const auto revision = cluster::read_revision(objects[0], "uid-of-logs");
  ASSERT_TRUE(revision) << to_string(revision.error());
  EXPECT_EQ(write(*revision), resource.attributes);
  EXPECT_EQ(cluster::record_of(*revision, "cluster")->applied->key, resource.key);
  EXPECT_FALSE(std::get<Done>(act(Verb::run, resource)).changed);
}

TEST_F(KubernetesDriverTest, APodOfOthersIsOnlyEverUpdated) {
  const auto manifests = workloads::read_manifests(
      R"({"apiVersion":"apps.kruise.io/v1beta1","kind":"SidecarSet","metadata":{"name":"logs"},
        "spec":{"selector":{"matchLabels":{"app":"web"}},"containers":[
          {"name":"log","image":"log:2"}]}})",
      "logs.json", {});
  owners_.put(manifests.objects.at(0));
  name_ = {"default", "single"};
  const std::string parts = R"([{\"name\":\"logs\",\"revision\":\"logs-1\",\"containers\":[)"
                            R"({\"name\":\"log\",\"image\":\"log:1\"}]}])";
  const Value made = json(cat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"single",
    "labels":{"app":"web"},"annotations":{"kruise.io/sidecarset-injected-list":"logs",
    "fettle/sidecars":")",
                              parts, R"("}},"spec":{"containers":[
    {"name":"c","image":"web:1"},{"name":"log","image":"log:1"}]}})"));
  ASSERT_TRUE(client_.create(types::pods, name_, made, {}, {}));
  objects_.take_answer(types::pods.kind, stored());
  const auto record_now = [&] {
    return cluster::read_pod_of_others(stored(), {"cluster", cluster::driver_name, owners_})
        ->record;
  };
  const RecordPointer known = record_now();
  Resource wanted = *known->applied;
  Pod pod = read<Pod>(wanted.attributes);
  pod.sidecars = json(R"([{"name":"logs","revision":"logs-2","containers":[
    {"name":"log","image":"log:2"}],"last":{"log":{"image_id":"i1"}}}])");
  wanted.attributes = write(pod);

  EXPECT_TRUE(std::holds_alternative<Skipped>(act(Verb::create, wanted, known)));
  EXPECT_TRUE(std::holds_alternative<Skipped>(act(Verb::replace, wanted, known)));
  patch(R"({"status":{"podIP":"10.0.0.7"}})", "status");
  EXPECT_TRUE(std::get<Done>(act(Verb::update, wanted, known)).changed);
  EXPECT_EQ(image(), "web:1");
  EXPECT_EQ(items_of(stored().at("spec").at("containers"))[1].text_at("image"), "log:2");
  EXPECT_EQ(record_now()->applied->attributes, wanted.attributes);
  EXPECT_FALSE(std::get<Done>(act(Verb::update, wanted, known)).changed);

  EXPECT_FALSE(std::get<Done>(act(Verb::remove, wanted, record_now())).changed);
  EXPECT_FALSE(stored().is_null());
  patch(R"({"metadata":{"labels":{"app":"other"}}})");
  objects_.take_answer(types::pods.kind, stored());
  EXPECT_TRUE(std::holds_alternative<Skipped>(act(Verb::update, wanted, known)));
}

TEST_F(KubernetesDriverTest, ARevisionIsWrittenOnce) {
  decide();
  const std::vector<Value> objects = objects_.all(types::revisions.kind);
  ASSERT_EQ(objects.size(), 1u);
  ControllerRevision revision = *cluster::read_revision(objects[0]);
  Resource resource;
  resource.key = {"cluster", "revision", cat("default/", revision.name)};
  resource.attributes = write(revision);
  const size_t before = server_.requests();
  EXPECT_FALSE(std::get<Done>(act(Verb::run, resource)).changed);
  EXPECT_EQ(server_.requests(), before) << "it is as wanted";
  revision.number = 9;
  resource.attributes = write(revision);
  EXPECT_TRUE(std::get<Done>(act(Verb::run, resource)).changed);
  EXPECT_EQ(objects_.all(types::revisions.kind)[0].integer_at("revision"), 9);
}

}  // namespace
}  // namespace fettle
