#include "reconcile/slots.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

Resource in(const Name& pool) {
  Resource resource;
  resource.pool = pool;
  return resource;
}

class SlotsTest : public testing::Test {
 protected:
  SlotsTest() { instant_.is_instant = true; }
  /// Starts everything that fits; returns the places in the order in which they got their slots.
  std::vector<uint32_t> started() {
    std::vector<uint32_t> places;
    while (const std::optional<uint32_t> place = slots_.next()) {
      places.push_back(*place);
      slots_.hold(pools_.at(*place));
    }
    return places;
  }
  void queue(const Resource& wanted, std::vector<uint32_t> places) {
    for (const uint32_t place : places) {
      pools_[place] = &wanted;
      slots_.queue(&wanted, place);
    }
  }
  using Places = std::vector<uint32_t>;

  Slots slots_{{{"narrow", 1}, {"wide", 9}}, 3};
  const Resource plain_ = in(""), narrow_ = in("narrow"), wide_ = in("wide"), other_ = in("other");
  Resource instant_;
  std::map<uint32_t, const Resource*> pools_;
};

TEST_F(SlotsTest, WhoStandsFirstInTheOrderGoesFirstWhateverItsPool) {
  queue(wide_, {5, 1});
  queue(plain_, {4, 2});
  queue(other_, {3});
  EXPECT_EQ(started(), (Places{1, 2, 3}));
  EXPECT_EQ(slots_.acting(), 3);
  slots_.release(&wide_);
  EXPECT_EQ(started(), (Places{4}));
}

TEST_F(SlotsTest, APoolIsNeverFullerThanItIsDeep) {
  queue(narrow_, {1, 2});
  queue(plain_, {3});
  EXPECT_EQ(started(), (Places{1, 3}));
  slots_.release(&plain_);
  EXPECT_EQ(started(), Places{});
  slots_.release(&narrow_);
  EXPECT_EQ(started(), (Places{2}));
}

TEST_F(SlotsTest, WhatIsNoLongerWantedSharesTheSlotsOfWhatNamesNoPool) {
  queue(plain_, {1, 2, 3});
  EXPECT_EQ(started().size(), 3u);
  slots_.queue(nullptr, 0);
  EXPECT_FALSE(slots_.next());
  slots_.release(&plain_);
  EXPECT_EQ(slots_.next(), 0u);
}

TEST_F(SlotsTest, WhatIsInstantTakesNoSlotAndGoesBeforeAll) {
  queue(plain_, {1, 2, 3, 4});
  queue(instant_, {8, 9});
  EXPECT_EQ(started(), (Places{8, 9, 1, 2, 3}));
  EXPECT_EQ(slots_.acting(), 5);
}

TEST_F(SlotsTest, WhatIsInstantInANamedPoolTakesASlotOfIt) {
  Resource resource = narrow_;
  resource.is_instant = true;
  queue(resource, {1, 2});
  EXPECT_EQ(started(), (Places{1}));
}

TEST_F(SlotsTest, WhatIsInstantGoesInBatches) {
  for (uint32_t place = 0; place < 300; ++place) {
    EXPECT_EQ(slots_.is_batch_full(), place >= 256);
    queue(instant_, {place});
  }
  EXPECT_EQ(started().size(), 256u);
  EXPECT_FALSE(slots_.is_batch_full());
}

TEST_F(SlotsTest, WhoLeavesTheQueueGetsNoSlot) {
  queue(plain_, {1, 2});
  slots_.unqueue(&plain_, 1);
  EXPECT_EQ(started(), (Places{2}));
}

TEST_F(SlotsTest, StraysTakeOfTheBudgetUntilTheyEnd) {
  slots_.add_strays(2);
  queue(plain_, {1, 2});
  EXPECT_EQ(started(), (Places{1}));
  slots_.end_stray();
  EXPECT_EQ(started(), (Places{2}));
  EXPECT_EQ(slots_.acting(), 3);
}

}  // namespace
}  // namespace fettle
