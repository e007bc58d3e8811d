#include "value/with.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

TEST(With, SetsKeysOfACopy) {
  const Value before = Value::dict({{"b", 1}, {"d", 2}});
  EXPECT_EQ(with(before, "b", 3), Value::dict({{"b", 3}, {"d", 2}}));
  EXPECT_EQ(with(before, "a", 3), Value::dict({{"a", 3}, {"b", 1}, {"d", 2}}));
  EXPECT_EQ(with(before, {{"e", 4}, {"c", 3}, {"d", 5}}),
            Value::dict({{"b", 1}, {"c", 3}, {"d", 5}, {"e", 4}}));
  EXPECT_EQ(with(before, {}), before);
  EXPECT_EQ(before, Value::dict({{"b", 1}, {"d", 2}}));
}

TEST(With, OfOneKeyTheLastOneCounts) {
  EXPECT_EQ(with(Value::dict({}), {{"a", 1}, {"a", 2}}), Value::dict({{"a", 2}}));
}

TEST(With, KeysStayInOrder) {
  const Value made = with(Value::dict({{"b", 1}}), {{"c", 1}, {"a", 1}});
  EXPECT_EQ(made.entries()[0].key, Name("a"));
  EXPECT_EQ(made.entries()[2].key, Name("c"));
}

}  // namespace
}  // namespace fettle
