/// ImagePullJobs of users. Numbers are those of the scenarios.

#include "workloads/decide/pulls.h"

#include <gtest/gtest.h>

#include "core/open_payload.h"
#include "tests/workloads/world.h"
#include "workloads/decide/status.h"

namespace fettle::workloads {
namespace {

class PullJob : public testing::Test {
 protected:
  PullJob() { world.pull_takes = 10s; }
  void put(std::string_view spec, std::string_view name = "job") {
    world.put(manifest("ImagePullJob", name, spec));
  }
  const Value& state(std::string_view name = "job") {
    const Attributes* found = world.wanted("pull_job", cat("default/", name));
    return found == nullptr ? nothing : dict_of(*found).at("state");
  }
  World world;
  Value nothing;
};

// 56. Desired 0 completes at once.
TEST(Pulls, WithoutNodesTheyHappenOnThisMachine) {
  EXPECT_EQ(place_text("n1"), "node n1");
  EXPECT_EQ(place_text(""), "this machine");
}

TEST_F(PullJob, OneWithoutNodesIsCompleteAtOnce) {
  put(R"({"image":"i:1"})");
  world.settle();
  EXPECT_FALSE(state().at("completed").is_null());
}

// 57. Parallelism 2 of 5 nodes: at no time more than two; 0: none; 0 to 3 resumes.
TEST_F(PullJob, NeverMoreAtOnceThanAsked) {
  world.add_nodes(5);
  put(R"({"image":"i:1","parallelism":0})");
  world.pass(30);
  EXPECT_TRUE(world.pulled.empty());
  put(R"({"image":"i:1","parallelism":2})");
  world.pass(100);
  EXPECT_EQ(world.pulled.size(), 5u);
  EXPECT_EQ(world.most_pulls, 2);
  EXPECT_FALSE(state().at("completed").is_null());
}

TEST_F(PullJob, APausedOneGoesOn) {
  world.add_nodes(5);
  put(R"({"image":"i:1","parallelism":0})");
  world.pass(30);
  put(R"({"image":"i:1","parallelism":3})");
  world.pass(12);
  EXPECT_EQ(world.most_pulls, 3);
}

// 58. No selector: all nodes; names: those that are there; labels; pods: nodes of active pods only.
TEST_F(PullJob, Nodes) {
  world.add_nodes(2, R"({"arch":"amd64"})");
  world.add_nodes(2, R"({"arch":"arm64","disk":"ssd"})");
  const auto nodes = [&](std::string_view spec) {
    return nodes_of(world.fleet, workload_of(manifest("ImagePullJob", "j", spec)));
  };
  using Names = std::vector<Name>;
  EXPECT_EQ(nodes(R"({"image":"i"})").size(), 4u);
  EXPECT_EQ(nodes(R"({"image":"i","selector":{"names":["n3","n9","n1"]}})"), (Names{"n1", "n3"}));
  EXPECT_EQ(nodes(R"({"image":"i","selector":{"matchLabels":{"arch":"arm64"}}})"),
            (Names{"n3", "n4"}));
  EXPECT_EQ(
      nodes(R"({"image":"i","selector":{"matchExpressions":[{"key":"arch","operator":"NotIn",)"
            R"("values":["arm64"]}]}})"),
      (Names{"n1", "n2"}));
  EXPECT_EQ(nodes(R"({"image":"i","selector":{"matchExpressions":[{"key":"disk","operator":)"
                  R"("DoesNotExist"}]}})"),
            (Names{"n1", "n2"}));
  world.put(manifest("CloneSet", "web", clone_set_spec(2, "web:1")));
  world.finish();
  EXPECT_EQ(nodes(R"({"image":"i","podSelector":{"matchLabels":{"app":"web"}}})").size(), 2u);
  EXPECT_TRUE(nodes(R"({"image":"i","podSelector":{"matchLabels":{"app":"foo"}}})").empty());
}

// 59. The deadline passed: what is left has failed. backoffLimit 1: exactly two attempts.
TEST_F(PullJob, ADeadlineEndsIt) {
  world.add_nodes(3);
  world.pull_takes = 700s;
  put(R"({"image":"i:1","completionPolicy":{"type":"Always","activeDeadlineSeconds":600}})");
  world.pass(599);
  EXPECT_TRUE(state().at("completed").is_null());
  world.pass(2);
  EXPECT_FALSE(state().at("completed").is_null());
  EXPECT_EQ(state().at("failed_nodes").items().size(), 3u);
  EXPECT_EQ(status_of(world.fleet, "ImagePullJob/default/job", world.now).text_at("message"),
            "job has completed; 3 of 3 nodes failed, one of them: the image was not there in time");
  EXPECT_TRUE(world.pulling.empty()) << "what was under way has ended";
}

TEST_F(PullJob, AttemptsAreTheLimitAndOne) {
  world.add_nodes(1);
  world.images_nowhere.insert("i:1");
  put(R"({"image":"i:1","pullPolicy":{"backoffLimit":1}})");
  world.settle();
  EXPECT_EQ(dict_of(*world.wanted("image", "n1|i:1")).integer_at("attempts"), 2);
  world.pass(30);
  EXPECT_EQ(state().at("failed_nodes"), Value::list({"n1"}));
  const auto message = [&] {
    const Value status = status_of(world.fleet, "ImagePullJob/default/job", world.now);
    return std::string(status.text_at("message"));
  };
  EXPECT_TRUE(message().starts_with("job has completed; 1 of 1 node failed: ")) << message();
  EXPECT_EQ(message().find("in time"), std::string::npos) << message();
}

// Its status goes one way, however often what has failed is tried again elsewhere.
TEST_F(PullJob, AStatusNeverGoesBack) {
  world.add_nodes(4);
  world.retries = true;
  world.images_nowhere.insert("i:1");
  put(R"({"image":"i:1","parallelism":1,"pullPolicy":{"backoffLimit":1}})");
  int64_t failed = 0;
  for (int second = 0; second < 200; ++second) {
    world.pass(1);
    const Value status = status_of(world.fleet, "ImagePullJob/default/job", world.now);
    ASSERT_GE(status.integer_at("failed"), failed) << second << " s: it flaps";
    failed = status.integer_at("failed");
    ASSERT_LE(status.integer_at("active"), 1) << second;
    ASSERT_LE(failed + status.integer_at("active"), 4) << second;
    ASSERT_EQ(status.text_at("phase"), failed < 4 ? "progressing" : "failed") << second;
  }
  EXPECT_EQ(failed, 4);
  EXPECT_EQ(world.pulled.size(), 4u);
}

// 60. Two jobs, one image: one pull, both succeed; when its time to live is over, a job goes.
TEST_F(PullJob, WhatACompleteOneHasPulledStaysCounted) {
  world.add_nodes(2);
  for (const char* policy : {"IfNotPresent", "Always"}) {
    put(cat(R"({"image":"i:1","parallelism":2,"imagePullPolicy":")", policy, R"("})"), policy);
    world.pass(30);
    const Name owner = cat("ImagePullJob/default/", policy);
    const auto counted = [&] { return status_of(world.fleet, owner, world.now); };
    EXPECT_EQ(counted().integer_at("succeeded"), 2) << policy;
    EXPECT_EQ(counted().text_at("phase"), "complete");
    // Somebody removes the image, and nodes come.
    world.fleet.see_image("n1", "i:1", "", false);
    world.settle();
    EXPECT_EQ(counted().integer_at("succeeded"), 2) << policy;
    EXPECT_EQ(counted().integer_at("desired"), 2);
    EXPECT_EQ(counted().text_at("message"), "job has completed");
  }
}

TEST_F(PullJob, TwoJobsShareAPull) {
  world.add_nodes(1);
  put(R"({"image":"i:1"})", "one");
  world.settle();
  put(R"({"image":"i:1"})", "two");
  world.pass(15);
  EXPECT_EQ(world.pulled.size(), 1u);
  EXPECT_FALSE(state("one").at("completed").is_null());
  EXPECT_FALSE(state("two").at("completed").is_null());
}

TEST_F(PullJob, ACompleteOneExpires) {
  world.add_nodes(1);
  put(R"({"image":"i:1","completionPolicy":{"ttlSecondsAfterFinished":60}})");
  world.pass(50);
  EXPECT_FALSE(world.last["ImagePullJob/default/job"].is_expired);
  world.pass(30);
  EXPECT_TRUE(world.last["ImagePullJob/default/job"].is_expired);
}

TEST_F(PullJob, OneThatNeverCompletesFindsNewNodes) {
  world.add_nodes(1);
  put(R"({"image":"i:1","completionPolicy":{"type":"Never"}})");
  world.pass(15);
  world.add_nodes(1);
  world.pass(15);
  EXPECT_EQ(world.pulled.size(), 2u);
  EXPECT_TRUE(state().at("completed").is_null());
}

TEST_F(PullJob, ADigestIsPulledAsItIsWritten) {
  world.add_nodes(3);
  put(cat(R"({"image":"i@sha256:)", std::string(64, 'a'), R"(","parallelism":3})"));
  world.settle();
  EXPECT_EQ(world.pulling.size(), 3u);
  EXPECT_TRUE(dict_of(world.pulling.begin()->second.attributes).at("digest").is_null());
}

}  // namespace
}  // namespace fettle::workloads
