/// In which order pods change and go. Numbers are those of the scenarios.

#include "workloads/order.h"

#include <gtest/gtest.h>

#include <deque>

#include "base/text.h"
#include "value/json.h"

namespace fettle::workloads {
namespace {

std::deque<PodTag> tags;

/// The row with a tag of its own.
PodTag& own_tag(PodRow& pod) {
  PodTag& tag = tags.emplace_back(*pod.tag);
  pod.tag = &tag;
  return tag;
}

PodRow pod_of(Phase phase, bool is_ready, std::string_view labels = "{}") {
  static int count = 0;
  PodRow pod;
  PodTag& tag = own_tag(pod);
  tag.name = cat("p", 1000 + count++);
  tag.node = cat("n", count);
  tag.labels = *read_json(labels);
  pod.phase = phase;
  pod.readiness = is_ready ? Readiness::ready : Readiness::not_ready;
  pod.is_available = is_ready;
  return pod;
}

Order all_of(const std::vector<PodRow>& pods) {
  Order order(pods.size());
  for (uint32_t i = 0; i < order.size(); ++i)
    order[i] = i;
  return order;
}

// 26. [Pending+Ready, Pending, -, Running+Ready, Running], candidates {0,1,3,4}: {1,0,4,3}.
TEST(Order, PhaseAndReadinessComeFirst) {
  const std::vector<PodRow> pods{pod_of(Phase::pending, true), pod_of(Phase::pending, false),
                                 pod_of(Phase::running, true), pod_of(Phase::running, true),
                                 pod_of(Phase::running, false)};
  Order order{0, 1, 3, 4};
  sort_by_state(pods, false, order);
  EXPECT_EQ(order, (Order{1, 0, 4, 3}));
}

TEST(Order, EachKeyDecidesWhenThoseBeforeItAreEqual) {
  std::vector<PodRow> pods;
  for (int i = 0; i < 8; ++i) {
    PodRow pod = pod_of(Phase::running, true);
    pod.ready_since = Time(100s);
    pod.created = Time(50s);
    pods.push_back(pod);
  }
  own_tag(pods[7]).node = Name();
  pods[6].phase = Phase::unknown;
  pods[5].readiness = Readiness::not_ready;
  pods[4].ready_since = Time();
  pods[3].ready_since = Time(101s);
  pods[2].restarts = 1;
  pods[1].created = Time(51s);
  Order order = all_of(pods);
  sort_by_state(pods, false, order);
  EXPECT_EQ(order, (Order{7, 6, 5, 4, 3, 2, 1, 0}));
}

// 27. weights 20 versus 10+15: the second first.
TEST(Order, WeightsAreSummed) {
  Priority priority;
  const auto weight = [&](const char* label, int64_t amount) {
    priority.weights.push_back(
        {selector_of(*read_json(cat(R"({"matchLabels":{")", label, R"(":"y"}})"))), amount});
  };
  weight("a", 20);
  weight("b", 10);
  weight("c", 15);
  const std::vector<PodRow> pods{pod_of(Phase::running, true, R"({"a":"y"})"),
                                 pod_of(Phase::running, true, R"({"b":"y","c":"y"})")};
  Order order = all_of(pods);
  sort_by_priority(priority, pods, order);
  EXPECT_EQ(order, (Order{1, 0}));
}

// 28. o-10 before o-5; pods without the key before both; the second key only breaks ties.
TEST(Order, NumbersAtTheEndOfLabels) {
  Priority priority;
  priority.order_keys = {"k", "l"};
  const std::vector<PodRow> pods{pod_of(Phase::running, true, R"({"k":"o-5"})"),
                                 pod_of(Phase::running, true, R"({"k":"o-10"})"),
                                 pod_of(Phase::running, true, R"({})"),
                                 pod_of(Phase::running, true, R"({"l":"9"})"),
                                 pod_of(Phase::running, true, R"({"k":"none"})")};
  Order order = all_of(pods);
  sort_by_priority(priority, pods, order);
  EXPECT_EQ(order, (Order{2, 1, 0, 4, 3}));
}

struct ScatterRow {
  size_t plain, labelled;
  Order expected;
};

// 29. 4 plain + 2 labelled, 3+3, 6+3.
TEST(Order, LabelledPodsAreSpreadEvenlyAndTheLastOneIsLast) {
  const ScatterRow rows[] = {
      {4, 2, {4, 0, 1, 2, 3, 5}}, {3, 3, {3, 0, 1, 4, 2, 5}}, {6, 3, {6, 0, 1, 2, 7, 3, 4, 5, 8}}};
  for (const ScatterRow& row : rows) {
    std::vector<PodRow> pods;
    for (size_t i = 0; i < row.plain + row.labelled; ++i)
      pods.push_back(pod_of(Phase::running, true, i < row.plain ? "{}" : R"({"s":"x"})"));
    Order order = all_of(pods);
    scatter({{"s", "x"}}, pods, order);
    EXPECT_EQ(order, row.expected) << row.plain << "+" << row.labelled;
  }
}

TEST(Order, ASparseLabelAmongAllPodsIsSpreadAsSparselyAmongTheLast) {
  // Eight pods of which two are labelled; the last candidates are both of these and four others:
  // one others' group of the density of all comes behind the rest.
  std::vector<PodRow> pods;
  for (int i = 0; i < 8; ++i)
    pods.push_back(pod_of(Phase::running, true, i < 3 ? R"({"s":"x"})" : "{}"));
  Order order{0, 1, 2, 3, 4, 5, 6, 7};
  scatter({{"s", "x"}}, pods, order);
  // 2 and 5: groups of one and three (2.5 rounded), the last labelled one at the end.
  EXPECT_EQ(order, (Order{0, 3, 4, 5, 1, 6, 7, 2}));
  Order fewer{0, 1, 3, 4, 5, 6, 7};
  scatter({{"s", "x"}}, pods, fewer);
  // Of the candidates 1 to 5, of all 2 to 5: the groups of all, and what is over comes first.
  EXPECT_EQ(fewer, (Order{3, 4, 0, 5, 6, 7, 1}));
}

// 30. A pod in PreparingUpdate moves to the head after priority and scatter.
TEST(Order, WhatIsPreparedComesFirst) {
  std::vector<PodRow> pods{pod_of(Phase::running, true, R"({"k":"9"})"),
                           pod_of(Phase::running, true, R"({"k":"5"})"),
                           pod_of(Phase::running, true, R"({"k":"1"})")};
  pods[2].lifecycle = Lifecycle::preparing_update;
  UpdateOrder strategy;
  strategy.priority.order_keys = {"k"};
  Order order = all_of(pods);
  sort_for_update(strategy, pods, order);
  EXPECT_EQ(order, (Order{2, 0, 1}));
}

// 32. unassigned < pending < not ready < low cost < crowded node < short ready time < many restarts
// < newest.
TEST(Order, Deletion) {
  std::vector<PodRow> pods;
  for (int i = 0; i < 9; ++i) {
    PodRow pod = pod_of(Phase::running, true);
    pod.ready_since = Time(100s);
    pod.created = Time(50s);
    pod.deletion_cost = 1;
    pods.push_back(pod);
  }
  own_tag(pods[8]).node = Name();
  pods[7].phase = Phase::pending;
  pods[6].readiness = Readiness::not_ready;
  pods[6].is_available = false;
  pods[5].deletion_cost = 0;
  own_tag(pods[4]).node = pods[3].node();
  pods[4].ready_since = Time(99s);
  pods[3].ready_since = Time(98s);
  pods[2].ready_since = Time(101s);
  pods[1].restarts = 3;
  // 4 and 3 share a node: the one to go first is ahead of what has a node of its own.
  const Order chosen = chosen_for_deletion(pods, {}, all_of(pods), 8, 0);
  EXPECT_EQ(chosen, (Order{8, 7, 6, 5, 4, 2, 1, 0}));
  std::vector<PodRow> two{pods[0], pods[0]};
  two[1].created = Time(60s);
  EXPECT_EQ(chosen_for_deletion(two, {}, {0, 1}, 1, 0), (Order{1}));
}

// 33. Pods of the older revision go first up to their number, then by rank.
TEST(Order, OlderRevisionsGoFirst) {
  std::vector<PodRow> pods;
  for (int i = 0; i < 5; ++i) {
    pods.push_back(pod_of(Phase::running, true));
    pods.back().deletion_cost = i;
  }
  const Order old{3, 4}, updated{0, 1, 2};
  EXPECT_EQ(chosen_for_deletion(pods, old, updated, 2, 1), (Order{3, 0}));
  EXPECT_EQ(chosen_for_deletion(pods, old, updated, 2, 5), (Order{3, 4}));
  EXPECT_EQ(chosen_for_deletion(pods, old, updated, 2, 0), (Order{0, 1}));
}

// 55. Of two otherwise equal pods the one whose image is there comes first; early, it beats the
// ready time, and never readiness, priority or scatter.
TEST(Order, TheImageOnTheNodeIsTheLastKeyOrAnEarlyOne) {
  std::vector<PodRow> pods{pod_of(Phase::running, true), pod_of(Phase::running, true)};
  pods[1].has_image = true;
  UpdateOrder strategy;
  Order order = all_of(pods);
  sort_for_update(strategy, pods, order);
  EXPECT_EQ(order, (Order{1, 0})) << "equal but for the image";
  pods[0].ready_since = Time(20s);
  pods[1].ready_since = Time(10s);
  sort_for_update(strategy, pods, order);
  EXPECT_EQ(order, (Order{0, 1})) << "the ready time decides";
  strategy.image_early = true;
  sort_for_update(strategy, pods, order);
  EXPECT_EQ(order, (Order{1, 0})) << "early";
  pods[0].readiness = Readiness::not_ready;
  sort_for_update(strategy, pods, order);
  EXPECT_EQ(order, (Order{0, 1})) << "readiness";
  pods[0].readiness = Readiness::ready;
  strategy.priority.order_keys = {"k"};
  own_tag(pods[1]).labels = *read_json(R"({"k":"1"})");
  sort_for_update(strategy, pods, order);
  EXPECT_EQ(order, (Order{0, 1})) << "priority";
}

TEST(Order, DeletionCostsAreWholeNumbersAsKubernetesReadsThem) {
  EXPECT_EQ(deletion_cost_of("10"), 10);
  EXPECT_EQ(deletion_cost_of("-3"), -3);
  for (const char* text : {"+10", "008", "x", "", "99999999999", "1.5"})
    EXPECT_EQ(deletion_cost_of(text), 0) << text;
}

// A queue works out no more than it is asked for, and that as sorting all of them would.
TEST(Order, TheFirstOfAQueueAreThoseOfTheWholeOrder) {
  std::vector<PodRow> pods;
  for (int i = 0; i < 40; ++i) {
    PodRow pod = pod_of(i % 7 == 0 ? Phase::pending : Phase::running, i % 3 != 0,
                        i % 2 == 0 ? R"({"k":"1"})" : "{}");
    pod.ready_since = Time(std::chrono::seconds(i * 17 % 5));
    if (i % 11 == 5)
      pod.lifecycle = Lifecycle::preparing_update;
    pods.push_back(pod);
  }
  UpdateOrder plain, by_priority, scattered;
  by_priority.priority.order_keys = {"k"};
  scattered.scatter = {{"k", "1"}};
  for (const UpdateOrder& by : {plain, by_priority, scattered}) {
    Order whole = all_of(pods);
    sort_for_update(by, pods, whole);
    const UpdateQueue queue(by, pods, all_of(pods));
    for (const size_t count : {size_t{0}, size_t{1}, size_t{5}, size_t{40}, size_t{50}}) {
      const Order first = queue.first(count, [](uint32_t) { return true; });
      EXPECT_EQ(first, Order(whole.begin(),
                             whole.begin() + static_cast<long>(std::min<size_t>(count, 40))));
    }
    Order odd = whole;
    std::erase_if(odd, [](uint32_t pod) { return pod % 2 == 0; });
    odd.resize(6);
    EXPECT_EQ(queue.first(6, [](uint32_t pod) { return pod % 2 != 0; }), odd);
  }
}

}  // namespace
}  // namespace fettle::workloads
