#include "workloads/decide/rehearsal.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/workloads/world.h"

namespace fettle::workloads {
namespace {

/// `1 in place web-x@n1: image of …`, sorted by batch as it was told.
std::vector<std::string> lines(const RehearsalResult& found) {
  std::vector<std::string> texts;
  for (const PodTurn& turn : found.turns)
    texts.push_back(cat(turn.batch, " ", to_string(turn.sort), ": ", turn.why));
  return texts;
}

class Rehearse : public testing::Test {
 protected:
  Rehearse() { world.add_nodes(3); }
  void store(std::string_view images, std::string_view rolling, int replicas = 3) {
    world.put(manifest("CloneSet", "web", clone_set_spec(replicas, images, rolling)));
  }
  RehearsalResult play() { return rehearse(world.fleet, {"CloneSet/default/web"}, world.now); }
  World world;
  static constexpr const char* in_place =
      R"({"podUpdatePolicy":"InPlaceIfPossible","maxUnavailable":1})";
};

TEST_F(Rehearse, WhatIsNotThereIsCreated) {
  store("nginx:1", in_place);
  EXPECT_EQ(lines(play()), (std::vector<std::string>(3, "1 create: it does not exist")));
}

TEST_F(Rehearse, AnUpdateInPlaceGoesPodByPodAndItsImageIsPulledInThatOrder) {
  store("nginx:1", in_place);
  world.finish();
  store("nginx:2", in_place);
  const RehearsalResult found = play();
  const std::string why = "image of container `c0`: nginx:1 -> nginx:2";
  EXPECT_EQ(lines(found),
            (std::vector<std::string>{cat("1 in place: ", why), cat("2 in place: ", why),
                                      cat("3 in place: ", why)}));
  ASSERT_EQ(found.pulls.size(), 1u);
  EXPECT_EQ(found.pulls[0].image, "nginx:2");
  EXPECT_EQ(found.pulls[0].at_once, "1");
  ASSERT_EQ(found.pulls[0].nodes.size(), 3u);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(found.pulls[0].nodes[i], found.turns[i].node);
  EXPECT_EQ(found.batches, 3u);
  EXPECT_FALSE(found.is_cut);
}

TEST_F(Rehearse, IsWhatTheRolloutThenDoes) {
  store("nginx:1", R"({"podUpdatePolicy":"InPlaceIfPossible","maxUnavailable":2})", 6);
  world.finish();
  World other;
  other.pull_takes = Duration(0);
  other.ready_after = 3s;
  other.add_nodes(3);
  other.put(
      manifest("CloneSet", "web",
               clone_set_spec(6, "nginx:1",
                              R"({"podUpdatePolicy":"InPlaceIfPossible","maxUnavailable":2})")));
  other.finish();
  const Object after =
      manifest("CloneSet", "web",
               clone_set_spec(6, "nginx:2",
                              R"({"podUpdatePolicy":"InPlaceIfPossible","maxUnavailable":2})"));
  other.put(after);
  other.finish();
  world.put(after);
  std::vector<std::string> rehearsed;
  for (const PodTurn& turn : play().turns)
    rehearsed.push_back(turn.pod.str());
  EXPECT_EQ(rehearsed, other.updated);
}

TEST_F(Rehearse, WhatCannotChangeInPlaceIsMadeAnewAndSaysWhy) {
  store("nginx:1", in_place);
  world.finish();
  store("nginx:1 log:1", in_place);
  const RehearsalResult found = play();
  ASSERT_EQ(found.turns.size(), 6u);
  EXPECT_EQ(lines(found)[0], "1 anew: `spec.containers` cannot change in place");
  EXPECT_EQ(found.turns[1].sort, PodTurn::Sort::create);
  EXPECT_EQ(found.turns[1].why, "replaces one that is removed");
  EXPECT_TRUE(found.pulls.empty());
}

TEST_F(Rehearse, ThePolicyMayMakePodsAnew) {
  store("nginx:1", R"({"maxUnavailable":1})");
  world.finish();
  store("nginx:2", R"({"maxUnavailable":1})");
  EXPECT_EQ(lines(play())[0], "1 anew: the policy recreates pods");
}

TEST_F(Rehearse, APartitionKeepsPods) {
  store("nginx:1", in_place);
  world.finish();
  store("nginx:2", R"({"podUpdatePolicy":"InPlaceIfPossible","partition":2})");
  const std::vector<std::string> found = lines(play());
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[1], "0 stays: held back by the partition");
  EXPECT_EQ(found[2], "0 stays: held back by the partition");
}

TEST_F(Rehearse, APartitionOfNoneHoldsNothingBackAndInPlaceOnlyIsNamed) {
  const char* rolling = R"({"podUpdatePolicy":"InPlaceOnly","partition":0})";
  const auto put = [&](std::string_view variable) {
    world.put(manifest("CloneSet", "web",
                       cat(R"({"replicas":1,"selector":{"matchLabels":{"app":"web"}},)",
                           R"("updateStrategy":{"rollingUpdate":)", rolling, "},",
                           R"("template":{"metadata":{"labels":{"app":"web"}},)",
                           R"("spec":{"containers":[{"name":"c0","image":"i:1",)",
                           R"("env":[{"name":"A","value":")", variable, R"("}]}]}}})")));
  };
  put("a");
  world.finish();
  put("b");
  const std::vector<std::string> found = lines(play());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].find("and the policy is InPlaceOnly"), std::string::npos) << found[0];
}

TEST_F(Rehearse, FewerReplicasAndNoneAtAll) {
  store("nginx:1", in_place);
  world.finish();
  store("nginx:1", in_place, 2);
  EXPECT_EQ(lines(play()), (std::vector<std::string>{"1 remove: more pods than are wanted"}));
  world.fleet.drop("CloneSet/default/web");
  EXPECT_EQ(lines(play()), (std::vector<std::string>(2, "1 remove: no longer wanted")));
}

TEST_F(Rehearse, GraceAndHooksEnd) {
  const char* rolling =
      R"({"podUpdatePolicy":"InPlaceIfPossible","inPlaceUpdateStrategy":{"gracePeriodSeconds":30}})";
  store("nginx:1", rolling);
  world.finish();
  store("nginx:2", rolling);
  const RehearsalResult found = play();
  EXPECT_EQ(found.turns.size(), 3u);
  EXPECT_FALSE(found.is_cut);
  // Whoever is held by a hook that nobody takes away holds no rehearsal up.
  world.put(
      manifest("CloneSet", "web",
               clone_set_spec(3, "nginx:3", in_place,
                              R"(,"lifecycle":{"inPlaceUpdate":{"labelsHandler":{"app":"web"},)"
                              R"("markPodNotReady":true}})")));
  EXPECT_FALSE(play().is_cut);
}

TEST_F(Rehearse, WhoIsHeldByAHookHadHisTurnAndTheHookIsNamed) {
  const char* hook =
      R"(,"lifecycle":{"inPlaceUpdate":{"labelsHandler":{"app":"web"},"markPodNotReady":true}})";
  const char* rolling = R"({"podUpdatePolicy":"InPlaceIfPossible","maxUnavailable":2})";
  world.put(manifest("CloneSet", "web", clone_set_spec(3, "nginx:1", rolling, hook)));
  world.finish();
  const Object after = manifest("CloneSet", "web", clone_set_spec(3, "nginx:2", rolling, hook));
  const std::string why =
      "1 in place: image of container `c0`: nginx:1 -> nginx:2; the hook `inPlaceUpdate` holds it "
      "(label `app`)";
  world.put(after);
  EXPECT_EQ(lines(play()), (std::vector<std::string>{why, why, "0 stays: its turn has not come"}));
  world.crash();
  world.finish();
  const std::vector<std::string> later = lines(play());
  EXPECT_EQ(std::ranges::count(later, "0 stays: the hook `inPlaceUpdate` holds it (label `app`)"),
            2);
  EXPECT_EQ(std::ranges::count(later, "0 stays: its turn has not come"), 1);
}

TEST_F(Rehearse, APodThatAHookKeepsFromBeingDeletedIsTold) {
  const char* hook = R"(,"lifecycle":{"preDelete":{"labelsHandler":{"app":"web"}}})";
  world.put(manifest("CloneSet", "web", clone_set_spec(3, "nginx:1", in_place, hook)));
  world.finish();
  world.put(manifest("CloneSet", "web", clone_set_spec(2, "nginx:1", in_place, hook)));
  EXPECT_EQ(lines(play()),
            (std::vector<std::string>{"1 remove: the hook `preDelete` holds it (label `app`)"}));
}

TEST_F(Rehearse, WhatIsGoneOrInPiecesIsRestored) {
  for (const char* kind : {"CloneSet", "StatefulSet", "DaemonSet"}) {
    World other;
    other.add_nodes(3);
    std::string spec = clone_set_spec(3, "nginx:1", R"({"maxUnavailable":1})");
    if (std::string_view(kind) == "DaemonSet")
      spec = replace_all(spec, R"("replicas":3,)", "");
    other.put(manifest(kind, "web", spec));
    other.finish();
    const std::vector<std::string> pods = other.pods();
    ASSERT_EQ(pods.size(), 3u) << kind;
    const Key gone = other.pod(pods[0]).resource->key, hurt = other.pod(pods[1]).resource->key;
    other.fleet.see(gone, std::nullopt);
    const RehearsalResult found =
        rehearse(other.fleet, {Name(cat(kind, "/default/web"))}, other.now,
                 {{gone, {true, "it is gone"}}, {hurt, {false, "its container `c0` is gone"}}});
    std::vector<std::string> told = lines(found);
    std::ranges::sort(told);
    EXPECT_EQ(told, (std::vector<std::string>{"1 create: it is gone",
                                              "1 restore: its container `c0` is gone"}))
        << kind;
    EXPECT_FALSE(found.is_cut);
  }
}

TEST_F(Rehearse, WhatIsLostAndNotWantedAnyMoreIsNotRestored) {
  store("nginx:1", in_place);
  world.finish();
  const Key gone = world.pod(world.pods()[0]).resource->key;
  world.fleet.see(gone, std::nullopt);
  store("nginx:1", in_place, 2);
  EXPECT_EQ(
      lines(rehearse(world.fleet, {"CloneSet/default/web"}, world.now, {{gone, {true, "gone"}}})),
      (std::vector<std::string>{"1 remove: more pods than are wanted"}));
}

TEST_F(Rehearse, AContainerThatRestartsForAnAnnotationIsNamed) {
  const auto put = [&](std::string_view text) {
    world.put(manifest(
        "CloneSet", "web",
        cat(R"({"replicas":1,"selector":{"matchLabels":{"app":"web"}},"updateStrategy":)",
            R"({"rollingUpdate":{"podUpdatePolicy":"InPlaceIfPossible"}},"template":)",
            R"({"metadata":{"labels":{"app":"web"},"annotations":{"note":")", text,
            R"("}},"spec":{"containers":[{"name":"c0","image":"i:1"},{"name":"c1","image":"i:1",)",
            R"("env":[{"name":"N","valueFrom":{"fieldRef":{"fieldPath":)",
            R"("metadata.annotations['note']"}}}]}]}}})")));
  };
  put("a");
  world.finish();
  put("b");
  EXPECT_EQ(lines(play()),
            (std::vector<std::string>{
                "1 in place: container `c1` restarts, because annotation `note` changes"}));
}

TEST_F(Rehearse, WhatHasNoPlaceIsAWarning) {
  store("nginx:1", in_place, 1);
  world.put(manifest("CloneSet", "far",
                     R"({"replicas":1,"selector":{"matchLabels":{"app":"web"}},)"
                     R"("template":{"metadata":{"labels":{"app":"web"}},)"
                     R"("spec":{"nodeSelector":{"zone":"moon"},)"
                     R"("containers":[{"name":"c0","image":"i:1"}]}}})"));
  const RehearsalResult found = rehearse(world.fleet, {"CloneSet/default/far"}, world.now);
  ASSERT_EQ(found.warnings.size(), 1u);
  EXPECT_NE(found.warnings[0].find("0 of 3 nodes are available"), std::string::npos);
}

}  // namespace
}  // namespace fettle::workloads
