/// How many pods come, go and change. Each row has the number of its scenario in the collection of
/// OpenKruise's rules; o/n: a ready pod of the older/newer revision, O/N: one that is not ready.

#include "workloads/numbers.h"

#include <gtest/gtest.h>

namespace fettle::workloads {
namespace {

/// `oo nN d`: letters as above; `x` and `X` behind one: its deletion was asked for, or prepared
/// (PreparingDelete); `u`: it is in PreparingUpdate.
std::vector<PodRow> pods_of(std::string_view text) {
  std::vector<PodRow> pods;
  for (const char letter : text) {
    if (letter == ' ')
      continue;
    if (letter == 'x' || letter == 'X' || letter == 'u') {
      PodRow& pod = pods.back();
      pod.is_specified |= letter == 'x';
      if (letter == 'X')
        pod.lifecycle = Lifecycle::preparing_delete;
      if (letter == 'u')
        pod.lifecycle = Lifecycle::preparing_update;
      pod.is_available = pod.is_available && letter == 'x';
      continue;
    }
    PodRow pod;
    pod.is_updated = letter == 'n' || letter == 'N';
    pod.is_available = letter == 'o' || letter == 'n';
    pod.readiness = pod.is_available ? Readiness::ready : Readiness::not_ready;
    pods.push_back(pod);
  }
  return pods;
}

Numbers asked(int64_t replicas, std::optional<Amount> partition, Amount unavailable,
              std::optional<Amount> surge = {}) {
  Numbers numbers;
  numbers.replicas = replicas;
  numbers.partition = partition;
  numbers.max_unavailable = unavailable;
  numbers.max_surge = surge;
  numbers.rolls_back = true;
  return numbers;
}

struct Row {
  const char* name;
  Numbers numbers;
  const char* pods;
  Differences expected;
};

Differences found(const Row& row) { return differences_of(row.numbers, pods_of(row.pods)); }

Numbers paused(Numbers numbers) {
  numbers.paused = true;
  return numbers;
}
Numbers without_rollback(Numbers numbers) {
  numbers.rolls_back = false;
  return numbers;
}
Numbers same_revision(Numbers numbers) {
  numbers.same_revision = true;
  return numbers;
}
Numbers scale_unavailable(Numbers numbers, int64_t count) {
  numbers.scale_max_unavailable = Amount{count};
  return numbers;
}
Numbers excluding(Numbers numbers) {
  numbers.exclude_preparing_delete = true;
  return numbers;
}

TEST(Numbers, Planning) {
  const Amount one{1}, two{2}, three{3}, none{0};
  const Row rows[] = {
      {"1. R0, no pods: nothing", asked(0, {}, one), "", {}},
      {"2. R5, none: up 5, limit 5",
       asked(5, {}, one),
       "",
       {.scale_up = 5, .scale_up_limit = 5, .update = 0}},
      {"3. R5 U1, one of 5n specified: one ready one may go",
       asked(5, {}, one),
       "nnnnnx",
       {.delete_ready_limit = 1}},
      {"4. R5 U1, two specified and ready: one",
       asked(5, {}, one),
       "nnnnxnx",
       {.delete_ready_limit = 1}},
      {"5. R4 U1, five pods, two specified not ready: two, no scale down",
       asked(4, {}, one),
       "nnnNxNx",
       {.delete_ready_limit = 2}},
      {"6. R5 P3 U1, 5o: two change, one at once",
       asked(5, three, one),
       "ooooo",
       {.update = 2, .update_max_unavailable = 1}},
      {"7. R5 P3, 2n+3o: nothing", asked(5, three, one), "nnooo", {}},
      {"8. R5 P4 U2, 4n+1o: three go back, two at once",
       asked(5, Amount{4}, two),
       "nnnno",
       {.update = -3, .update_max_unavailable = 2}},
      {"9. as 8 with the gate off: nothing",
       without_rollback(asked(5, Amount{4}, one)),
       "nnnno",
       {}},
      {"10. R5 U0 S1, one of 5n specified: up 1, surge 1",
       asked(5, {}, none, one),
       "nnnnnx",
       {.scale_up = 1, .scale_up_limit = 1, .surge = 1}},
      {"11. as 10 with one new that is not ready: no deletion yet",
       asked(5, {}, none, one),
       "nnnnnxN",
       {.surge = 1}},
      {"11. when it is ready: one",
       asked(5, {}, none, one),
       "nnnnnxn",
       {.delete_ready_limit = 1, .surge = 1}},
      {"12. R5 P3 U1 S1, 5o: up 1, surge 1, two change",
       asked(5, three, one, one),
       "ooooo",
       {.scale_up = 1, .scale_up_limit = 1, .surge = 1, .update = 2, .update_max_unavailable = 1}},
      {"13. R5 P3 U1 S1, 5o+1N: one changes, two at once",
       asked(5, three, one, one),
       "oooooN",
       {.surge = 1, .update = 1, .update_max_unavailable = 2}},
      {"14. R5 P99% U3 S2, 5o: exactly one",
       asked(5, percent(99), three, two),
       "ooooo",
       {.scale_up = 1, .scale_up_limit = 1, .surge = 1, .update = 1, .update_max_unavailable = 3}},
      {"15. R5 P3, equal revisions, 2o+3n: nothing",
       same_revision(asked(5, three, one)),
       "oonnn",
       {}},
      {"15. R5 P1, equal revisions, 3o+2n: two",
       same_revision(asked(5, one, one)),
       "ooonn",
       {.update = 2, .update_max_unavailable = 1}},
      {"16. R5 P1 U2, 2o+2n: up 1, one changes, one at once",
       asked(5, one, two),
       "oonn",
       {.scale_up = 1, .scale_up_limit = 1, .update = 1, .update_max_unavailable = 1}},
      {"17. R5 P1 U1, 3o+3n: down 1, of the old first",
       asked(5, one, one),
       "ooonnn",
       {.scale_down = 1,
        .scale_down_old = 2,
        .delete_ready_limit = 2,
        .update = 1,
        .update_max_unavailable = 2}},
      {"18. R5, two may be missing, none: up 5, limit 2",
       scale_unavailable(asked(5, {}, one), 2),
       "",
       {.scale_up = 5, .scale_up_limit = 2}},
      {"18. R6, 3n, one not ready: up 3, limit 1",
       scale_unavailable(asked(6, {}, one), 2),
       "nnN",
       {.scale_up = 3, .scale_up_limit = 1}},
      {"18. two not ready: limit 0",
       scale_unavailable(asked(6, {}, one), 2),
       "nNN",
       {.scale_up = 3}},
      {"19. paused R5 U0 S3, 3o: up 2, no surge",
       paused(asked(5, {}, none, three)),
       "ooo",
       {.scale_up = 2, .scale_up_limit = 2, .update = 3, .update_max_unavailable = -2}},
      {"19. paused R3, 5o: down 2",
       paused(asked(3, {}, none)),
       "ooooo",
       {.scale_down = 2,
        .scale_down_old = 5,
        .delete_ready_limit = 2,
        .update = 3,
        .update_max_unavailable = 2}},
      {"20. PreparingDelete excluded: up 1 at once",
       excluding(asked(3, {}, one)),
       "nnnX",
       {.scale_up = 1, .scale_up_limit = 1}},
      {"20. PreparingDelete counted: not before it is gone", asked(3, {}, one), "nnnX", {}},
  };
  for (const Row& row : rows) {
    Differences differences = found(row);
    // The rows say nothing of these where they do not matter.
    if (row.expected.update == 0 && row.expected.update_max_unavailable == 0) {
      differences.update = differences.update_max_unavailable = 0;
    }
    EXPECT_EQ(differences.scale_up, row.expected.scale_up) << row.name;
    EXPECT_EQ(differences.scale_up_limit, row.expected.scale_up_limit) << row.name;
    EXPECT_EQ(differences.scale_down, row.expected.scale_down) << row.name;
    EXPECT_EQ(differences.scale_down_old, row.expected.scale_down_old) << row.name;
    EXPECT_EQ(differences.delete_ready_limit, row.expected.delete_ready_limit) << row.name;
    EXPECT_EQ(differences.surge, row.expected.surge) << row.name;
    EXPECT_EQ(differences.update, row.expected.update) << row.name;
    EXPECT_EQ(differences.update_max_unavailable, row.expected.update_max_unavailable) << row.name;
  }
}

TEST(Numbers, WhatHasNothingToChangeSaysSo) {
  // Rows 1, 7, 9 and 15 must not change a pod.
  const Amount one{1}, three{3};
  EXPECT_EQ(differences_of(asked(0, {}, one), {}), Differences{});
  EXPECT_EQ(differences_of(asked(5, three, one), pods_of("nnooo")), Differences{});
  EXPECT_EQ(differences_of(without_rollback(asked(5, Amount{4}, one)), pods_of("nnnno")),
            Differences{});
  EXPECT_EQ(differences_of(same_revision(asked(5, three, one)), pods_of("oonnn")), Differences{});
}

// 21. R4 P90%, a pod in PreparingUpdate counts as updated: the new pod is of the old revision; P2:
// of the new one.
TEST(Numbers, APreparedPodCountsAsUpdatedWhilePodsCome) {
  std::vector<PodRow> pods = pods_of("ooou");
  for (PodRow& pod : pods)
    pod.is_updated |= pod.lifecycle == Lifecycle::preparing_update;
  const Differences high = differences_of(asked(4, percent(90), Amount{1}), pods);
  EXPECT_EQ(high.scale_up, 1);
  EXPECT_EQ(high.scale_up_old, 1);
  const Differences low = differences_of(asked(4, Amount{2}, Amount{1}), pods);
  EXPECT_EQ(low.scale_up, 1);
  EXPECT_EQ(low.scale_up_old, 0);
}

/// How many of the candidates, in the order of the pods, may change.
size_t limit_of(const Numbers& numbers, std::string_view text, Order candidates) {
  const std::vector<PodRow> pods = pods_of(text);
  return limited(differences_of(numbers, pods), pods, std::move(candidates)).size();
}

struct LimitRow {
  const char* name;
  Numbers numbers;
  const char* pods;
  Order candidates;
  size_t expected;
};

TEST(Numbers, Limits) {
  const Amount one{1}, two{2}, three{3};
  const LimitRow rows[] = {
      {"22. R3 U20%, three ready: one", asked(3, {}, percent(20)), "ooo", {0, 1, 2}, 1},
      {"22. the middle one is not ready: none", asked(3, {}, percent(20)), "oOo", {0, 1, 2}, 0},
      {"22. the first one is not ready: one", asked(3, {}, percent(20)), "Ooo", {0, 1, 2}, 1},
      {"23. R5 U2, all old not ready: two", asked(5, {}, two), "OOOOO", {0, 1, 2, 3, 4}, 2},
      {"23. with two updating: none", asked(5, {}, two), "OOONN", {0, 1, 2}, 0},
      {"23. one updated and one updating: one", asked(5, {}, two), "OOOnN", {0, 1, 2}, 1},
      {"24. R5 U2 S1, six pods, one being made: two",
       asked(5, {}, two, one),
       "oooooN",
       {0, 1, 2, 3, 4},
       2},
      {"24. one updated, two updating: one", asked(5, {}, two, one), "ooonNN", {0, 1, 2}, 1},
      {"24. three updating: none", asked(5, {}, two, one), "oooNNN", {0, 1, 2}, 0},
      {"25. R8 P2 U3, 7o+1n: three", asked(8, two, three), "ooooooon", {0, 1, 2, 3, 4, 5, 6}, 3},
      {"25. back to P7 U3, 3o+5N: three",
       asked(8, Amount{7}, three),
       "oooNNNNN",
       {3, 4, 5, 6, 7},
       3},
  };
  for (const LimitRow& row : rows)
    EXPECT_EQ(limit_of(row.numbers, row.pods, row.candidates), row.expected) << row.name;
}

TEST(Amount, SharesAreRoundedAsAskedAndAPartitionLeavesACanary) {
  EXPECT_EQ(percent(20).of(3, true), 1);
  EXPECT_EQ(percent(20).of(3, false), 0);
  EXPECT_EQ(percent(100).of(7, false), 7);
  EXPECT_EQ(partition_of(percent(99), 5), 4);
  EXPECT_EQ(partition_of(percent(100), 5), 5);
  EXPECT_EQ(partition_of(percent(1), 5), 1);
  EXPECT_EQ(partition_of(Amount{9}, 5), 5);
  EXPECT_EQ(partition_of(std::nullopt, 5), 0);
  EXPECT_EQ(amount_of(Value("30%")), percent(30));
  EXPECT_EQ(amount_of(Value("3")), Amount{3});
  for (const char* text : {"", "%", "x", "-1", "1.5", "3%%", "99999999999999999999"})
    EXPECT_FALSE(amount_of(Value(text))) << text;
}

}  // namespace
}  // namespace fettle::workloads
