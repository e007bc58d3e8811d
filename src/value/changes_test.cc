#include "value/changes.h"

#include <gtest/gtest.h>

#include "value/json.h"

namespace fettle {
namespace {

std::string changes(std::string_view before, std::string_view after) {
  return write_json(changes_between(read_json(before).value(), read_json(after).value()));
}

TEST(Changes, AreTheKeysThatDiffer) {
  EXPECT_EQ(changes("{}", "{}"), "{}");
  EXPECT_EQ(changes("null", R"({"a":1})"), R"({"new":{"a":1}})");
  EXPECT_EQ(changes(R"({"a":1})", "null"), R"({"old":{"a":1}})");
  EXPECT_EQ(changes(R"({"a":1,"b":2})", R"({"a":1,"b":3,"c":null})"),
            R"({"new":{"b":3,"c":null},"old":{"b":2}})");
  EXPECT_EQ(changes("5", "6"), "{}");
}

TEST(Changes, FollowDictsAndNotLists) {
  EXPECT_EQ(
      changes(R"({"a":{"b":{"c":1,"d":2}},"l":[1,2]})", R"({"a":{"b":{"c":3,"d":2}},"l":[1,3]})"),
      R"({"new":{"a":{"b":{"c":3}},"l":[1,3]},"old":{"a":{"b":{"c":1}},"l":[1,2]}})");
  EXPECT_EQ(changes(R"({"a":{"b":1}})", R"({"a":{}})"), R"({"old":{"a":{"b":1}}})");
  EXPECT_EQ(changes(R"({"a":{}})", R"({"a":5})"), R"({"new":{"a":5},"old":{"a":{}}})");
}

TEST(Changes, KeepSecrets) {
  const Value made = changes_between(Value::dict({{"key", Value::secret("old")}}),
                                     Value::dict({{"key", Value::secret("new")}}));
  EXPECT_EQ(write_json(made), R"({"new":{"key":"********"},"old":{"key":"********"}})");
}

}  // namespace
}  // namespace fettle
