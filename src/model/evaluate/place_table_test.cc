#include "model/evaluate/place_table.h"

#include <gtest/gtest.h>

namespace fettle::model {
namespace {

Place at(uint64_t line, uint64_t column) {
  Place made;
  made.line = line & Place::last_line;
  made.column = column & Place::last_column;
  return made;
}

bool is_same(Place a, Place b) { return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b); }

TEST(PlaceTable, GivesBackWhatItNumbered) {
  PlaceTable table;
  std::vector<uint32_t> numbers;
  for (uint64_t line = 1; line <= 1000; ++line)
    numbers.push_back(table.number(at(line, line % 7)));
  for (uint64_t line = 1; line <= 1000; ++line) {
    EXPECT_TRUE(is_same(table.at(numbers[line - 1]), at(line, line % 7))) << line;
    EXPECT_EQ(table.number(at(line, line % 7)), numbers[line - 1]) << line;
  }
}

TEST(PlaceTable, NumbersNoPlaceZero) {
  PlaceTable table;
  EXPECT_EQ(table.number(at(3, 1)), 1U);
  EXPECT_EQ(table.number(Place()), 0U);
  EXPECT_TRUE(is_same(table.at(0), Place()));
}

TEST(PlaceTable, TellsPlacesInTheLastColumnApartByLine) {
  PlaceTable table;
  const Place first = at(1, Place::last_column);
  const Place second = at(2, Place::last_column);
  EXPECT_NE(table.number(first), table.number(second));
  EXPECT_EQ(table.at(table.number(second)).column, Place::last_column);
}

}  // namespace
}  // namespace fettle::model
