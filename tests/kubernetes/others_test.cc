/// Sidecars of pods of others in a cluster: those that a policy has put in, and those of
/// OpenKruise's webhook. Neither is there in these tests, so the pods are made as they would leave
/// them.

#include "tests/kubernetes/cluster_controller.h"

namespace fettle {
namespace {

class PodsOfOthersInACluster : public ClusterController {
 protected:
  /// With the container `log`, as a policy leaves it. `more`: of its metadata.
  void make_single(std::string_view name, std::string_view image, std::string_view revision,
                   std::string_view more = "") {
    const std::string parts =
        write_json(json(cat(R"([{"name":"logs","revision":")", revision,
                            R"(","containers":[{"name":"log","image":")", image,
                            R"(","env":[{"name":"LENT","value":"a"}]}]}])")),
                   {.indent = 0});
    make_annotated(name, image,
                   cat(R"("kruise.io/sidecarset-injected-list":"logs","fettle/sidecars":)",
                       write_json(Value(parts))),
                   more);
  }
  /// As OpenKruise's webhook leaves it.
  void make_injected(std::string_view name, std::string_view image, std::string_view hash,
                     std::string_view revision) {
    const auto note = [&](std::string_view text) {
      return write_json(
          Value(cat(R"({"logs":{"hash":")", text,
                    R"(","sidecarSetName":"logs","controllerRevision":")", revision, R"("}})")));
    };
    make_annotated(
        name, image,
        cat(R"("kruise.io/sidecarset-injected-list":"logs","kruise.io/sidecarset-hash":)",
            note(hash), R"(,"kruise.io/sidecarset-hash-without-image":)", note("w")));
  }
  void make_annotated(std::string_view name, std::string_view image, std::string_view annotations,
                      std::string_view more = "") {
    const auto made = client_->create(
        types::pods, {"default", ""},
        json(cat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name,
                 R"(","namespace":"default","labels":{"app":"web"},"annotations":{)", annotations,
                 "}", more, R"(},"spec":{"containers":[{"name":"main","image":"web:1"},
          {"name":"log","image":")",
                 image, R"(","env":[{"name":"LENT","value":"a"}]}]}})")),
        {}, {});
    ASSERT_TRUE(made) << to_string(made.error());
  }
  Value pod(std::string_view name) {
    const auto found = client_->get(types::pods, {"default", std::string(name)}, {});
    return found ? *found : Value();
  }
  std::string sidecar_of(std::string_view name) {
    const Value found = pod(name);
    for (const Value& each : items_of(found.at("spec").at("containers")))
      if (each.text_at("name") == "log")
        return std::string(each.text_at("image"));
    return {};
  }
  Value note_on(std::string_view name, std::string_view annotation) {
    const Value found = pod(name);
    const auto read = read_json(found.at("metadata").at("annotations").text_at(annotation));
    return read ? read->at("logs") : Value();
  }
  void set_sidecar(std::string_view image, std::string_view more = "") {
    change_sidecars(cat(R"({"containers":[{"name":"log","podInjectPolicy":"AfterAppContainer",
      "image":")",
                        image, R"(")", more, "}]}"));
  }
  std::string revision() {
    const Value now = sidecar_status();
    return std::string(now.text_at("latestRevision"));
  }
  /// OpenKruise's hash of the set, which its webhook writes together with the containers.
  void note_hash(std::string_view hash, std::string_view image) {
    const auto changed = client_->patch(
        types::sidecar_sets, logs_, kubernetes::PatchType::merge,
        json(cat(R"({"metadata":{"annotations":{"kruise.io/sidecarset-hash":")", hash,
                 R"(","kruise.io/sidecarset-hash-without-image":"w"}},"spec":{"containers":[
          {"name":"log","podInjectPolicy":"AfterAppContainer","image":")",
                 image, R"("}]}})")),
        {}, {});
    ASSERT_TRUE(changed) << to_string(changed.error());
  }
};

TEST_F(PodsOfOthersInACluster, GetTheirTurnsTogetherWithThoseOfOurs) {
  auto keeping = controller();
  make_sidecars("log:1");
  make(2, "web:1");
  for (const char* name : {"a", "b", "c"})
    make_single(name, "log:1", revision());
  ASSERT_TRUE(await_sidecars(5, "log:1")) << write_json(sidecar_status());
  EXPECT_EQ(sidecar_status().integer_at("matchedPods"), 5);
  const std::set<std::string> before = uids();
  set_sidecar("log:2");
  ASSERT_TRUE(await([&] { return sidecar_status().integer_at("updatedPods") > 0; }));
  keeping.reset();
  keeping = controller();
  ASSERT_TRUE(await_sidecars(5, "log:2")) << write_json(sidecar_status());
  EXPECT_EQ(uids(), before);
  EXPECT_EQ(pods_with("web:1"), 5u);
  EXPECT_EQ(sidecar_status().integer_at("matchedPods"), 5);
  EXPECT_TRUE(await([&] { return sidecar_status().text_at("phase") == "complete"; }));
  const Value part =
      *read_json(pod("a").at("metadata").at("annotations").text_at("fettle/sidecars"));
  EXPECT_EQ(items_of(part)[0].text_at("revision"), revision());
  EXPECT_EQ(items_of(items_of(part)[0].at("containers"))[0].at("env"),
            json(R"([{"name":"LENT","value":"a"}])"));

  ASSERT_TRUE(pause_for(500ms, {}));
  const std::set<std::string> written = versions();
  ASSERT_TRUE(pause_for(1s, {}));
  EXPECT_EQ(versions(), written) << "nothing is written once all is as wanted";
}

TEST_F(PodsOfOthersInACluster, StayWhileTheirSetHoldsThem) {
  const auto keeping = controller();
  make_sidecars("log:1");
  for (const char* name : {"a", "b", "c"})
    make_single(name, "log:1", revision());
  ASSERT_TRUE(await_sidecars(3, "log:1")) << write_json(sidecar_status());
  change_sidecars(R"({"updateStrategy":{"paused":true,"partition":2}})");
  const std::string first = revision();
  set_sidecar("log:2");
  ASSERT_TRUE(await([&] { return revision() != first; }));
  ASSERT_TRUE(await([&] { return sidecar_status().text_at("phase") == "paused"; }));
  EXPECT_EQ(pods_with_sidecar("log:1"), 3u);
  change_sidecars(R"({"updateStrategy":{"paused":false}})");
  ASSERT_TRUE(await([&] { return sidecar_status().text_at("phase") == "partitioned"; }));
  EXPECT_EQ(pods_with_sidecar("log:1"), 2u);
  EXPECT_EQ(sidecar_status().integer_at("updatedReadyPods"), 1);
}

TEST_F(PodsOfOthersInACluster, StayIfMoreThanAnImageChanges) {
  const auto keeping = controller();
  make_sidecars("log:1");
  make_single("a", "log:1", revision());
  ASSERT_TRUE(await_sidecars(1, "log:1")) << write_json(sidecar_status());
  set_sidecar("log:2", R"(,"env":[{"name":"A","value":"b"}])");
  ASSERT_TRUE(await([&] {
    return sidecar_status().text_at("reason").find("1 pod stays unchanged until recreated") !=
           std::string_view::npos;
  })) << write_json(sidecar_status());
  EXPECT_EQ(sidecar_of("a"), "log:1");
}

TEST_F(PodsOfOthersInACluster, ThatAreNotSelectedAnyMoreOrAreBeingDeletedAreLeftAlone) {
  const auto keeping = controller();
  make_sidecars("log:1");
  make_single("a", "log:1", revision());
  make_single("b", "log:1", revision());
  make_single("c", "log:1", revision(), R"(,"finalizers":["example.com/held"])");
  ASSERT_TRUE(await_sidecars(3, "log:1")) << write_json(sidecar_status());
  ASSERT_TRUE(client_->patch(types::pods, {"default", "a"}, kubernetes::PatchType::merge,
                             json(R"({"metadata":{"labels":{"app":"other"}}})"), {}, {}));
  ASSERT_TRUE(client_->remove(types::pods, {"default", "c"}, {}, {}));
  ASSERT_TRUE(await([&] { return sidecar_status().integer_at("matchedPods") == 1; }));
  set_sidecar("log:2");
  ASSERT_TRUE(await([&] {
    return sidecar_of("b") == "log:2" && sidecar_status().integer_at("updatedReadyPods") == 1;
  })) << write_json(sidecar_status());
  ASSERT_TRUE(pause_for(500ms, {}));
  EXPECT_EQ(sidecar_of("a"), "log:1");
  EXPECT_EQ(sidecar_of("c"), "log:1");
  EXPECT_EQ(sidecar_status().integer_at("matchedPods"), 1);
}

TEST_F(PodsOfOthersInACluster, ARefusedWriteHoldsTheirSet) {
  const auto keeping = controller();
  make_sidecars("log:1");
  make_single("a", "log:1", revision());
  make_single("b", "log:1", revision());
  ASSERT_TRUE(await_sidecars(2, "log:1")) << write_json(sidecar_status());
  std::atomic<int> tries = 0;
  server_.with([&](kubernetes::ApiServer& server) {
    server.fail(
        1'000,
        [&tries](const kubernetes::ApiRequest& request) {
          const bool is_it = request.method == "PATCH" &&
                             request.target.find("/pods/") != std::string::npos &&
                             request.target.find("/status") == std::string::npos &&
                             request.body.find(R"("image":"log:2")") != std::string::npos;
          tries += is_it ? 1 : 0;
          return is_it;
        },
        {.status = 403, .body = json(R"({"kind":"Status","status":"Failure","reason":"Forbidden",
          "code":403,"message":"images of logs are not allowed"})")});
  });
  set_sidecar("log:2");
  ASSERT_TRUE(await([&] {
    return sidecar_status().text_at("reason").find("images of logs are not allowed") !=
           std::string_view::npos;
  })) << write_json(sidecar_status());
  make(1, "web:1");  // others go on
  EXPECT_TRUE(await_sidecars(1, "log:2")) << write_json(sidecar_status());
  EXPECT_EQ(sidecar_of("a"), "log:1");
  EXPECT_EQ(sidecar_of("b"), "log:1");
  EXPECT_LT(tries, 12) << "each after twice the pause of the one before";
  server_.with([](kubernetes::ApiServer& server) { server.stop_failing(); });
  EXPECT_TRUE(await_sidecars(3, "log:2")) << write_json(sidecar_status());
}

TEST_F(PodsOfOthersInACluster, OfOpenKruiseKeepItsHashesRight) {
  const auto keeping = controller();
  make_sidecars("log:1");
  note_hash("h1", "log:1");
  const std::string first = revision();
  make_injected("a", "log:1", "h1", first);
  make_injected("b", "log:1", "h1", "");  // before the status of the set had a revision
  ASSERT_TRUE(await_sidecars(2, "log:1")) << write_json(sidecar_status());
  note_hash("h2", "log:2");
  ASSERT_TRUE(await([&] { return sidecar_of("a") == "log:2"; })) << write_json(sidecar_status());
  ASSERT_TRUE(await([&] { return sidecar_status().integer_at("updatedReadyPods") == 1; }));
  const Value note = note_on("a", "kruise.io/sidecarset-hash");
  EXPECT_EQ(note.text_at("hash"), "h2") << write_json(pod("a"));
  EXPECT_EQ(note.text_at("controllerRevision"), revision());
  EXPECT_EQ(note_on("a", "kruise.io/sidecarset-hash-without-image").text_at("hash"), "w");
  const Value state = note_on("a", "kruise.io/sidecarset-inplace-update-state");
  EXPECT_EQ(state.text_at("revision"), "h2");
  EXPECT_EQ(state.at("lastContainerStatuses").at("log").text_at("imageID"), "sha256:log:1");
  EXPECT_EQ(sidecar_of("b"), "log:1") << "nobody knows any more of which revision it is";
  EXPECT_EQ(sidecar_status().integer_at("matchedPods"), 2);
}

TEST_F(PodsOfOthersInACluster, OutliveTheirSet) {
  const auto keeping = controller();
  make_sidecars("log:1");
  make_single("a", "log:1", revision());
  ASSERT_TRUE(await_sidecars(1, "log:1")) << write_json(sidecar_status());
  const Value before = pod("a");
  ASSERT_TRUE(client_->remove(types::sidecar_sets, logs_, {}, {}));
  ASSERT_TRUE(pause_for(1s, {}));
  EXPECT_EQ(pod("a"), before);
  make_sidecars("log:2", "", "other");  // the controller goes on
  EXPECT_EQ(pod("a"), before);
}

/// A StatefulSet that wants a pod of its name must not take it for its own before.
TEST_F(PodsOfOthersInACluster, OneIsLeftAloneUntilAStatefulSetTakesItOver) {
  const auto keeping = controller();
  make_sidecars("log:1");
  make_single("db-0", "log:1", revision());
  ASSERT_TRUE(await_sidecars(1, "log:1")) << write_json(sidecar_status());
  const std::set<std::string> before = uids();
  make_set(1);  // it selects `app: db`
  ASSERT_TRUE(await([&] { return status_of_set().integer_at("observedGeneration") > 0; }));
  ASSERT_TRUE(pause_for(500ms, {}));
  EXPECT_EQ(uids(), before);
  set_sidecar("log:2");
  ASSERT_TRUE(await_sidecars(1, "log:2")) << write_json(sidecar_status());
  EXPECT_EQ(uids(), before);
  ASSERT_TRUE(client_->patch(types::pods, {"default", "db-0"}, kubernetes::PatchType::merge,
                             json(R"({"metadata":{"labels":{"app":"db"}}})"), {}, {}));
  EXPECT_TRUE(await([&] { return status_of_set().integer_at("readyReplicas") == 1; }))
      << write_json(status_of_set());
}

TEST_F(PodsOfOthersInACluster, SecretsForPullsComeToPodsOfOursAsWell) {
  const auto keeping = controller();
  make_sidecars("log:1", R"(,"imagePullSecrets":[{"name":"key"}])");
  make(1, "web:1");
  ASSERT_TRUE(await_sidecars(1, "log:1")) << write_json(sidecar_status());
  EXPECT_EQ(pods().at(0).at("spec").at("imagePullSecrets"), json(R"([{"name":"key"}])"));
}

}  // namespace
}  // namespace fettle
