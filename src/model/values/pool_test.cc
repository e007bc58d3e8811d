#include "model/values/pool.h"

#include <gtest/gtest.h>

#include "model/values/datum.h"

namespace fettle::model {
namespace {

using Arrays = ArenaArrays<Datum>;

TEST(ArenaArrays, GrowByAThirdOrAHalf) {
  std::vector<uint32_t> rooms;
  for (uint32_t room = Arrays::next_room(0); room < 100; room = Arrays::next_room(room))
    rooms.push_back(room);
  EXPECT_EQ(rooms, (std::vector<uint32_t>{2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96}));
}

TEST(ArenaArrays, HandOutWhatWasGivenBackOfTheSameRoom) {
  Arena arena;
  Arrays arrays(arena);
  Datum* const three = arrays.take(3);
  Datum* const four = arrays.take(4);
  Datum* const other_four = arrays.take(4);
  arrays.give_back(four, 4);
  arrays.give_back(other_four, 4);
  arrays.give_back(three, 3);
  EXPECT_EQ(arrays.take(4), other_four);
  EXPECT_EQ(arrays.take(4), four);
  EXPECT_EQ(arrays.take(3), three);
  EXPECT_NE(arrays.take(3), three);
}

}  // namespace
}  // namespace fettle::model
