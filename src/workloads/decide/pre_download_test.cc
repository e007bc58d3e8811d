/// Images are pulled ahead, as the proposal promises: each of its sentences has a test of its own.
/// Numbers are those of the scenarios; 48 and 49 are as fettle has them.

#include <gtest/gtest.h>

#include "core/open_payload.h"
#include "kinds/pod.h"
#include "tests/workloads/world.h"
#include "workloads/decide/pre_download.h"
#include "workloads/decide/pulls.h"
#include "workloads/decide/status.h"
#include "workloads/names.h"

namespace fettle::workloads {
namespace {

class PreDownload : public testing::Test {
 protected:
  PreDownload() { world.pull_takes = 20s; }
  void put(int replicas, std::string_view images, std::string_view more = "",
           std::string_view annotations = "{}") {
    world.put(manifest(
        "CloneSet", "web",
        clone_set_spec(
            replicas, images,
            cat(R"({"podUpdatePolicy":"InPlaceIfPossible","maxUnavailable":1)", more, "}")),
        annotations));
  }
  /// A rollout that has begun: pods of the first image, and a template with the second.
  void begin(int replicas, int nodes, std::string_view more = "",
             std::string_view annotations = "{}") {
    world.add_nodes(nodes);
    put(replicas, "web:1", more, annotations);
    world.finish();
    put(replicas, "web:2", more, annotations);
    world.settle();
  }
  const Value& job() {
    const auto jobs = world.of_kind("pull_job");
    EXPECT_EQ(jobs.size(), 1u);
    return jobs.empty() ? nothing : dict_of(*world.wanted("pull_job", jobs[0]));
  }
  World world;
  Value nothing;
};

constexpr std::string_view held = R"(,"partition":"100%")";

TEST_F(PreDownload, WhenARolloutInPlaceBeginsTheImageIsPulledOnTheNodesOfItsPods) {
  begin(4, 4, held);
  const Value& made = job();
  EXPECT_EQ(made.text_at("image"), "web:2");
  EXPECT_EQ(world.pulling.size(), 1u);
  world.pass(100);
  EXPECT_EQ(world.pulled.size(), 4u) << "each node once";
}

TEST_F(PreDownload, TheJobIsCalledAfterItsWorkloadAndHasTheShapeOfTheProposal) {
  begin(4, 4, held);
  const Value& made = job();
  const std::string name(made.text_at("name"));
  EXPECT_TRUE(name.starts_with("web-"));
  EXPECT_EQ(name.size(), 9u);
  EXPECT_EQ(made.text_at("namespace"), "default");
  EXPECT_EQ(made.text_at("owner"), "CloneSet/default/web");
  const Value& spec = made.at("spec");
  EXPECT_EQ(spec.at("completionPolicy").text_at("type"), "Always");
  EXPECT_EQ(spec.at("pullPolicy"), json(R"({"backoffLimit":1,"timeoutSeconds":300})"));
  EXPECT_EQ(spec.at("podSelector").at("matchLabels"), json(R"({"app":"web"})"));
  const Value& excluded = spec.at("podSelector").at("matchExpressions").items()[0];
  EXPECT_EQ(excluded.text_at("key"), "controller-revision-hash");
  EXPECT_EQ(excluded.text_at("operator"), "NotIn");
  const std::string revision = made.at("state").at("revision").text().str();
  EXPECT_EQ(excluded.at("values").items()[0], Value(revision));
  EXPECT_EQ(made.at("labels").text_at("app"), "web");
  EXPECT_EQ(made.at("labels").text_at("controller.kubernetes.io/hash"), hash_of_revision(revision));
  EXPECT_TRUE(world.has_notice("CreatedImagePullJob"));
}

TEST_F(PreDownload, OneNodeAtATimeAndFiveMinutesUnlessAskedOtherwise) {
  begin(4, 4, held);
  EXPECT_EQ(job().at("spec").at("parallelism"), Value(1));
  world.pass(100);
  EXPECT_EQ(world.most_pulls, 1);
  const auto image = world.of_kind("image");
  EXPECT_EQ(dict_of(*world.wanted("image", image[0])).integer_at("timeout"), 300);
  EXPECT_EQ(dict_of(*world.wanted("image", image[0])).integer_at("attempts"), 2)
      << "backoffLimit 1";
}

TEST_F(PreDownload, AnnotationsSayHowManyAtOnceAndForHowLong) {
  begin(8, 8, held,
        R"({"apps.kruise.io/image-predownload-parallelism":"3",)"
        R"("apps.kruise.io/image-predownload-timeout-seconds":"600"})");
  EXPECT_EQ(job().at("spec").at("parallelism"), Value(3));
  EXPECT_EQ(job().at("spec").at("pullPolicy").integer_at("timeoutSeconds"), 600);
  world.pass(200);
  EXPECT_EQ(world.most_pulls, 3);
}

// 53. Parallelism "abc": 1; "0": paused; "-1": refused and told; timeout "x": 300.
TEST_F(PreDownload, AnnotationsThatCannotBeMeant) {
  const auto annotations = [](std::string_view parallelism) {
    return cat(R"({"apps.kruise.io/image-predownload-parallelism":")", parallelism,
               R"(","apps.kruise.io/image-predownload-timeout-seconds":"x"})");
  };
  begin(4, 4, held, annotations("abc"));
  EXPECT_EQ(job().at("spec").at("parallelism"), Value(1));
  EXPECT_EQ(job().at("spec").at("pullPolicy").integer_at("timeoutSeconds"), 300);
  put(4, "web:2", held, annotations("0"));
  world.settle();
  EXPECT_EQ(job().at("spec").at("parallelism"), Value(0));
  put(4, "web:2", held, annotations("-1"));
  world.settle();
  EXPECT_TRUE(world.of_kind("pull_job").empty());
  EXPECT_TRUE(world.has_notice("FailedCreateImagePullJob"));
}

TEST_F(PreDownload, AShareOfTheNodesMayPullAtOnce) {
  begin(10, 10, held, R"({"apps.kruise.io/image-predownload-parallelism":"30%"})");
  world.pass(300);
  EXPECT_EQ(world.most_pulls, 3);
  EXPECT_EQ(world.pulled.size(), 10u);
}

// 48. R3: no permanent mark, and here a job, too; R4: one job per changed container.
TEST_F(PreDownload, ThreePodsAreEnoughUnlessTheRulesOfKruiseAreAskedFor) {
  begin(3, 3, held);
  EXPECT_EQ(world.of_kind("pull_job").size(), 1u);
  put(3, "web:3", held, R"({"fettle/image-predownload-rules":"kruise"})");
  world.settle();
  EXPECT_TRUE(world.of_kind("pull_job").empty());
  put(4, "web:3", held, R"({"fettle/image-predownload-rules":"kruise"})");
  world.finish();
  put(4, "web:4", held, R"({"fettle/image-predownload-rules":"kruise"})");
  world.settle();
  EXPECT_EQ(world.of_kind("pull_job").size(), 1u) << "nothing was marked for ever";
}

// 49. ReCreate, OnDelete, impossible difference: no job. One batch: a job, but not by the rules of
// Kruise; U 99 % of 4 rounds down to 3: a job.
TEST_F(PreDownload, NoJobWhereNothingChangesInPlace) {
  world.add_nodes(4);
  const auto jobs_after = [&](std::string_view how, std::string_view images, std::string_view type,
                              std::string_view annotations = "{}") {
    World fresh;
    fresh.add_nodes(4);
    const auto put_one = [&](std::string_view of) {
      fresh.put(manifest("CloneSet", "web",
                         replace_all(clone_set_spec(4, of, how), R"("type":"RollingUpdate")",
                                     cat(R"("type":")", type, R"(")")),
                         annotations));
      fresh.settle();
    };
    put_one("web:1");
    fresh.ready_after = 100s;
    put_one(images);
    return std::ranges::count_if(fresh.said, [](const std::string& name) {
      return name.find("|CreatedImagePullJob|") != name.npos;
    });
  };
  const std::string in_place = R"({"podUpdatePolicy":"InPlaceIfPossible","maxUnavailable":1})";
  const std::string kruise = R"({"fettle/image-predownload-rules":"kruise"})";
  const std::string at_once =
      replace_all(in_place, R"("maxUnavailable":1)", R"("maxUnavailable":4)");
  const std::string nearly =
      replace_all(in_place, R"("maxUnavailable":1)", R"("maxUnavailable":"99%","maxSurge":0)");
  EXPECT_EQ(jobs_after(in_place, "web:2", "RollingUpdate"), 1);
  EXPECT_EQ(jobs_after(R"({"podUpdatePolicy":"ReCreate","partition":4})", "web:2", "RollingUpdate"),
            0);
  EXPECT_EQ(jobs_after(in_place, "web:2", "OnDelete"), 0);
  EXPECT_EQ(
      jobs_after(replace_all(in_place, "}", R"(,"partition":4})"), "web:2 more:1", "RollingUpdate"),
      0);
  EXPECT_EQ(jobs_after(at_once, "web:2", "RollingUpdate", kruise), 0);
  EXPECT_EQ(jobs_after(at_once, "web:2", "RollingUpdate"), 1);
  EXPECT_EQ(jobs_after(nearly, "web:2", "RollingUpdate", kruise), 1);
}

// 50. Threshold 2: no job until two updated pods are ready.
TEST_F(PreDownload, AThresholdOfUpdatedPods) {
  world.ready_after = 5s;
  begin(6, 6, "", R"({"apps.kruise.io/image-predownload-min-updated-ready-pods":"2"})");
  world.settle();
  EXPECT_TRUE(world.of_kind("pull_job").empty());
  world.pass(4);
  EXPECT_TRUE(world.of_kind("pull_job").empty());
  world.pass(7);
  EXPECT_EQ(world.of_kind("pull_job").size(), 1u);
}

// 51. Two containers changed: two jobs. The same image in two containers: one job.
TEST_F(PreDownload, OneJobAnImage) {
  world.add_nodes(4);
  put(4, "web:1 log:1 side:1", held);
  world.finish();
  put(4, "web:2 log:2 side:1", held);
  world.settle();
  EXPECT_EQ(world.of_kind("pull_job").size(), 2u);
  put(4, "same:1 same:1 side:1", held);
  world.settle();
  EXPECT_EQ(world.of_kind("pull_job").size(), 1u);
}

// 52. The template changes again while images are pulled: the jobs of before go, and their pulls
// end; rolled back, jobs come where images are missing.
TEST_F(PreDownload, JobsGoWhenTheTemplateChangesAgain) {
  begin(4, 4, held);
  const auto first = world.of_kind("pull_job");
  ASSERT_EQ(world.pulling.size(), 1u);
  put(4, "web:3", held);
  world.settle();
  const auto second = world.of_kind("pull_job");
  ASSERT_EQ(second.size(), 1u);
  EXPECT_NE(first, second);
  ASSERT_EQ(world.pulling.size(), 1u);
  EXPECT_TRUE(world.pulling.begin()->first.view().ends_with("|web:3")) << "the other one was ended";
  put(4, "web:2", held);
  world.settle();
  EXPECT_EQ(world.of_kind("pull_job"), first) << "again, after going back";
}

// 53. All updated: the jobs are deleted.
TEST_F(PreDownload, JobsGoWhenAllPodsAreUpdated) {
  world.ready_after = 2s;
  begin(4, 4);
  EXPECT_EQ(world.of_kind("pull_job").size(), 1u);
  world.finish();
  EXPECT_EQ(world.count_image("web:2"), 4);
  EXPECT_TRUE(world.of_kind("pull_job").empty());
  EXPECT_TRUE(world.of_kind("image").empty());
}

// 54. The order of the first pulls is the order of update.
TEST_F(PreDownload, NodesArePulledOnInTheOrderOfTheUpdate) {
  world.add_nodes(6);
  world.put(
      manifest("CloneSet", "web",
               clone_set_spec(6, "web:1",
                              R"({"podUpdatePolicy":"InPlaceIfPossible","maxUnavailable":1,)"
                              R"("priorityStrategy":{"orderPriority":[{"orderedKey":"rank"}]}})")));
  world.finish();
  int rank = 0;
  std::vector<std::string> expected;
  for (const std::string& name : world.pods()) {
    rank = (rank + 4) % 7;
    world.mark(name, cat(R"({"labels":{"rank":"r-)", rank, R"("}})"));
  }
  world.finish();
  std::vector<std::pair<int, std::string>> order;
  for (const std::string& name : world.pods())
    order.emplace_back(-std::stoi(std::string(world.pod(name).labels.text_at("rank").substr(2))),
                       world.pod(name).node.str());
  std::ranges::sort(order);
  world.ready_after = 1s;
  world.put(manifest(
      "CloneSet", "web",
      clone_set_spec(6, "web:2",
                     R"({"podUpdatePolicy":"InPlaceIfPossible","maxUnavailable":1,"partition":6,)"
                     R"("priorityStrategy":{"orderPriority":[{"orderedKey":"rank"}]}})")));
  world.pass(200);
  ASSERT_EQ(world.pulled.size(), 6u);
  for (size_t i = 0; i < 6; ++i)
    EXPECT_EQ(world.pulled[i], cat(order[i].second, "|web:2")) << i;
}

TEST_F(PreDownload, WhereTheImageIsNothingIsPulled) {
  world.add_nodes(4);
  put(4, "web:1", held);
  world.finish();
  world.fleet.see_image("n1", "web:2", "", true);
  world.fleet.see_image("n3", "web:2", "", true);
  put(4, "web:2", held);
  world.pass(100);
  EXPECT_EQ(world.pulled.size(), 2u);
}

TEST_F(PreDownload, PullsThatBeginLaterAskForTheDigestThatTheFirstFound) {
  begin(4, 4, held, R"({"apps.kruise.io/image-predownload-parallelism":"2"})");
  EXPECT_EQ(world.pulling.size(), 2u);
  for (const auto& [key, pull] : world.pulling)
    EXPECT_TRUE(dict_of(pull.attributes).at("digest").is_null());
  world.pass(21);
  EXPECT_EQ(world.pulling.size(), 2u);
  for (const auto& [key, pull] : world.pulling)
    EXPECT_EQ(dict_of(pull.attributes).text_at("digest"), "sha256:d");
}

TEST_F(PreDownload, NodesThatPullAtOnceEndWithTheSameImage) {
  world.other_digests["n3"] = "sha256:e";
  const std::string wait = R"({"fettle/image-predownload-mode":"wait",)"
                           R"("apps.kruise.io/image-predownload-parallelism":"4"})";
  world.add_nodes(4);
  put(4, "web:1", "", wait);
  world.finish();
  put(4, "web:2", "", wait);
  world.pass(21);
  ASSERT_EQ(world.pulling.size(), 1u) << "the tag moved while n3 asked for it";
  EXPECT_EQ(world.pulling.begin()->first, "n3|web:2");
  EXPECT_EQ(dict_of(world.pulling.begin()->second.attributes).text_at("digest"), "sha256:d");
  bool has_waited = true;
  world.after_each = [&] {
    for (const auto& [key, pod] : world.real)
      has_waited &= !key.view().starts_with("n3|") || world.pulling.empty() ||
                    pod.containers.at("c0").image == "web:1";
  };
  world.finish();
  EXPECT_TRUE(has_waited) << "a pod took the other image";
  EXPECT_EQ(world.count_image("web:2"), 4);
  EXPECT_EQ(std::ranges::count(world.pulled, "n3|web:2"), 2);
  EXPECT_EQ(world.pulled.size(), 5u);
}

TEST_F(PreDownload, InModeWaitNoPodChangesBeforeItsImageIsThere) {
  world.add_nodes(5);
  const std::string wait = R"({"fettle/image-predownload-mode":"wait",)"
                           R"("apps.kruise.io/image-predownload-parallelism":"2"})";
  put(5, "web:1", "", wait);
  world.finish();
  int without = 0;
  world.after_each = [&] {
    for (const auto& [key, pod] : world.real)
      if (pod.containers.at("c0").image == "web:2" &&
          std::ranges::count(world.pulled, pull_key(Name(on_node(key).node), "web:2").str()) == 0)
        ++without;
  };
  put(5, "web:2", "", wait);
  world.settle();
  EXPECT_EQ(world.count_image("web:1"), 5);
  EXPECT_EQ(world.ready(), 5) << "nothing is disturbed while images come";
  world.finish();
  EXPECT_EQ(world.count_image("web:2"), 5);
  EXPECT_EQ(without, 0);
  EXPECT_EQ(world.pulled.size(), 5u);
}

TEST_F(PreDownload, InModeWaitANodeThatCannotPullHoldsItsPodsAndTheOthersGoOn) {
  world.add_nodes(3);
  const std::string wait = R"({"fettle/image-predownload-mode":"wait"})";
  put(3, "web:1", "", wait);
  world.finish();
  world.fleet.see_image("n1", "web:2", "", true);
  world.fleet.see_image("n2", "web:2", "", true);
  world.refused_pulls.insert("web:2");
  // Only the third node has to ask the registry, which has no such image.
  put(3, "web:2", "", wait);
  world.pass(100);
  EXPECT_EQ(world.count_image("web:2"), 2);
  EXPECT_TRUE(world.has_notice("PullImageFailed"));
  EXPECT_EQ(world.ready(), 3) << "the held pod still serves";
}

// However often what has failed is tried again elsewhere: two attempts on each node, one node at a
// time, for the life of the job.
TEST_F(PreDownload, LimitsHoldForTheLifeOfTheJob) {
  world.refused_pulls.insert("web:2");
  world.retries = true;
  begin(4, 4, held);
  // Step by step, too: where it has failed it stays failed, and what fails is told from then on.
  size_t failed = 0;
  for (int second = 0; second < 400; ++second) {
    world.pass(1);
    const Value now = status_of(world.fleet, "CloneSet/default/web", world.now);
    const Value& pulls = now.at("imagePulls").items()[0];
    ASSERT_GE(pulls.at("failed").items().size(), failed) << second << " s: it flaps";
    failed = pulls.at("failed").items().size();
    ASSERT_LE(pulls.integer_at("pulling"), 1) << second;
    ASSERT_LE(failed + static_cast<size_t>(pulls.integer_at("pulling")), 4u) << second;
    ASSERT_EQ(now.text_at("reason").starts_with("image web:2 cannot be pulled on node n"),
              failed > 0)
        << second << " s: " << now.text_at("reason");
  }
  EXPECT_EQ(world.pulled.size(), 4u) << join(world.pulled, ", ");
  EXPECT_EQ(world.most_pulls, 1);
  EXPECT_EQ(job().at("state").at("failed").entries().size(), 4u);
  const Value status = status_of(world.fleet, "CloneSet/default/web", world.now);
  const Value& pulls = status.at("imagePulls").items()[0];
  EXPECT_EQ(pulls.at("failed").items().size(), 4u);
  EXPECT_EQ(pulls.integer_at("pulling"), 0);
  EXPECT_EQ(status.text_at("reason"), "image web:2 cannot be pulled on node n4: manifest unknown");
  // A controller that begins again remembers it.
  world.crash();
  world.pass(100);
  EXPECT_EQ(world.pulled.size(), 4u);
}

TEST_F(PreDownload, WhatFailedForWantOfTheNodeIsTriedAgainWhenItIsBack) {
  world.refused_pulls.insert("web:2");
  begin(1, 1, held);
  world.pass(60);
  ASSERT_EQ(world.pulled.size(), 1u);
  world.lose_node("n1");
  world.settle();
  world.refused_pulls.clear();
  world.lose_node("n1", false);
  world.pass(30);
  EXPECT_EQ(world.pulled.size(), 2u);
  EXPECT_TRUE(job().at("state").at("failed").is_null());
}

TEST_F(PreDownload, OtherCredentialsAreAnotherAttempt) {
  const auto put_secret = [&](std::string_view text) {
    Object secret;
    secret.kind = "Secret";
    secret.space = "default";
    secret.name = "key";
    secret.document = json(cat(R"({"metadata":{"name":"key"},"data":{"k":")", text, R"("}})"));
    world.put(std::move(secret));
  };
  const auto put_images = [&](std::string_view image) {
    world.put(manifest(
        "CloneSet", "web",
        cat(R"({"replicas":1,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":)",
            R"({"labels":{"app":"web"}},"spec":{"imagePullSecrets":[{"name":"key"}],)",
            R"("containers":[{"name":"c0","image":")", image, R"("}]}},"updateStrategy":)",
            R"({"rollingUpdate":{"podUpdatePolicy":"InPlaceIfPossible","partition":"100%"}}})")));
  };
  world.add_nodes(1);
  put_secret("wrong");
  put_images("web:1");
  world.finish();
  world.refused_pulls.insert("web:2");
  put_images("web:2");
  world.pass(60);
  ASSERT_EQ(world.pulled.size(), 1u);
  world.refused_pulls.clear();
  put_secret("right");
  world.pass(30);
  EXPECT_EQ(world.pulled.size(), 2u);
  EXPECT_TRUE(Fleet::has_image(world.fleet.nodes().at("n1"), "web:2"));
}

TEST_F(PreDownload, ThePodWhoseImageIsThereComesFirstAmongEqualOnes) {
  world.add_nodes(3);
  put(3, "web:1");
  world.finish();
  const std::string last = world.pods().back();
  world.fleet.see_image(world.pod(last).node, "web:2", "", true);
  put(3, "web:2");
  world.settle();
  ASSERT_FALSE(world.updated.empty());
  EXPECT_EQ(world.updated[0], last);
}

TEST_F(PreDownload, WithItsGateOffThereIsNone) {
  world.fleet.gates.pre_download = false;
  begin(4, 4, held);
  EXPECT_TRUE(world.of_kind("pull_job").empty());
}

TEST_F(PreDownload, APausedRolloutIsPrepared) {
  begin(4, 4, R"(,"paused":true)");
  world.pass(100);
  EXPECT_EQ(world.pulled.size(), 4u);
  EXPECT_EQ(world.count_image("web:1"), 4);
}

TEST_F(PreDownload, PodsThatAPartitionKeepsArePreparedInEveryKind) {
  const auto spec = [](std::string_view kind, std::string_view image) {
    const std::string_view own = kind == "DaemonSet" ? R"("rollingUpdateType":"InPlaceIfPossible")"
                                                     : R"("podUpdatePolicy":"InPlaceIfPossible")";
    return cat(R"({"replicas":3,"selector":{"matchLabels":{"app":"web"}},"template":)",
               template_text(image), R"(,"updateStrategy":{"type":"RollingUpdate",)",
               R"("rollingUpdate":{"partition":3,)", own, "}}}");
  };
  for (const char* const kind : {"StatefulSet", "DaemonSet"}) {
    World each;
    each.pull_takes = 20s;
    each.add_nodes(3);
    each.put(manifest(kind, "web", spec(kind, "web:1")));
    each.finish();
    each.put(manifest(kind, "web", spec(kind, "web:2")));
    each.settle();
    EXPECT_EQ(each.most_pulls, 1) << kind;
    each.pass(100);
    EXPECT_EQ(each.pulled.size(), 3u) << kind;
    EXPECT_EQ(each.count_image("web:1"), 3) << kind;
  }
}

TEST_F(PreDownload, ANodeThatIsAwayHoldsNoOtherUp) {
  world.add_nodes(3);
  put(3, "web:1", held);
  world.finish();
  Node away = *world.fleet.node("n2");
  away.is_ready = false;
  world.fleet.put_node(away);
  put(3, "web:2", held);
  world.pass(100);
  EXPECT_EQ(world.pulled.size(), 2u);
}

TEST(PullJobName, IsTheWorkloadAndFiveCharactersFromRevisionAndImage) {
  EXPECT_EQ(pull_job_name("web", "r1", "i").size(), 9u);
  EXPECT_EQ(pull_job_name("web", "r1", "i"), pull_job_name("web", "r1", "i"));
  EXPECT_NE(pull_job_name("web", "r1", "i"), pull_job_name("web", "r2", "i"));
  EXPECT_NE(pull_job_name("web", "r1", "i"), pull_job_name("web", "r1", "j"));
}

}  // namespace
}  // namespace fettle::workloads
