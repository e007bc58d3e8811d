#include "reconcile/timers.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

constexpr Instant noon{12h};

TEST(Agenda, TheEarlierMomentIsTakenFirstAndNothingBeforeItsTime) {
  Agenda agenda;
  agenda.set(noon + 3s, 1);
  agenda.set(noon + 1s, 3);
  agenda.set(noon + 1s, 2);
  EXPECT_FALSE(agenda.take(noon));
  EXPECT_EQ(agenda.take(noon + 1s), 2u);
  EXPECT_EQ(agenda.take(noon + 1s), 3u);
  EXPECT_FALSE(agenda.take(noon + 1s));
  EXPECT_EQ(agenda.take(noon + 1h), 1u);
  EXPECT_FALSE(agenda.take(noon + 1h));
}

TEST(Agenda, WhatIsCancelledIsGone) {
  Agenda agenda;
  agenda.set(noon, 1);
  EXPECT_FALSE(agenda.cancel(noon + 1s, 1));
  EXPECT_FALSE(agenda.cancel(noon, 2));
  EXPECT_TRUE(agenda.cancel(noon, 1));
  EXPECT_FALSE(agenda.cancel(noon, 1));
  EXPECT_FALSE(agenda.take(noon));
}

TEST(Timers, TheNextMomentIsTheFirstOfAllKinds) {
  struct Row {
    std::optional<Duration> deadline, call, limit, next;
  };
  for (const Row& row : {
           Row{{}, {}, {}, {}},
           Row{3s, {}, {}, 3s},
           Row{3s, 2s, {}, 2s},
           Row{3s, 2s, 1s, 1s},
           Row{1s, 2s, 3s, 1s},
           Row{{}, 3s, 2s, 2s},
           Row{{}, {}, 2s, 2s},
       }) {
    Timers timers;
    if (row.deadline)
      timers.deadline = noon + *row.deadline;
    if (row.call) {
      timers.calls.set(noon + 1h, 1);
      timers.calls.set(noon + *row.call, 2);
    }
    if (row.limit)
      timers.limits.set(noon + *row.limit, 1);
    const std::optional<Instant> next = timers.next();
    ASSERT_EQ(next.has_value(), row.next.has_value());
    EXPECT_EQ(next.value_or(noon) - noon, row.next.value_or(0s));
  }
}

TEST(Watchers, ANodeIsCalledByWhatItWatchesNow) {
  const Key a{"e", "thing", "a"}, b{"e", "thing", "b"}, c{"e", "thing", "c"};
  using Nodes = std::set<NodeId>;
  Watchers watchers;
  watchers.turn(1, {}, {a, b});
  watchers.turn(2, {}, {b});
  EXPECT_EQ(watchers.of(a), (Nodes{1}));
  EXPECT_EQ(watchers.of(b), (Nodes{1, 2}));
  EXPECT_EQ(watchers.of(c), (Nodes{}));
  watchers.turn(1, {a, b}, {b, c});
  EXPECT_EQ(watchers.of(a), (Nodes{}));
  EXPECT_EQ(watchers.of(b), (Nodes{1, 2}));
  EXPECT_EQ(watchers.of(c), (Nodes{1}));
}

TEST(Watchers, ADriverIsAskedForHintsOnceWhateverBecomesOfThoseWhoWatch) {
  Watchers watchers;
  EXPECT_TRUE(watchers.is_first_of("engine"));
  watchers.turn(1, {}, {{"e", "thing", "a"}});
  watchers.clear();
  EXPECT_TRUE(watchers.of({"e", "thing", "a"}).empty());
  EXPECT_FALSE(watchers.is_first_of("engine"));
  EXPECT_TRUE(watchers.is_first_of("host"));
}

}  // namespace
}  // namespace fettle
