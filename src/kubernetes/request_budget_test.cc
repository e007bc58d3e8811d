#include "kubernetes/request_budget.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/prng.h"

namespace fettle::kubernetes {
namespace {

TEST(RequestBudget, TheMostUrgentIsFirstAndThenTheOldest) {
  RequestBudget budget(1, 10);
  const auto event = budget.join(Urgency::events), status = budget.join(Urgency::status);
  const auto first = budget.join(Urgency::availability),
             second = budget.join(Urgency::availability);
  const auto progress = budget.join(Urgency::progress);
  std::vector<RequestBudget::Ticket> order;
  while (const auto next = budget.admit({}))
    order.push_back(*next);
  EXPECT_EQ(order, (std::vector{first, second, progress, status, event}));
}

TEST(RequestBudget, NoSpanHasMoreThanItsShare) {
  Prng prng(7);
  RequestBudget budget(20, 5);
  std::vector<Instant> admitted;
  Instant now{1h};
  for (int i = 0; i < 2'000; ++i) {
    now += Duration(static_cast<int64_t>(prng.below(80'000'000)));
    budget.join(Urgency::progress);
    while (budget.admit(now))
      admitted.push_back(now);
  }
  for (size_t from = 0; from < admitted.size(); from += 7)
    for (size_t to = from; to < admitted.size(); to += 13) {
      const double seconds = std::chrono::duration<double>(admitted[to] - admitted[from]).count();
      ASSERT_LE(static_cast<double>(to - from + 1), 5 + 20 * seconds + 1e-6);
    }
  EXPECT_GT(admitted.size(), 1'000u);
}

TEST(RequestBudget, ItSaysWhenTheNextTokenIsThere) {
  RequestBudget budget(4, 1);
  EXPECT_FALSE(budget.due({}));
  budget.join(Urgency::status);
  EXPECT_EQ(budget.due({}), Instant());
  EXPECT_TRUE(budget.admit({}));
  const auto waiting = budget.join(Urgency::status);
  EXPECT_EQ(budget.due({}), Instant(250ms));
  EXPECT_FALSE(budget.admit(Instant(249ms)));
  EXPECT_EQ(budget.admit(*budget.due({})), waiting);
}

TEST(RequestBudget, APauseHoldsAllBack) {
  RequestBudget budget(0, 1);
  budget.pause_until(Instant(5s));
  const auto left = budget.join(Urgency::availability);
  const auto stays = budget.join(Urgency::events);
  EXPECT_FALSE(budget.admit(Instant(4s)));
  EXPECT_EQ(budget.due(Instant(4s)), Instant(5s));
  budget.leave(left);
  EXPECT_EQ(budget.admit(Instant(5s)), stays);
  for (int i = 0; i < 100; ++i) {
    budget.join(Urgency::events);
    EXPECT_TRUE(budget.admit(Instant(5s))) << "without a limit";
  }
}

TEST(RequestBudget, ATimeThatGoesBackGivesNothing) {
  RequestBudget budget(1, 1);
  for (int i = 0; i < 3; ++i)
    budget.join(Urgency::events);
  EXPECT_TRUE(budget.admit(Instant(10s)));
  EXPECT_FALSE(budget.admit(Instant(1s)));
  EXPECT_FALSE(budget.admit(Instant(10s)));
  EXPECT_TRUE(budget.admit(Instant(11s)));
}

}  // namespace
}  // namespace fettle::kubernetes
