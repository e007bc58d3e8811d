#include "model/program/key_table.h"

#include <gtest/gtest.h>

namespace fettle::model {
namespace {

Key key(std::string text) {
  Key made{std::move(text)};
  made.seal();
  return made;
}

TEST(KeyTable, FindsWhatWasEntered) {
  Arena arena;
  KeyTable table;
  for (uint32_t number = 0; number < 10'000; ++number)
    table.insert(arena, key("@" + std::to_string(number) + ";"), number);
  for (uint32_t number = 0; number < 10'000; ++number)
    EXPECT_EQ(table.find(key("@" + std::to_string(number) + ";")), number);
  EXPECT_EQ(table.find(key("@10000;")), KeyTable::none);
}

TEST(KeyTable, TellsTextsOfOneHashApart) {
  Arena arena;
  KeyTable table;
  table.insert(arena, {"one", 7}, 1);
  table.insert(arena, {"two", 7}, 2);
  table.insert(arena, {"", 7}, 3);
  EXPECT_EQ(table.find({"one", 7}), 1U);
  EXPECT_EQ(table.find({"two", 7}), 2U);
  EXPECT_EQ(table.find({"", 7}), 3U);
  EXPECT_EQ(table.find({"three", 7}), KeyTable::none);
}

TEST(KeyTable, KeepsTextsWithAnyBytes) {
  Arena arena;
  KeyTable table;
  const std::string zeros(5, '\0');
  table.insert(arena, key(zeros), 1);
  EXPECT_EQ(table.find(key(zeros)), 1U);
  EXPECT_EQ(table.find(key(std::string(4, '\0'))), KeyTable::none);
}

}  // namespace
}  // namespace fettle::model
