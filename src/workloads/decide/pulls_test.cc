/// ImagePullJobs of users. Numbers are those of the scenarios.

#include "workloads/decide/pulls.h"

#include <gtest/gtest.h>

#include "core/open_payload.h"
#include "kinds/image.h"
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

TEST_F(PullJob, AListHasAJobForEachImage) {
  const Name owner = "ImageListPullJob/default/list";
  const auto put_list = [&](std::string_view spec) {
    world.put(manifest("ImageListPullJob", "list", spec));
  };
  const auto status = [&] { return status_of(world.fleet, owner, world.now); };
  world.add_nodes(2);
  world.images_nowhere.insert("j:1");
  put_list(R"({"images":["i:1","j:1"],"pullPolicy":{"backoffLimit":0}})");
  world.settle();
  EXPECT_EQ(world.of_kind("pull_job").size(), 2u);
  EXPECT_EQ(status().integer_at("active"), 2);
  EXPECT_EQ(status().integer_at("completed", -1), 0);
  world.pass(200);
  EXPECT_EQ(status().integer_at("desired"), 2);
  EXPECT_EQ(status().integer_at("completed"), 2);
  EXPECT_EQ(status().integer_at("succeeded"), 1);
  EXPECT_FALSE(status().text_at("completionTime").empty());
  ASSERT_EQ(items_of(status().at("failedImageStatuses")).size(), 1u);
  const Value failed = status().at("failedImageStatuses").items()[0];
  EXPECT_EQ(failed.text_at("name"), "j:1");
  EXPECT_NE(failed.text_at("message").find("2 of 2 nodes failed"), std::string::npos);
  // Its jobs are shown with those of rollouts, and each is complete.
  const std::vector<Object> jobs = jobs_of_rollouts(world.fleet);
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_FALSE(jobs[0].document.at("status").text_at("completionTime").empty());
  put_list(R"({"images":["i:1"],"pullPolicy":{"backoffLimit":0}})");
  world.settle();
  EXPECT_EQ(world.of_kind("pull_job").size(), 1u);
  EXPECT_EQ(status().integer_at("succeeded"), 1) << "what was complete stays so";
  put_list(R"({"images":["i:1"],"completionPolicy":{"ttlSecondsAfterFinished":60}})");
  world.pass(30);
  EXPECT_FALSE(world.last[owner].is_expired);
  world.pass(60);
  EXPECT_TRUE(world.last[owner].is_expired);
}

TEST_F(PullJob, AListThatNeverCompletesIsDoneForNow) {
  world.add_nodes(2);
  world.put(manifest("ImageListPullJob", "list",
                     R"({"images":["i:1","j:1"],"completionPolicy":{"type":"Never"}})"));
  const auto status = [&] {
    return status_of(world.fleet, "ImageListPullJob/default/list", world.now);
  };
  world.settle();
  EXPECT_EQ(status().text_at("phase"), "progressing");
  world.pass(200);
  EXPECT_EQ(status().text_at("phase"), "complete") << "as its jobs are";
  EXPECT_EQ(status().integer_at("succeeded"), 2);
  EXPECT_EQ(status().integer_at("completed", -1), 0);
}

/// A fleet in a cluster, where nodes are told what to pull.
class Orders : public testing::Test {
 protected:
  Orders() {
    fleet.is_cluster = true;
    fleet.driver = "kubernetes";
    for (const char* name : {"n1", "n2", "n3"}) {
      Node node;
      node.name = name;
      node.labels = Value::dict({});
      node.pulls_ahead = name != std::string_view("n3");
      fleet.put_node(node);
    }
  }
  void put(std::string_view spec) {
    Object job = manifest("ImagePullJob", "job", spec);
    job.uid = "u";
    fleet.put(job);
  }
  /// What is wanted by now. Acts that are due end at once.
  std::map<Name, Box<Resource>> settle() {
    std::map<Name, Box<Resource>> images;
    const Wanted wanted = want(fleet, owner, now);
    fleet.accept(wanted);
    for (const Box<Resource>& resource : wanted.resources) {
      if (resource->key.kind != "image" && resource->key.kind != "pull_job")
        continue;
      if (resource->key.kind == "image")
        images[resource->key.name] = resource;
      auto record = std::make_shared<Record>();
      record->applied = resource;
      record->wanted_by[owner] = resource->attributes.digest();
      fleet.know(resource->key, record);
    }
    return images;
  }
  void end_pull(const Name& node, const PullSeen& seen) {
    fleet.see_pull({"fleet", "image", pull_key(node, "web:2")}, seen);
    if (seen.phase == PullSeen::Phase::succeeded)
      fleet.see_image(node, "web:2", {}, true);
  }
  Value status() { return status_of(fleet, owner, now); }

  Fleet fleet{"fleet"};
  const Name owner = "ImagePullJob/default/job";
  Time now = Time(Duration(1'800'000'000'000'000'000));
};

TEST_F(Orders, OneNodeAfterTheOtherIsTold) {
  put(R"({"image":"web:2","pullPolicy":{"backoffLimit":1,"timeoutSeconds":60}})");
  const auto first = settle();
  ASSERT_EQ(first.size(), 1u);
  const Resource& order = *first.begin()->second;
  EXPECT_EQ(order.key.name, "n1|web:2");
  EXPECT_EQ(order.driver, "kubernetes");
  EXPECT_EQ(order.pool, order_pool);
  EXPECT_EQ(dict_of(order.attributes),
            json(R"({"reference":"web:2","pull":"missing","node":"n1","attempts":2,"timeout":60,
                     "job":"default/job"})"));
  EXPECT_EQ(settle().size(), 1u) << "that it was told is not that it has the image";
  EXPECT_EQ(status().integer_at("active"), 1);
  EXPECT_EQ(status().integer_at("desired"), 2) << "nobody pulls on the third";
  end_pull("n1", {.phase = PullSeen::Phase::succeeded});
  EXPECT_TRUE(settle().contains("n2|web:2"));
  end_pull("n2", {.phase = PullSeen::Phase::succeeded});
  EXPECT_TRUE(settle().empty()) << "it is complete";
  EXPECT_EQ(status().text_at("message"), "job has completed");
  EXPECT_EQ(status().integer_at("succeeded"), 2);
}

TEST_F(Orders, ANodeThatFailsIsNotToldAgain) {
  put(R"({"image":"web:2","parallelism":2})");
  EXPECT_EQ(settle().size(), 2u);
  end_pull("n1", {.phase = PullSeen::Phase::failed, .error = "no such image"});
  const auto still = settle();
  EXPECT_EQ(still.size(), 2u) << "an order stays until the job is complete";
  EXPECT_EQ(status().integer_at("failed"), 1);
  EXPECT_EQ(status().at("failedNodes"), json(R"(["n1"])"));
  end_pull("n2", {.phase = PullSeen::Phase::succeeded});
  settle();
  EXPECT_EQ(status().text_at("message"), "job has completed; 1 of 2 nodes failed: no such image");
}

TEST_F(Orders, ANodeThatIsSelectedAgainHasItsOrderStill) {
  const char* const of_first = R"({"image":"web:2","parallelism":2,"selector":{"names":["n1"]}})";
  put(R"({"image":"web:2","parallelism":2})");
  EXPECT_EQ(settle().size(), 2u);
  put(of_first);
  EXPECT_EQ(settle().size(), 1u);
  put(R"({"image":"web:2","parallelism":2})");
  settle();
  end_pull("n2", {.phase = PullSeen::Phase::succeeded});
  settle();
  EXPECT_EQ(status().integer_at("succeeded"), 1);
}

TEST_F(Orders, WhatWasToldOfAnotherOrderCountsForNothing) {
  put(R"({"image":"web:2","selector":{"names":["n1"]},"completionPolicy":{"type":"Never"}})");
  settle();
  end_pull("n1", {.phase = PullSeen::Phase::failed, .error = "no such image"});
  EXPECT_EQ(status().integer_at("failed"), 1);
  put(R"({"image":"web:2","imagePullPolicy":"Always","selector":{"names":["n1"]},
          "completionPolicy":{"type":"Never"}})");
  settle();
  EXPECT_EQ(status().integer_at("failed"), 0);
  EXPECT_EQ(status().integer_at("active"), 1);
}

/// It may have been told to pull at the same moment, by a clock that is late.
TEST_F(Orders, WhatANodeWasToldIsDoneWhateverItsClockSays) {
  put(R"({"image":"web:2","imagePullPolicy":"Always","selector":{"names":["n1"]}})");
  EXPECT_EQ(settle().size(), 1u);
  end_pull("n1", {.phase = PullSeen::Phase::succeeded, .finished = now - 1h});
  settle();
  EXPECT_EQ(status().integer_at("succeeded"), 1);
}

}  // namespace
}  // namespace fettle::workloads
