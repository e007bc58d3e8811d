/// What status says while a rollout goes on.

#include "workloads/decide/status.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "tests/workloads/world.h"
#include "value/json.h"

namespace fettle::workloads {
namespace {

constexpr std::string_view in_place_one =
    R"({"podUpdatePolicy":"InPlaceIfPossible","maxUnavailable":1)";

class Status : public testing::Test {
 protected:
  Status() { world.add_nodes(3); }
  void put(std::string_view image, std::string_view more = "",
           std::string_view annotations = "{}") {
    world.put(manifest("CloneSet", "web", clone_set_spec(3, image, cat(in_place_one, more, "}")),
                       annotations, ++generation));
    world.settle();
  }
  Value status() { return status_of(world.fleet, "CloneSet/default/web", world.now); }
  World world;
  int64_t generation = 0;
};

TEST_F(Status, CountsAndRevisions) {
  put("web:1");
  EXPECT_EQ(status().text_at("phase"), "complete");
  EXPECT_EQ(status().integer_at("observedGeneration"), 1);
  const std::string first(status().text_at("updateRevision"));
  world.ready_after = 5s;
  put("web:2", R"(,"partition":1)");
  const Value now = status();
  EXPECT_EQ(now.text_at("phase"), "progressing");
  EXPECT_EQ(now.integer_at("replicas"), 3);
  EXPECT_EQ(now.integer_at("readyReplicas"), 2);
  EXPECT_EQ(now.integer_at("updatedReplicas"), 1);
  EXPECT_EQ(now.integer_at("updatedReadyReplicas"), 0);
  EXPECT_EQ(now.integer_at("expectedUpdatedReplicas"), 2);
  EXPECT_EQ(now.text_at("currentRevision"), first);
  EXPECT_NE(now.text_at("updateRevision"), first);
  EXPECT_EQ(now.text_at("labelSelector"), "app=web");
  world.finish();
  EXPECT_EQ(status().text_at("phase"), "partitioned");
  EXPECT_EQ(status().text_at("currentRevision"), first);
  put("web:2");
  world.finish();
  EXPECT_EQ(status().text_at("phase"), "complete");
  EXPECT_NE(status().text_at("currentRevision"), first);
}

TEST_F(Status, AFailedPullNamesNodeAndReason) {
  const std::string wait = R"({"fettle/image-predownload-mode":"wait"})";
  put("web:1", "", wait);
  world.images_nowhere.insert("web:2");
  put("web:2", "", wait);
  world.pass(100);
  EXPECT_EQ(status().text_at("phase"), "failed");
  EXPECT_NE(status().text_at("reason").find("cannot be pulled on node n"), std::string_view::npos);
  EXPECT_NE(status().text_at("reason").find("manifest unknown"), std::string_view::npos);
  const Value now = status();
  const Value& pulls = now.at("imagePulls").items()[0];
  EXPECT_EQ(pulls.integer_at("nodes"), 3);
  EXPECT_EQ(pulls.integer_at("present"), 0);
  EXPECT_EQ(pulls.at("failed").items().size(), 3u);
  EXPECT_EQ(world.ready(), 3) << "nothing was disturbed";
}

TEST_F(Status, APodThatCannotBeUpdatedIsAsItWas) {
  put("web:1");
  world.images_nowhere.insert("web:2");
  put("web:2");
  EXPECT_EQ(status().integer_at("updatedReplicas"), 1);
  EXPECT_EQ(status().integer_at("readyReplicas"), 2);
  // The act could not pull the image, and left the pod alone.
  const std::vector<std::string> updating =
      world.pods([](const FleetPod& pod) { return pod.is_updating; });
  ASSERT_EQ(updating.size(), 1u);
  const Box<Resource> wanted = world.pod(updating[0]).resource;
  auto record = std::make_shared<Record>();
  record->applied = wanted;
  Attempt attempt;
  attempt.resource = wanted;
  attempt.verb = Verb::update;
  attempt.failed = true;
  attempt.error = "no such image";
  record->attempt = std::move(attempt);
  world.fleet.know(wanted->key, record);
  world.fleet.see(wanted->key,
                  *read_json(R"({"phase":"Running","conditions":[{"type":"Ready","status":"True",)"
                             R"("lastTransitionTime":"2026-01-01T00:00:01Z"}]})"));
  EXPECT_EQ(status().text_at("phase"), "failed");
  EXPECT_EQ(status().text_at("reason"), cat("pod ", updating[0], ": no such image"));
  EXPECT_EQ(status().integer_at("updatedReplicas"), 0);
  EXPECT_EQ(status().integer_at("readyReplicas"), 3);
}

TEST_F(Status, WhatCannotChangeInPlaceIsToldWithItsReason) {
  const auto put_only = [&](std::string_view command, int partition) {
    world.put(manifest(
        "CloneSet", "web",
        replace_all(
            clone_set_spec(3, "web:1",
                           cat(R"({"podUpdatePolicy":"InPlaceOnly","partition":)", partition, "}")),
            R"("image":"web:1")", cat(R"("image":"web:1","command":[")", command, "\"]")),
        "{}", ++generation));
    world.pass(20);
  };
  put_only("a", 0);
  EXPECT_EQ(status().text_at("phase"), "complete");
  put_only("b", 0);
  EXPECT_EQ(status().text_at("phase"), "failed");
  EXPECT_NE(status().text_at("reason").find("`spec.containers"), std::string_view::npos)
      << status().text_at("reason");
  const auto obstruction = obstruction_of(world.fleet, "CloneSet/default/web");
  ASSERT_TRUE(obstruction);
  EXPECT_TRUE(obstruction->is_final);
  put_only("b", 3);
  EXPECT_EQ(status().text_at("phase"), "partitioned");
  put_only("a", 0);
  EXPECT_EQ(status().text_at("phase"), "complete");
  EXPECT_FALSE(obstruction_of(world.fleet, "CloneSet/default/web"));
}

TEST_F(Status, AHookThatHoldsAPodIsNamed) {
  const auto put_hooked = [&](std::string_view image) {
    world.put(manifest(
        "CloneSet", "web",
        clone_set_spec(1, image, R"({"podUpdatePolicy":"InPlaceIfPossible"})",
                       R"(,"lifecycle":{"inPlaceUpdate":{"labelsHandler":{"app":"web"}}})"),
        "{}", ++generation));
    world.settle();
  };
  put_hooked("web:1");
  put_hooked("web:2");
  EXPECT_EQ(status().text_at("phase"), "progressing");
  EXPECT_EQ(status().text_at("reason"),
            cat("a lifecycle hook holds pod ", world.pods()[0], " in PreparingUpdate"));
}

// Whether it is ready is not known before it is looked at again.
TEST_F(Status, WhatWasSeenBeforeAnActEndedSaysNothing) {
  put("web:1");
  world.images_nowhere.insert("web:2");
  put("web:2");
  const std::vector<std::string> updating =
      world.pods([](const FleetPod& pod) { return pod.is_updating; });
  ASSERT_EQ(updating.size(), 1u);
  const FleetPod& pod = world.pod(updating[0]);
  const Key key = pod.resource->key;
  auto record = std::make_shared<Record>();
  record->applied = pod.resource;
  const auto as_ready =
      *read_json(R"({"phase":"Running","conditions":[{"type":"Ready","status":"True",)"
                 R"("lastTransitionTime":"2026-01-01T00:00:01Z"}]})");
  auto begun = std::make_shared<Record>(*record);
  Attempt attempt;
  attempt.resource = pod.resource;
  attempt.verb = Verb::replace;
  begun->attempt = std::move(attempt);
  world.fleet.know(key, begun);
  world.fleet.see(key, as_ready);
  EXPECT_EQ(readiness_of(world.fleet, pod), Readiness::not_ready) << "a gate is closed";
  world.fleet.know(key, record);
  EXPECT_EQ(pod.readiness, Readiness::unseen);
  world.fleet.see(key, as_ready);
  EXPECT_EQ(pod.readiness, Readiness::ready);
}

TEST_F(Status, WhyAPodIsNotReadyIsToldAsItWasSeen) {
  put("web:1");
  const FleetPod& pod = world.pod(world.pods()[0]);
  world.fleet.see(pod.resource->key,
                  read_json(R"({"phase":"Running","conditions":[{"type":"Ready","status":"False",)"
                            R"("message":"container `main`: it is slow"}]})")
                      .value_or(Value()));
  EXPECT_EQ(status().text_at("phase"), "progressing");
  EXPECT_EQ(status().text_at("reason"), cat("pod ", pod.name, ": container `main`: it is slow"));
}

TEST_F(Status, MoreThanThePartitionAsksForStaysUpdated) {
  put("web:1");
  put("web:2", R"(,"partition":1)");
  world.finish();
  EXPECT_EQ(status().text_at("phase"), "partitioned");
  put("web:2", R"(,"partition":2)");
  world.finish();
  EXPECT_EQ(status().integer_at("updatedReplicas"), 2);
  EXPECT_EQ(status().text_at("phase"), "partitioned");
}

TEST_F(Status, PausedIsAsAskedFor) {
  put("web:1");
  put("web:2", R"(,"paused":true)");
  EXPECT_EQ(status().text_at("phase"), "paused");
}

TEST_F(Status, JobsThatPullAheadAreShownAsJobs) {
  put("web:1");
  EXPECT_TRUE(jobs_of_rollouts(world.fleet).empty());
  world.images_nowhere.insert("web:2");
  put("web:2");
  const std::vector<Object> jobs = jobs_of_rollouts(world.fleet);
  ASSERT_EQ(jobs.size(), 1u);
  const Object& job = jobs[0];
  EXPECT_TRUE(job.owner().view().starts_with("ImagePullJob/default/web-")) << job.owner().str();
  EXPECT_EQ(owner_of_job(world.fleet, job.owner()), "CloneSet/default/web");
  EXPECT_TRUE(owner_of_job(world.fleet, "ImagePullJob/default/web").empty());
  const Value& owner = job.document.at("metadata").at("ownerReferences").items()[0];
  EXPECT_EQ(owner.text_at("name"), "web");
  EXPECT_EQ(owner.text_at("kind"), "CloneSet");
  EXPECT_EQ(job.document.at("spec").text_at("image"), "web:2");
  const Value& status = job.document.at("status");
  EXPECT_EQ(status.integer_at("desired"), 3);
  EXPECT_EQ(status.integer_at("succeeded"), 0);
  EXPECT_LE(job.created, world.now);
}

TEST_F(Status, AJobCountsItsNodes) {
  world.put(manifest("ImagePullJob", "job", R"({"image":"i:1","parallelism":2})"));
  world.pass(1);
  const auto job = [&] { return status_of(world.fleet, "ImagePullJob/default/job", world.now); };
  EXPECT_EQ(job().integer_at("desired"), 3);
  EXPECT_EQ(job().integer_at("active"), 2);
  EXPECT_EQ(node_image_of(world.fleet, "n1").at("pulls").items().size(), 1u);
  world.pass(60);
  EXPECT_EQ(job().integer_at("succeeded"), 3);
  EXPECT_EQ(job().text_at("phase"), "complete");
  EXPECT_EQ(node_image_of(world.fleet, "n1").at("images").entries().size(), 1u);
  EXPECT_TRUE(status_of(world.fleet, "CloneSet/default/none", world.now).is_null());
}

TEST_F(Status, APodOfALostNodeIsToldWithItsNode) {
  put("web:1");
  world.lose_node("n2");
  world.fleet.for_each_pod([&](const FleetPod& pod) {
    if (pod.node == "n2")
      world.fleet.see(pod.resource->key, std::nullopt);
  });
  EXPECT_EQ(status().text_at("phase"), "progressing");
  const std::string reason(status().text_at("reason"));
  EXPECT_TRUE(reason.starts_with("pod web-") && reason.ends_with(": node `n2` does not answer"))
      << reason;
}

class DaemonStatus : public Status {
 protected:
  void put_daemon(std::string_view image) {
    world.put(manifest(
        "DaemonSet", "agent",
        cat(R"({"selector":{"matchLabels":{"app":"web"}},"template":)", template_text(image), "}"),
        "{}", ++generation));
  }
  Value daemon_status() { return status_of(world.fleet, "DaemonSet/default/agent", world.now); }
};

TEST_F(DaemonStatus, ItIsCompleteWhenEachNodeThatItIsForHasAPod) {
  put_daemon("agent:1");
  EXPECT_EQ(daemon_status().text_at("phase"), "progressing") << "nothing is made yet";
  EXPECT_EQ(daemon_status().integer_at("desiredNumberScheduled"), 3);
  EXPECT_EQ(daemon_status().integer_at("currentNumberScheduled"), 0);
  EXPECT_EQ(daemon_status().integer_at("numberUnavailable"), 3);
  world.finish();
  const Value now = daemon_status();
  EXPECT_EQ(now.text_at("phase"), "complete");
  for (const char* field : {"desiredNumberScheduled", "currentNumberScheduled", "numberReady",
                            "updatedNumberScheduled", "numberAvailable"})
    EXPECT_EQ(now.integer_at(field), 3) << field;
  EXPECT_EQ(now.integer_at("numberUnavailable"), 0);
  EXPECT_EQ(now.integer_at("numberMisscheduled"), 0);
  world.add_nodes(1);
  EXPECT_EQ(daemon_status().text_at("phase"), "progressing");
  world.finish();
  EXPECT_EQ(daemon_status().integer_at("numberReady"), 4);
}

TEST_F(DaemonStatus, ANodeThatDoesNotAnswerIsMissed) {
  world.lose_node("n2");
  put_daemon("agent:1");
  world.pass(10);
  EXPECT_EQ(daemon_status().text_at("phase"), "progressing");
  EXPECT_EQ(daemon_status().text_at("reason"), "node `n2` does not answer, so it gets no pod");
  EXPECT_EQ(daemon_status().integer_at("numberReady"), 2);
  world.lose_node("n2", false);
  world.finish();
  EXPECT_EQ(daemon_status().text_at("phase"), "complete");
}

TEST_F(DaemonStatus, APodWhereNoneIsToBeIsMisscheduled) {
  put_daemon("agent:1");
  world.finish();
  Node node = world.fleet.nodes().begin()->second;
  node.is_draining = true;
  world.fleet.put_node(node);
  EXPECT_EQ(daemon_status().integer_at("numberMisscheduled"), 1);
  EXPECT_EQ(daemon_status().integer_at("desiredNumberScheduled"), 2);
}

}  // namespace
}  // namespace fettle::workloads
