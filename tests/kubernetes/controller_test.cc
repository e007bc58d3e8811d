/// What a controller of a cluster does for its workloads, as users see it.

#include "tests/kubernetes/cluster_controller.h"

namespace fettle {
namespace {

TEST_F(ClusterController, PodsAreMadeAndBecomeReady) {
  const auto keeping = controller();
  make(3, "web:1");
  ASSERT_TRUE(await_rollout(3, "web:1")) << write_json(status());
  EXPECT_EQ(revisions(), 1u);
  EXPECT_EQ(status().integer_at("observedGeneration"), 1);
  EXPECT_EQ(status().at("currentRevision"), status().at("updateRevision"));
}

/// The server says which fields a pod may have, also those that no engine has or nobody knows yet.
TEST_F(ClusterController, PodsHaveAllThatTheirTemplateSays) {
  const auto keeping = controller();
  const Value spec = json(R"({"replicas":1,"selector":{"matchLabels":{"app":"web"}},"template":{
      "metadata":{"labels":{"app":"web"}},"spec":{
        "volumes":[{"name":"share","nfs":{"server":"files","path":"/"}},
          {"name":"token","projected":{"sources":[{"serviceAccountToken":{"path":"t"}}]}},
          {"name":"data","persistentVolumeClaim":{"claimName":"d"}}],
        "resourceClaims":[{"name":"gpu","resourceClaimName":"g"}],"future":{"field":1},
        "containers":[{"name":"c","image":"web:1","readinessProbe":{"grpc":{"port":1}},
          "resources":{"claims":[{"name":"gpu"}]},"volumeDevices":[{"name":"b","devicePath":"/b"}],
          "volumeMounts":[{"name":"data","mountPath":"/d","subPathExpr":"$(POD)/x"},
            {"name":"share","mountPath":"/s","subPath":"part"}]}]}}})");
  const auto made =
      client_->create(types::clone_sets, {"default", ""},
                      Value::dict({{"apiVersion", "apps.kruise.io/v1beta1"},
                                   {"kind", "CloneSet"},
                                   {"metadata", json(R"({"name":"web","namespace":"default"})")},
                                   {"spec", spec}}),
                      {}, {});
  ASSERT_TRUE(made) << to_string(made.error());
  ASSERT_TRUE(await_rollout(1, "web:1")) << write_json(status());
  const Value pod = pods()[0].at("spec"), wanted = spec.at("template").at("spec");
  for (const char* const field : {"resourceClaims", "future", "volumes"})
    EXPECT_EQ(pod.at(field), wanted.at(field));
  const Value container = items_of(pod.at("containers"))[0],
              main = items_of(wanted.at("containers"))[0];
  for (const char* const field : {"readinessProbe", "resources", "volumeDevices", "volumeMounts"})
    EXPECT_EQ(container.at(field), main.at(field));
}

TEST_F(ClusterController, AManifestThatIsWrongStandsInTheStatusAndPodsGoOn) {
  const auto say = [&](std::string_view policy) {
    const auto answer = client_->patch(
        types::clone_sets, web_, kubernetes::PatchType::merge,
        json(cat(R"({"spec":{"template":{"spec":{"restartPolicy":)", policy, "}}}}")), {}, {});
    ASSERT_TRUE(answer) << to_string(answer.error());
  };
  const auto is_told = [&] {
    return std::string(status().text_at("reason")).ends_with("must be Always");
  };
  const std::set<std::string> before = [&] {
    const auto keeping = controller();
    make(2, "web:1");
    EXPECT_TRUE(await_rollout(2, "web:1"));
    say("\"Never\"");
    EXPECT_TRUE(await([&] { return is_told(); }));
    return uids();
  }();
  const auto keeping = controller();
  say("null");
  EXPECT_TRUE(await([&] { return !is_told(); })) << write_json(status());
  EXPECT_EQ(uids(), before);
}

TEST_F(ClusterController, AnUpdateInPlaceKeepsPodsAndTheirNumber) {
  const auto keeping = controller();
  make(3, "web:1");
  ASSERT_TRUE(await_rollout(3, "web:1"));
  const std::set<std::string> before = uids();
  kubelet_.take_least_ready();
  set_image("web:2");
  ASSERT_TRUE(await_rollout(3, "web:2")) << write_json(status());
  EXPECT_EQ(uids(), before);
  EXPECT_GE(kubelet_.take_least_ready(), 2);
  EXPECT_EQ(revisions(), 2u);
}

TEST_F(ClusterController, TheNextControllerGoesOn) {
  auto keeping = controller();
  make(5, "web:1");
  ASSERT_TRUE(await_rollout(5, "web:1"));
  const std::set<std::string> before = uids();
  set_image("web:2");
  ASSERT_TRUE(await([&] { return pods_with("web:2") > 0; }));
  keeping.reset();
  keeping = controller();
  ASSERT_TRUE(await_rollout(5, "web:2")) << write_json(status());
  EXPECT_EQ(uids(), before);
}

TEST_F(ClusterController, ABrokenImageStopsTheRolloutAndCanBeUndone) {
  const auto keeping = controller();
  make(3, "web:1");
  ASSERT_TRUE(await_rollout(3, "web:1"));
  set_image("broken");
  ASSERT_TRUE(await([&] { return pods_with("broken") == 1 && has_status("readyReplicas", 2); }));
  ASSERT_TRUE(pause_for(500ms, {}));
  EXPECT_EQ(pods_with("broken"), 1u);
  set_image("web:1");
  ASSERT_TRUE(await_rollout(3, "web:1")) << write_json(status());
}

TEST_F(ClusterController, ADeletedPodIsReplaced) {
  const auto keeping = controller();
  make(2, "web:1");
  ASSERT_TRUE(await_rollout(2, "web:1"));
  const std::set<std::string> before = uids();
  const Value pod = pods().at(0);
  ASSERT_TRUE(client_->remove(
      types::pods, {"default", std::string(pod.at("metadata").text_at("name"))}, {}, {}));
  ASSERT_TRUE(await([&] { return uids() != before && pods().size() == 2; }));
  EXPECT_TRUE(await_rollout(2, "web:1")) << write_json(status());
}

/// `kubectl delete --cascade=orphan`, and the set is made again: before the controller begins, or
/// while it keeps the others.
TEST_F(ClusterController, AStatefulSetTakesOverItsOrphans) {
  auto keeping = controller();
  make_set(2);
  ASSERT_TRUE(await([&] { return status_of_set().integer_at("readyReplicas") == 2; }));
  const std::set<std::string> before = uids();
  const ObjectName db{"default", "db"};
  for (const bool is_away : {false, true}) {
    if (is_away)
      keeping.reset();
    ASSERT_TRUE(client_->remove(types::stateful_sets, db, {}, {}));
    for (const auto& type : {types::pods, types::revisions}) {
      const auto listed = client_->list(type, "default", {}, {});
      ASSERT_TRUE(listed);
      for (const Value& each : listed->items)
        ASSERT_TRUE(client_->patch(type,
                                   {"default", std::string(each.at("metadata").text_at("name"))},
                                   kubernetes::PatchType::merge,
                                   json(R"({"metadata":{"ownerReferences":null}})"), {}, {}));
    }
    ASSERT_TRUE(pause_for(500ms, {}));
    make_set(2);
    if (is_away)
      keeping = controller();
    const auto uid = client_->get(types::stateful_sets, db, {})->at("metadata").at("uid");
    EXPECT_TRUE(await([&] {
      const std::vector<Value> all = pods();
      return status_of_set().integer_at("readyReplicas") == 2 &&
             std::ranges::all_of(all, [&](const Value& pod) {
               const auto owners = items_of(pod.at("metadata").at("ownerReferences"));
               return owners.size() == 1 && owners[0].at("uid") == uid;
             });
    })) << is_away;
    EXPECT_EQ(uids(), before);
    EXPECT_EQ(revisions(), 1u);
  }
}

/// Its workload wants the same as before.
TEST_F(ClusterController, ARevisionThatIsDeletedComesBack) {
  const auto keeping = controller();
  make_set(2);
  ASSERT_TRUE(await([&] { return status_of_set().integer_at("readyReplicas") == 2; }));
  const std::set<std::string> before = uids();
  const auto revision = [&] {
    const auto listed = client_->list(types::revisions, "default", {}, {});
    return listed && listed->items.size() == 1 ? listed->items[0].at("metadata") : Value();
  };
  const Value first = revision();
  ASSERT_FALSE(first.is_null());
  ASSERT_TRUE(
      client_->remove(types::revisions, {"default", std::string(first.text_at("name"))}, {}, {}));
  EXPECT_TRUE(await([&] {
    const Value now = revision();
    return !now.is_null() && now.at("uid") != first.at("uid");
  }));
  ASSERT_TRUE(pause_for(300ms, {}));
  EXPECT_EQ(uids(), before);
}

/// Without it nobody knows which template a pod has.
TEST_F(ClusterController, PodsWithoutTheirRevisionAreReplacedAsTheBudgetAllows) {
  const auto keeping = controller();
  make(3, "web:1");
  ASSERT_TRUE(await_rollout(3, "web:1"));
  kubelet_.take_least_ready();
  for (const Value& pod : pods())
    ASSERT_TRUE(client_->patch(
        types::pods, {"default", std::string(pod.at("metadata").text_at("name"))},
        kubernetes::PatchType::merge,
        json(R"({"metadata":{"labels":{"controller-revision-hash":null}}})"), {}, {}));
  EXPECT_TRUE(await([&] {
    const std::vector<Value> all = pods();
    return all.size() == 3 && has_status("updatedReadyReplicas", 3) &&
           std::ranges::all_of(all, [](const Value& pod) {
             return pod.at("metadata").at("labels").find("controller-revision-hash") != nullptr;
           });
  })) << write_json(status());
  EXPECT_GE(kubelet_.take_least_ready(), 2);
}

TEST_F(ClusterController, ReplicasCanBeChanged) {
  const auto keeping = controller();
  make(1, "web:1");
  ASSERT_TRUE(await_rollout(1, "web:1"));
  change(R"({"replicas":4})");
  ASSERT_TRUE(await_rollout(4, "web:1"));
  change(R"({"replicas":2})");
  ASSERT_TRUE(await_rollout(2, "web:1")) << write_json(status());
}

/// A record that never equals its wish would be written for ever.
TEST_F(ClusterController, NothingIsWrittenOnceAllIsAsWanted) {
  const auto keeping = controller();
  make(
      2, "web:1",
      R"(,"lifecycle":{"inPlaceUpdate":{"labelsHandler":{"hold":"true"},"markPodNotReady":true}})");
  ASSERT_TRUE(await_rollout(2, "web:1")) << write_json(status());
  const Value pod = pods().at(0);
  EXPECT_EQ(items_of(pod.at("spec").at("readinessGates")).size(), 2u);
  ASSERT_TRUE(pause_for(500ms, {}));
  const std::set<std::string> before = versions();
  ASSERT_TRUE(pause_for(1s, {}));
  EXPECT_EQ(versions(), before);
}

TEST_F(ClusterController, OnlyTheOneWithTheLeaseActs) {
  auto first = controller("first");
  make(2, "web:1");
  ASSERT_TRUE(await_rollout(2, "web:1"));
  const auto second = controller("second");
  const auto holder = [&] {
    const auto lease = client_->get(kubernetes::types::leases, lease_, {});
    return lease ? std::string(lease->at("spec").text_at("holderIdentity")) : std::string();
  };
  EXPECT_EQ(holder(), "first");
  first.reset();
  set_image("web:2");
  EXPECT_TRUE(await_rollout(2, "web:2")) << write_json(status());
  EXPECT_EQ(holder(), "second");
}

TEST_F(ClusterController, PodsOfAStatefulSetComeOneAfterTheOther) {
  const auto keeping = controller();
  const ObjectName db{"default", "db"};
  const auto made = client_->create(types::stateful_sets, {"default", ""}, json(R"({
      "apiVersion":"apps.kruise.io/v1beta1","kind":"StatefulSet",
      "metadata":{"name":"db","namespace":"default"},
      "spec":{"replicas":3,"serviceName":"data","selector":{"matchLabels":{"app":"db"}},
        "template":{"metadata":{"labels":{"app":"db"}},
          "spec":{"containers":[{"name":"c","image":"db:1",
            "volumeMounts":[{"name":"data","mountPath":"/data"}]}]}},
        "volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{
          "accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}],
        "updateStrategy":{"rollingUpdate":{"podUpdatePolicy":"InPlaceIfPossible"}}}})"),
                                    {}, {});
  ASSERT_TRUE(made) << to_string(made.error());
  const auto is_through = [&](std::string_view image) {
    return await([&] {
      const auto set = client_->get(types::stateful_sets, db, {});
      return set && set->at("status").integer_at("updatedReadyReplicas", -1) == 3 &&
             pods_with(image) == 3;
    });
  };
  ASSERT_TRUE(is_through("db:1"));
  std::map<std::string_view, Value> by_name;
  const std::vector<Value> first = pods();
  for (const Value& pod : first)
    by_name[pod.at("metadata").text_at("name")] = pod;
  ASSERT_EQ(by_name.size(), 3u);
  for (const char* name : {"db-0", "db-1", "db-2"}) {
    const Value& spec = by_name[name].at("spec");
    EXPECT_EQ(spec.text_at("hostname"), name);
    EXPECT_EQ(spec.text_at("subdomain"), "data");
    EXPECT_EQ(items_of(spec.at("volumes"))[0].at("persistentVolumeClaim").text_at("claimName"),
              cat("data-", name));
  }
  const auto claims = [&] {
    std::set<std::string> found;
    const auto listed = client_->list(types::claims, "default", {}, {});
    for (const Value& claim : listed ? listed->items : std::vector<Value>())
      found.emplace(claim.at("metadata").text_at("name"));
    return found;
  };
  const std::set<std::string> all_claims{"data-db-0", "data-db-1", "data-db-2"};
  EXPECT_EQ(claims(), all_claims);
  const std::set<std::string> before = uids();
  kubelet_.take_least_ready();
  ASSERT_TRUE(
      client_->patch(types::stateful_sets, db, kubernetes::PatchType::merge,
                     json(R"({"spec":{"template":{"spec":{"containers":[{"name":"c","image":"db:2",
          "volumeMounts":[{"name":"data","mountPath":"/data"}]}]}}}})"),
                     {}, {}));
  ASSERT_TRUE(is_through("db:2"));
  EXPECT_EQ(uids(), before);
  EXPECT_GE(kubelet_.take_least_ready(), 2);
  ASSERT_TRUE(pause_for(500ms, {}));
  const std::set<std::string> rest = versions();
  ASSERT_TRUE(pause_for(500ms, {}));
  EXPECT_EQ(versions(), rest);
  ASSERT_TRUE(client_->remove(types::stateful_sets, db, {}, {}));
  ASSERT_TRUE(pause_for(500ms, {}));
  EXPECT_EQ(claims(), all_claims) << "data outlives its workload";
}

TEST_F(ClusterController, ADaemonSetHasAPodOnEachNodeThatTakesIt) {
  const auto add_node = [&](std::string_view name, std::string_view more) {
    ASSERT_TRUE(client_->create(types::nodes, {},
                                json(cat(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")",
                                         name, R"("})", more, "}")),
                                {}, {}));
  };
  add_node("n1", "");
  add_node("n2", "");
  add_node("n3", R"(,"spec":{"taints":[{"key":"gpu","value":"a","effect":"NoSchedule"}]})");
  const auto keeping = controller();
  const ObjectName agent{"default", "agent"};
  const auto made = client_->create(types::daemon_sets, {"default", ""}, json(R"({
      "apiVersion":"apps.kruise.io/v1beta1","kind":"DaemonSet",
      "metadata":{"name":"agent","namespace":"default"},
      "spec":{"selector":{"matchLabels":{"app":"agent"}},
        "template":{"metadata":{"labels":{"app":"agent"}},
          "spec":{"containers":[{"name":"c","image":"agent:1"}]}},
        "updateStrategy":{"type":"RollingUpdate",
          "rollingUpdate":{"rollingUpdateType":"InPlaceIfPossible"}}}})"),
                                    {}, {});
  ASSERT_TRUE(made) << to_string(made.error());
  const auto is_through = [&](std::string_view image, int64_t count) {
    return await([&] {
      const auto set = client_->get(types::daemon_sets, agent, {});
      return set && set->at("status").integer_at("updatedNumberScheduled", -1) == count &&
             set->at("status").integer_at("numberReady", -1) == count &&
             pods_with(image) == static_cast<size_t>(count) && pods().size() == pods_with(image);
    });
  };
  const auto nodes = [&] {
    std::multiset<std::string> found;
    for (const Value& pod : pods())
      found.insert(cluster::node_of_spec(pod.at("spec")).str());
    return found;
  };
  ASSERT_TRUE(is_through("agent:1", 2));
  EXPECT_EQ(nodes(), (std::multiset<std::string>{"n1", "n2"}));
  const std::set<std::string> before = uids();
  ASSERT_TRUE(client_->patch(
      types::daemon_sets, agent, kubernetes::PatchType::merge,
      json(R"({"spec":{"template":{"spec":{"containers":[{"name":"c","image":"agent:2"}]}}}})"), {},
      {}));
  ASSERT_TRUE(is_through("agent:2", 2))
      << write_json(Value::list(pods()))
      << write_json(client_->get(types::daemon_sets, agent, {})->at("status"));
  EXPECT_EQ(uids(), before);
  add_node("n4", "");
  ASSERT_TRUE(is_through("agent:2", 3));
  EXPECT_EQ(nodes(), (std::multiset<std::string>{"n1", "n2", "n4"}));
  ASSERT_TRUE(client_->remove(types::nodes, {"", "n1"}, {}, {}));
  ASSERT_TRUE(is_through("agent:2", 2));
  EXPECT_EQ(nodes(), (std::multiset<std::string>{"n2", "n4"}));
}

/// They are the matter of the garbage collector, and a user may have asked it to leave them.
TEST_F(ClusterController, PodsOfADeletedWorkloadAreLeftAlone) {
  const auto keeping = controller();
  make(2, "web:1");
  ASSERT_TRUE(await_rollout(2, "web:1"));
  const std::set<std::string> before = uids();
  ASSERT_TRUE(client_->remove(types::clone_sets, web_, {}, {}));
  ASSERT_TRUE(pause_for(500ms, {}));
  EXPECT_EQ(uids(), before);
  EXPECT_EQ(revisions(), 1u);
}

TEST_F(ClusterController, ARefusedImageLeavesPodsAsTheyWere) {
  const auto keeping = controller();
  make(2, "web:1");
  ASSERT_TRUE(await_rollout(2, "web:1"));
  const std::set<std::string> before = uids();
  server_.with([](kubernetes::ApiServer& server) {
    server.fail(
        1'000,
        [](const kubernetes::ApiRequest& request) {
          return request.method == "PATCH" && request.target.find("/pods/") != std::string::npos &&
                 request.target.find("/status") == std::string::npos &&
                 request.body.find(R"("image":"web:2")") != std::string::npos;
        },
        {.status = 403, .body = json(R"({"kind":"Status","status":"Failure","reason":"Forbidden",
          "code":403,"message":"images of web are not allowed"})")});
  });
  set_image("web:2");
  EXPECT_TRUE(await([&] {
    return status().text_at("reason").find("images of web are not allowed") != std::string::npos;
  })) << write_json(status());
  EXPECT_TRUE(await([&] { return has_status("readyReplicas", 2); }));
  EXPECT_EQ(pods_with("web:1"), 2u);
  server_.with([](kubernetes::ApiServer& server) { server.stop_failing(); });
  EXPECT_TRUE(await_rollout(2, "web:2")) << write_json(status());
  EXPECT_EQ(uids(), before);
}

TEST_F(ClusterController, NewPodsGetTheSidecarsOfTheirNamespace) {
  ASSERT_TRUE(client_->patch(types::spaces, {"", "default"}, kubernetes::PatchType::merge,
                             json(R"({"metadata":{"labels":{"team":"a"}}})"), {}, {}));
  const auto keeping = controller();
  make_sidecars("log:1", R"(,"namespaceSelector":{"matchLabels":{"team":"a"}})");
  make_sidecars("trace:1", R"(,"namespaceSelector":{"matchLabels":{"team":"b"}})", "trace");
  make(2, "web:1");
  ASSERT_TRUE(await_rollout(2, "web:1")) << write_json(status());
  ASSERT_TRUE(await_sidecars(2, "log:1")) << write_json(sidecar_status());
  EXPECT_EQ(sidecar_status().integer_at("matchedPods"), 2);
  EXPECT_EQ(pods_with_sidecar("trace:1", "trace"), 0u);
  EXPECT_EQ(sidecar_status({"", "traces"}).integer_at("matchedPods", -1), 0);
  const auto kept = client_->list(types::revisions, "kruise-system", {}, {});
  ASSERT_TRUE(kept) << to_string(kept.error());
  ASSERT_EQ(kept->items.size(), 2u);
  EXPECT_EQ(std::ranges::count(kept->items, sidecar_status().at("latestRevision"),
                               [](const Value& each) { return each.at("metadata").at("name"); }),
            1);
  ASSERT_TRUE(pause_for(500ms, {}));
  const std::set<std::string> before = versions();
  ASSERT_TRUE(pause_for(1s, {}));
  EXPECT_EQ(versions(), before);
}

TEST_F(ClusterController, ASidecarChangesInPlaceOnePodAfterTheOther) {
  auto keeping = controller();
  make_sidecars("log:1");
  make(3, "web:1");
  ASSERT_TRUE(await_rollout(3, "web:1")) << write_json(status());
  ASSERT_TRUE(await_sidecars(3, "log:1")) << write_json(sidecar_status());
  const std::set<std::string> before = uids();
  ASSERT_TRUE(client_->patch(types::sidecar_sets, logs_, kubernetes::PatchType::merge,
                             json(R"({"spec":{"containers":[{"name":"log",
                               "podInjectPolicy":"AfterAppContainer","image":"log:2"}]}})"),
                             {}, {}));
  ASSERT_TRUE(await([&] { return sidecar_status().integer_at("updatedPods") > 0; }));
  keeping.reset();
  keeping = controller();
  ASSERT_TRUE(await_sidecars(3, "log:2")) << write_json(sidecar_status());
  EXPECT_EQ(uids(), before);
  EXPECT_EQ(pods_with("web:1"), 3u);
  EXPECT_EQ(revisions(), 1u) << "that of the workload";
  set_image("web:2");
  ASSERT_TRUE(await_rollout(3, "web:2")) << write_json(status());
  EXPECT_TRUE(await_sidecars(3, "log:2")) << write_json(sidecar_status());
  EXPECT_EQ(uids(), before);
}

TEST_F(ClusterController, WithoutItsAnnotationAPodCountsAsOneWithoutSidecars) {
  const auto keeping = controller();
  make_sidecars("log:1");
  make(2, "web:1");
  ASSERT_TRUE(await_rollout(2, "web:1")) << write_json(status());
  ASSERT_TRUE(await_sidecars(2, "log:1")) << write_json(sidecar_status());
  const std::set<std::string> before = uids();
  const Value pod = pods().at(0);
  ASSERT_TRUE(
      client_->patch(types::pods, {"default", std::string(pod.at("metadata").text_at("name"))},
                     kubernetes::PatchType::merge,
                     json(R"({"metadata":{"annotations":{"fettle/sidecars":null}}})"), {}, {}));
  ASSERT_TRUE(await([&] { return sidecar_status().integer_at("matchedPods") == 1; }));
  set_image("web:2");
  ASSERT_TRUE(await_rollout(2, "web:2")) << write_json(status());
  EXPECT_EQ(uids(), before);
  EXPECT_EQ(pods_with_sidecar("log:1"), 2u);
  EXPECT_EQ(sidecar_status().integer_at("matchedPods"), 1);
}

TEST_F(ClusterController, WhoeverTakesOneOfTwoSetsOutOfThatAnnotationKeepsTheOther) {
  const auto keeping = controller();
  make_sidecars("log:1");
  make_sidecars("trace:1", {}, "trace");
  make(2, "web:1");
  ASSERT_TRUE(await_rollout(2, "web:1")) << write_json(status());
  ASSERT_TRUE(await_sidecars(2, "log:1")) << write_json(sidecar_status());
  const ObjectName traces{"", "traces"};
  ASSERT_TRUE(await([&] { return sidecar_status(traces).integer_at("matchedPods") == 2; }));
  const std::set<std::string> before = uids();
  const Value metadata = pods().at(0).at("metadata");
  const auto sidecars = read_json(metadata.at("annotations").text_at("fettle/sidecars"));
  ASSERT_TRUE(sidecars);
  std::vector<Value> rest;
  for (const Value& each : items_of(*sidecars))
    if (each.text_at("name") != "traces")
      rest.push_back(each);
  ASSERT_EQ(rest.size(), 1u);
  const Value left = Value::dict({{"fettle/sidecars", write_json(Value::list(std::move(rest)))}});
  ASSERT_TRUE(client_->patch(
      types::pods, {"default", std::string(metadata.text_at("name"))}, kubernetes::PatchType::merge,
      Value::dict({{"metadata", Value::dict({{"annotations", left}})}}), {}, {}));
  ASSERT_TRUE(await([&] { return sidecar_status(traces).integer_at("matchedPods") == 1; }));
  set_image("web:2");
  ASSERT_TRUE(await_rollout(2, "web:2")) << write_json(status());
  EXPECT_EQ(uids(), before);
  EXPECT_EQ(sidecar_status().integer_at("matchedPods"), 2);
  EXPECT_EQ(sidecar_status(traces).integer_at("matchedPods"), 1);
}

TEST_F(ClusterController, PodsKeepTheSidecarsOfADeletedSet) {
  auto keeping = controller();
  make_sidecars("log:1");
  make(2, "web:1");
  ASSERT_TRUE(await_rollout(2, "web:1")) << write_json(status());
  ASSERT_TRUE(await_sidecars(2, "log:1")) << write_json(sidecar_status());
  const std::set<std::string> before = uids();
  keeping.reset();
  ASSERT_TRUE(client_->remove(types::sidecar_sets, logs_, {}, {}));
  change(R"({"replicas":3})");
  keeping = controller();
  ASSERT_TRUE(await_rollout(3, "web:1")) << write_json(status());
  EXPECT_EQ(pods_with_sidecar("log:1"), 2u);
  set_image("web:2");
  ASSERT_TRUE(await_rollout(3, "web:2")) << write_json(status());
  EXPECT_EQ(pods_with_sidecar("log:1"), 2u);
  EXPECT_TRUE(std::ranges::includes(uids(), before));
}

TEST_F(ClusterController, PodsOfOthersGetSidecarsByAPolicyOfTheSet) {
  const auto keeping = injecting_controller();
  make_sidecars("log:1");
  ASSERT_TRUE(await([&] { return injection_reason() == "PolicyInPlace"; }));
  EXPECT_EQ(injection_condition().text_at("status"), "True");
  EXPECT_TRUE(has_policy_with("log:1"));
  EXPECT_TRUE(has_policy_with(sidecar_status().text_at("latestRevision")));
  EXPECT_EQ(policy(types::policy_bindings).at("spec").text_at("policyName"),
            "fettle-sidecarset-logs");

  change_sidecars(R"({"containers":[{"name":"log","image":"log:2"}]})");
  ASSERT_TRUE(await([&] { return has_policy_with("log:2"); }));
  EXPECT_FALSE(has_policy_with("log:1"));
  const Value written = policy();
  ASSERT_TRUE(pause_for(1500ms, {}));
  EXPECT_EQ(policy(), written);  // once

  ASSERT_TRUE(client_->patch(types::policies, {"", "fettle-sidecarset-logs"},
                             kubernetes::PatchType::merge,
                             json(R"({"spec":{"failurePolicy":"Fail"}})"), {}, {}));
  ASSERT_TRUE(await([&] { return policy().at("spec") == written.at("spec"); }));

  change_sidecars(R"({"injectionStrategy":{"paused":true}})");
  ASSERT_TRUE(await([&] { return policy().is_null() && injection_reason() == "Paused"; }));
  ASSERT_TRUE(await([&] { return policy(types::policy_bindings).is_null(); }));
  change_sidecars(R"({"injectionStrategy":{"paused":false}})");
  ASSERT_TRUE(await([&] { return injection_reason() == "PolicyInPlace"; }));
  ASSERT_TRUE(client_->remove(types::sidecar_sets, logs_, {}, {}));
  EXPECT_TRUE(
      await([&] { return policy().is_null() && policy(types::policy_bindings).is_null(); }));
}

TEST_F(ClusterController, ThePolicyOfASetIsThatOfItsNamedRevision) {
  const auto keeping = injecting_controller();
  make_sidecars("log:1");
  ASSERT_TRUE(await([&] { return has_policy_with("log:1"); }));
  const std::string first(sidecar_status().text_at("latestRevision"));
  change_sidecars(cat(R"({"injectionStrategy":{"revision":{"revisionName":")", first,
                      R"(","policy":"Always"}},"containers":[{"name":"log","image":"log:2"}]})"));
  ASSERT_TRUE(await([&] {
    const Value now = sidecar_status();
    return !now.text_at("latestRevision").empty() && now.text_at("latestRevision") != first;
  }));
  ASSERT_TRUE(pause_for(1s, {}));
  EXPECT_TRUE(has_policy_with("log:1"));
  EXPECT_FALSE(has_policy_with("log:2"));
}

TEST_F(ClusterController, APolicyOfOthersIsLeftAlone) {
  const auto keeping = injecting_controller();
  ASSERT_TRUE(client_->create(types::policies, {}, json(R"({
      "apiVersion":"admissionregistration.k8s.io/v1","kind":"MutatingAdmissionPolicy",
      "metadata":{"name":"fettle-sidecarset-logs"},"spec":{"failurePolicy":"Fail"}})"),
                              {}, {}));
  make_sidecars("log:1");
  ASSERT_TRUE(await([&] { return injection_reason() == "NameTaken"; }));
  ASSERT_TRUE(pause_for(1s, {}));
  EXPECT_EQ(policy().at("spec"), json(R"({"failurePolicy":"Fail"})"));
  EXPECT_TRUE(policy(types::policy_bindings).is_null());
  ASSERT_TRUE(client_->remove(types::policies, {"", "fettle-sidecarset-logs"}, {}, {}));
  EXPECT_TRUE(await([&] { return injection_reason() == "PolicyInPlace"; }));
}

TEST_F(ClusterController, WhatAServerRefusesOfAPolicyIsSaid) {
  std::atomic<int> tries = 0;
  server_.with([&](kubernetes::ApiServer& server) {
    server.fail(
        1'000,
        [&tries](const kubernetes::ApiRequest& request) {
          const bool is_it = request.method == "POST" &&
                             request.target.find("/mutatingadmissionpolicies") != std::string::npos;
          tries += is_it ? 1 : 0;
          return is_it;
        },
        {.status = 422, .body = json(R"({"kind":"Status","status":"Failure","reason":"Invalid",
          "code":422,"message":"no such function"})")});
  });
  const auto keeping = injecting_controller();
  make_sidecars("log:1");
  ASSERT_TRUE(await([&] { return injection_reason() == "Refused"; }));
  const Value condition = injection_condition();
  EXPECT_NE(condition.text_at("message").find("no such function"), std::string_view::npos);
  ASSERT_TRUE(pause_for(1s, {}));
  EXPECT_LT(tries, 12);  // each after twice the pause of the one before
  server_.with([](kubernetes::ApiServer& server) { server.stop_failing(); });
  change_sidecars(R"({"containers":[{"name":"log","image":"log:2"}]})");
  EXPECT_TRUE(await([&] { return injection_reason() == "PolicyInPlace"; }));
}

TEST_F(ClusterController, WithoutPoliciesTheStatusSaysWhoGetsNoSidecars) {
  const auto keeping = controller();
  make_sidecars("log:1");
  ASSERT_TRUE(await([&] { return injection_reason() == "NotServed"; }));
  const Value condition = injection_condition();
  EXPECT_EQ(condition.text_at("status"), "False");
  EXPECT_NE(condition.text_at("message").find("pods of others get no sidecars"),
            std::string_view::npos);
}

TEST_F(ClusterController, AJobPullsOnTwoNodes) {
  add_ready_node("n1");
  add_ready_node("n2");
  kubernetes::PlayedDaemon daemon(*kubelets_client_);
  auto keeping = controller();
  daemon.hold(true);
  make_job("warm", R"({"image":"web:1","parallelism":2})");
  ASSERT_TRUE(await([&] { return job_status("warm").integer_at("active") == 2; }))
      << write_json(job_status("warm"));
  ASSERT_TRUE(await([&] { return has_order("n1", "web") && has_order("n2", "web"); }));
  // The next controller reads what was ordered.
  keeping.reset();
  keeping = controller();
  daemon.hold(false);
  ASSERT_TRUE(await([&] { return job_status("warm").integer_at("succeeded") == 2; }))
      << write_json(job_status("warm"));
  ASSERT_TRUE(await([&] { return !job_status("warm").text_at("completionTime").empty(); }));
  EXPECT_EQ(job_status("warm").text_at("message"), "job has completed");
  EXPECT_EQ(orders("n1").at("web").at("tags").items()[0].integer_at("version", -1), 0)
      << "it was ordered once";
  ASSERT_TRUE(client_->remove(types::pull_jobs, {"default", "warm"}, {}, {}));
  EXPECT_TRUE(await([&] { return !has_order("n1", "web") && !has_order("n2", "web"); }));
  ASSERT_TRUE(client_->remove(types::nodes, {"", "n1"}, {}, {}));
  EXPECT_TRUE(await([&] { return !client_->get(types::node_images, {"", "n1"}, {}); }));
}

/// For OpenKruise's daemon.
TEST_F(ClusterController, SecretsOfJobsAreCopiedWhileAJobNamesThem) {
  add_ready_node("n1");
  kubernetes::PlayedDaemon daemon(*kubelets_client_);
  daemon.hold(true);
  ASSERT_TRUE(client_->create(types::spaces, {}, json(R"({"apiVersion":"v1","kind":"Namespace",
      "metadata":{"name":"kruise-daemon-config"}})"),
                              {}, {}));
  ASSERT_TRUE(client_->create(types::secrets, {"default", ""}, json(R"({"apiVersion":"v1",
      "kind":"Secret","metadata":{"name":"key"},"data":{"login":"b25l"}})"),
                              {}, {}));
  const Controller keeping(server_.config(), home_.store(), home_.blobs(),
                           ClusterSettings{.client = {.qps = 0}, .copies_secrets = true});
  const ObjectName name = cluster::copy_of({"default", "key"});
  const auto is_there = [&] { return client_->get(types::secrets, name, {}).has_value(); };
  make_job("warm", R"({"image":"web:1","pullSecrets":["key","gone"]})");
  ASSERT_TRUE(await([&] { return has_order("n1", "web"); }));
  EXPECT_TRUE(is_there());
  EXPECT_EQ(orders("n1").at("web").at("pullSecrets"),
            Value::list({cluster::reference_to_copy(name)}));
  EXPECT_TRUE(await([&] {
    return job_status("warm").text_at("message").find(
               "pulled without Secret `default/gone`: it is not there") != std::string_view::npos;
  })) << write_json(job_status("warm"));
  // Another job names it as well.
  make_job("other", R"({"image":"side:1","pullSecrets":["key"]})");
  ASSERT_TRUE(await([&] { return has_order("n1", "side"); }));
  ASSERT_TRUE(client_->remove(types::pull_jobs, {"default", "warm"}, {}, {}));
  ASSERT_TRUE(await([&] { return !has_order("n1", "web"); }));
  EXPECT_TRUE(is_there());
  ASSERT_TRUE(client_->remove(types::pull_jobs, {"default", "other"}, {}, {}));
  EXPECT_TRUE(await([&] { return !is_there(); }));
}

/// Then it is not its user's any more, and goes, for the workload has no use for it.
TEST_F(ClusterController, AJobThatAWorkloadTakesOverHasNoOtherOwner) {
  add_ready_node("n1");
  kubernetes::PlayedDaemon daemon(*kubelets_client_);
  const auto keeping = controller();
  make(1, "web:1");
  ASSERT_TRUE(await_rollout(1, "web:1"));
  daemon.hold(true);
  make_job("warm", R"({"image":"warm:1"})");
  ASSERT_TRUE(await([&] { return has_order("n1", "warm"); }));
  const auto set = client_->get(types::clone_sets, web_, {});
  ASSERT_TRUE(set);
  const auto taken = client_->patch(
      types::pull_jobs, {"default", "warm"}, kubernetes::PatchType::merge,
      json(cat(R"({"metadata":{"ownerReferences":[{"apiVersion":"apps.kruise.io/v1beta1",
        "kind":"CloneSet","name":"web","controller":true,"uid":")",
               set->at("metadata").text_at("uid"), R"("}]}})")),
      {}, {});
  ASSERT_TRUE(taken) << to_string(taken.error());
  daemon.hold(false);
  EXPECT_TRUE(await([&] { return jobs().empty(); })) << write_json(Value::list(jobs()));
  EXPECT_TRUE(await([&] { return !has_order("n1", "warm"); }));
}

/// A watch may tell of it when its rollout has ended and nothing else is to be done.
TEST_F(ClusterController, AJobThatIsHeardOfLateIsRemoved) {
  add_ready_node("n1");
  const auto keeping = controller();
  make(1, "web:1");
  ASSERT_TRUE(await_rollout(1, "web:1"));
  const auto set = client_->get(types::clone_sets, web_, {});
  ASSERT_TRUE(set);
  const auto late = client_->create(
      types::pull_jobs, {"default", ""},
      json(cat(R"({"apiVersion":"apps.kruise.io/v1beta1","kind":"ImagePullJob",
        "metadata":{"name":"web-0-c","namespace":"default","ownerReferences":[{
          "apiVersion":"apps.kruise.io/v1beta1","kind":"CloneSet","name":"web","controller":true,
          "uid":")",
               set->at("metadata").text_at("uid"), R"("}]},"spec":{"image":"web:0"}})")),
      {}, {});
  ASSERT_TRUE(late) << to_string(late.error());
  EXPECT_TRUE(await([&] { return jobs().empty(); })) << write_json(Value::list(jobs()));
}

TEST_F(ClusterController, AListPullsEachOfItsImages) {
  add_ready_node("n1");
  kubernetes::PlayedDaemon daemon(*kubelets_client_);
  const auto keeping = controller();
  ASSERT_TRUE(client_->create(types::list_jobs, {"default", ""}, json(R"({
      "apiVersion":"apps.kruise.io/v1beta1","kind":"ImageListPullJob",
      "metadata":{"name":"list","namespace":"default"},
      "spec":{"images":["web:1","side:broken"],"pullPolicy":{"backoffLimit":0}}})"),
                              {}, {}));
  const auto list_status = [&] {
    const auto list = client_->get(types::list_jobs, {"default", "list"}, {});
    return list ? list->at("status") : Value();
  };
  ASSERT_TRUE(await([&] { return list_status().integer_at("completed") == 2; }))
      << write_json(list_status());
  EXPECT_EQ(list_status().integer_at("desired"), 2);
  EXPECT_EQ(list_status().integer_at("succeeded"), 1);
  EXPECT_EQ(items_of(list_status().at("failedImageStatuses")).size(), 1u);
  EXPECT_EQ(jobs().size(), 2u);
  EXPECT_TRUE(await([&] {
    return std::ranges::all_of(jobs(), [](const Value& job) {
      return !job.at("status").text_at("completionTime").empty();
    });
  })) << write_json(Value::list(jobs()));
}

/// Its job wants the same as before.
TEST_F(ClusterController, AnOrderThatOthersRemoveIsGivenAgain) {
  add_ready_node("n1");
  kubernetes::PlayedDaemon daemon(*kubelets_client_);
  const auto keeping = controller();
  daemon.hold(true);
  make_job("warm", R"({"image":"web:1"})");
  ASSERT_TRUE(await([&] { return job_status("warm").integer_at("active") == 1; }))
      << write_json(job_status("warm"));
  const auto removed = client_->patch(types::node_images, {"", "n1"}, kubernetes::PatchType::merge,
                                      json(R"({"spec":{"images":null}})"), {}, {});
  ASSERT_TRUE(removed) << to_string(removed.error());
  EXPECT_TRUE(await([&] { return has_order("n1", "web"); }));
  daemon.hold(false);
  EXPECT_TRUE(await([&] { return job_status("warm").integer_at("succeeded") == 1; }))
      << write_json(job_status("warm"));
}

TEST_F(ClusterController, AnUpdateInPlaceWaitsForItsImage) {
  add_ready_node("n1");
  kubernetes::PlayedDaemon daemon(*kubelets_client_);
  const auto keeping = controller();
  make(2, "web:1");
  ASSERT_TRUE(await_rollout(2, "web:1")) << write_json(status());
  bind_pods("n1", *keeping);
  daemon.hold(true);
  const auto waits =
      client_->patch(types::clone_sets, web_, kubernetes::PatchType::merge,
                     json(R"({"metadata":{"annotations":{"fettle/image-predownload-mode":"wait"}},
        "spec":{"template":{"spec":{"containers":[{"name":"c","image":"web:2"}]}}}})"),
                     {}, {});
  ASSERT_TRUE(waits) << to_string(waits.error());
  ASSERT_TRUE(await([&] { return has_order("n1", "web"); })) << write_json(status());
  ASSERT_TRUE(await([&] {
    return status().text_at("reason").find("pods wait for image web:2") != std::string::npos;
  })) << write_json(status());
  EXPECT_EQ(pods_with("web:2"), 0u);
  ASSERT_EQ(jobs().size(), 1u);
  const Value job = jobs().at(0);
  EXPECT_EQ(job.at("metadata").text_at("name"), cat(status().text_at("updateRevision"), "-c"));
  EXPECT_EQ(job.at("spec").text_at("image"), "web:2");
  ASSERT_TRUE(await(
      [&] { return job_status(job.at("metadata").text_at("name")).integer_at("active") == 1; }));
  daemon.hold(false);
  ASSERT_TRUE(await_rollout(2, "web:2")) << write_json(status());
  EXPECT_TRUE(await([&] { return jobs().empty() && !has_order("n1", "web"); }))
      << write_json(orders("n1"));
}

/// Also where nothing else is to be done any more.
TEST_F(ClusterController, AJobWhoseRemovalFailedIsRemovedLater) {
  add_ready_node("n1");
  kubernetes::PlayedDaemon daemon(*kubelets_client_);
  const auto keeping = controller();
  make(2, "web:1");
  ASSERT_TRUE(await_rollout(2, "web:1")) << write_json(status());
  bind_pods("n1", *keeping);
  std::atomic<int> tries = 0;
  server_.with([&](kubernetes::ApiServer& server) {
    server.fail(2,
                [&tries](const kubernetes::ApiRequest& request) {
                  const bool is_it = request.method == "DELETE" &&
                                     request.target.find("/imagepulljobs/") != std::string::npos;
                  tries += is_it ? 1 : 0;
                  return is_it;
                },
                {.status = 500, .body = json(R"({"kind":"Status","status":"Failure",
          "reason":"InternalError","code":500,"message":"etcd is away"})")});
  });
  const auto waits =
      client_->patch(types::clone_sets, web_, kubernetes::PatchType::merge,
                     json(R"({"metadata":{"annotations":{"fettle/image-predownload-mode":"wait"}},
        "spec":{"template":{"spec":{"containers":[{"name":"c","image":"web:2"}]}}}})"),
                     {}, {});
  ASSERT_TRUE(waits) << to_string(waits.error());
  ASSERT_TRUE(await_rollout(2, "web:2")) << write_json(status());
  EXPECT_TRUE(await([&] { return tries == 2 && jobs().empty(); })) << tries;
}

/// Nothing else happens meanwhile, so nothing else wakes the controller.
TEST_F(ClusterController, AJobGoesOnceItsTimeIsOver) {
  add_ready_node("n1");
  kubernetes::PlayedDaemon daemon(*kubelets_client_);
  const auto keeping = controller();
  make_job("warm", R"({"image":"web:7","completionPolicy":{"ttlSecondsAfterFinished":1}})");
  EXPECT_TRUE(await([&] { return !jobs().empty(); }));
  EXPECT_TRUE(await([&] { return jobs().empty(); })) << write_json(Value::list(jobs()));
}

TEST_F(ClusterController, APullThatFailsIsSaid) {
  add_ready_node("n1");
  kubernetes::PlayedDaemon daemon(*kubelets_client_);
  const auto keeping = controller();
  make_job("warm", R"({"image":"web:broken","completionPolicy":{"ttlSecondsAfterFinished":1}})");
  make(2, "web:1");
  ASSERT_TRUE(await_rollout(2, "web:1")) << write_json(status());
  bind_pods("n1", *keeping);
  const auto waits =
      client_->patch(types::clone_sets, web_, kubernetes::PatchType::merge,
                     json(R"({"metadata":{"annotations":{"fettle/image-predownload-mode":"wait"}},
        "spec":{"template":{"spec":{"containers":[{"name":"c","image":"side:broken"}]}}}})"),
                     {}, {});
  ASSERT_TRUE(waits) << to_string(waits.error());
  ASSERT_TRUE(await([&] {
    return status().text_at("reason").find("there is no such image") != std::string::npos;
  })) << write_json(status());
  EXPECT_EQ(status().text_at("phase"), "failed");
  EXPECT_EQ(pods_with("web:1"), 2u) << "no container was stopped";
  set_image("web:1");
  EXPECT_TRUE(await([&] { return jobs().empty() && status().text_at("phase") == "complete"; }))
      << write_json(status()) << write_json(Value::list(jobs()));
}

/// A namespace that is over its quota takes no requests from the rollouts of others.
TEST_F(ClusterController, WhatFailsIsNotTriedWithEachWishOfOthers) {
  std::atomic<int> tries = 0;
  server_.with([&](kubernetes::ApiServer& server) {
    server.fail(
        1'000'000,
        [&tries](const kubernetes::ApiRequest& request) {
          const bool is_it = request.method == "POST" &&
                             request.target.find("/pods") != std::string::npos &&
                             request.body.find(R"("db-0")") != std::string::npos;
          tries += is_it ? 1 : 0;
          return is_it;
        },
        {.status = 403, .body = json(R"({"kind":"Status","status":"Failure","reason":"Forbidden",
          "code":403,"message":"exceeded quota"})")});
  });
  const auto keeping = controller();
  make_set(1);
  ASSERT_TRUE(await([&] { return tries > 0; }));
  make(6, "web:1");
  ASSERT_TRUE(await_rollout(6, "web:1"));
  set_image("web:2");
  ASSERT_TRUE(await_rollout(6, "web:2")) << write_json(status());
  // Twelve tries, each after twice the pause of the one before, take more than an hour.
  EXPECT_LT(tries, 12);
  server_.with([](kubernetes::ApiServer& server) { server.stop_failing(); });
  // A change of the workload is tried at once.
  ASSERT_TRUE(client_->patch(types::stateful_sets, {"default", "db"}, kubernetes::PatchType::merge,
                             json(R"({"spec":{"replicas":2}})"), {}, {}));
  EXPECT_TRUE(await([&] { return status_of_set().integer_at("readyReplicas") == 2; }));
}

/// And nobody waits in a run for something that may stay for ever.
TEST_F(ClusterController, APodIsMadeWhenItsNameIsFree) {
  ASSERT_TRUE(client_->create(types::pods, {"default", ""},
                              json(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"db-0",
          "namespace":"default"},"spec":{"containers":[{"name":"x","image":"x"}]}})"),
                              {}, {}));
  const auto keeping = controller();
  make_set(2);
  ASSERT_TRUE(await([&] { return status_of_set().integer_at("readyReplicas") == 1; }));
  ASSERT_TRUE(client_->remove(types::pods, {"default", "db-0"}, {}, {}));
  EXPECT_TRUE(await([&] { return status_of_set().integer_at("readyReplicas") == 2; }));
}

TEST_F(ClusterController, ARefusedStatusIsNotTriedWithEachPod) {
  std::atomic<int> tries = 0;
  server_.with([&](kubernetes::ApiServer& server) {
    server.fail(
        1'000'000,
        [&tries](const kubernetes::ApiRequest& request) {
          const bool is_it = request.method == "PATCH" &&
                             request.target.find("/clonesets/web/status") != std::string::npos;
          tries += is_it ? 1 : 0;
          return is_it;
        },
        {.status = 422, .body = json(R"({"kind":"Status","status":"Failure","reason":"Invalid",
          "code":422,"message":"it has to be otherwise"})")});
  });
  const auto keeping = controller();
  make(6, "web:1");
  const auto are_ready_with = [&](std::string_view image) {
    return await([&] {
      const std::vector<Value> all = pods();
      return all.size() == 6 && pods_with(image) == 6 &&
             std::ranges::all_of(all, [](const Value& pod) {
               return std::ranges::any_of(
                   items_of(pod.at("status").at("conditions")), [](const Value& row) {
                     return row.text_at("type") == "Ready" && row.text_at("status") == "True";
                   });
             });
    });
  };
  ASSERT_TRUE(are_ready_with("web:1"));
  set_image("web:2");
  ASSERT_TRUE(are_ready_with("web:2"));
  // Ten tries, each after twice the pause of the one before, take eight minutes; two wishes.
  EXPECT_LT(tries, 12);
  server_.with([](kubernetes::ApiServer& server) { server.stop_failing(); });
  change(R"({"replicas":5})");
  EXPECT_TRUE(await([&] { return has_status("readyReplicas", 5); })) << write_json(status());
}

TEST_F(ClusterController, AServerThatForgetsAndCutsChangesNothing) {
  const auto keeping = controller();
  make(3, "web:1");
  ASSERT_TRUE(await_rollout(3, "web:1"));
  set_image("web:2");
  for (int i = 0; i < 2; ++i) {
    server_.with([&](kubernetes::ApiServer& server) {
      server.compact();
      server.cut_watches(i % 2 == 0);
    });
    ASSERT_TRUE(pause_for(50ms, {}));
  }
  EXPECT_TRUE(await_rollout(3, "web:2")) << write_json(status());
}

}  // namespace
}  // namespace fettle
