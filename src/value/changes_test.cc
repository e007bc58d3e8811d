#include "value/changes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "value/json.h"

namespace fettle {
namespace {

std::string changes(std::string_view before, std::string_view after,
                    std::string_view computed = "{}") {
  return write_json(changes_between(read_json(before).value(), read_json(after).value(),
                                    read_json(computed).value()));
}

TEST(Changes, AreTheKeysThatDifferWithBothSides) {
  EXPECT_EQ(changes("{}", "{}"), "{}");
  EXPECT_EQ(changes("null", R"({"a":1})"), R"({"new":{"a":1},"old":{}})");
  EXPECT_EQ(changes(R"({"a":1})", "null"), R"({"new":{},"old":{"a":1}})");
  EXPECT_EQ(changes(R"({"a":1,"b":2})", R"({"a":1,"b":3,"c":null})"),
            R"({"new":{"b":3,"c":null},"old":{"b":2}})");
  EXPECT_EQ(changes("5", "6"), "{}");
}

TEST(Changes, FollowDicts) {
  EXPECT_EQ(changes(R"({"a":{"b":{"c":1,"d":2}}})", R"({"a":{"b":{"c":3,"d":2}}})"),
            R"({"new":{"a":{"b":{"c":3}}},"old":{"a":{"b":{"c":1}}}})");
  EXPECT_EQ(changes(R"({"a":{"b":1}})", R"({"a":{}})"), R"({"new":{"a":{}},"old":{"a":{"b":1}}})");
  EXPECT_EQ(changes(R"({"a":{}})", R"({"a":5})"), R"({"new":{"a":5},"old":{"a":{}}})");
}

TEST(Changes, OfListsAreTheElementsThatTheOtherOneLacks) {
  EXPECT_EQ(changes(R"({"l":[1,2,{"a":1}]})", R"({"l":[{"a":1},2,1]})"), "{}");
  EXPECT_EQ(changes(R"({"l":[1,2,3]})", R"({"l":[3,4,1]})"),
            R"({"new":{"l":[4]},"old":{"l":[2]}})");
  EXPECT_EQ(changes(R"({"l":[1,1,2]})", R"({"l":[2,1]})"), R"({"new":{"l":[]},"old":{"l":[1]}})");
  EXPECT_EQ(changes(R"({"l":[{"a":[1,2]}]})", R"({"l":[{"a":[2,1]}]})"), "{}");
  EXPECT_EQ(changes(R"({"l":[{"a":1}]})", R"({"l":[{"a":2}]})"),
            R"({"new":{"l":[{"a":2}]},"old":{"l":[{"a":1}]}})");
}

TEST(Changes, CompareAsPythonDoes) {
  EXPECT_EQ(changes(R"({"a":1,"b":true,"l":[0,2.0]})", R"({"a":1.0,"b":1,"l":[2,false]})"), "{}");
  EXPECT_EQ(changes(R"({"a":"1"})", R"({"a":1})"), R"({"new":{"a":1},"old":{"a":"1"}})");
  EXPECT_EQ(changes(R"({"a":[]})", R"({"a":{}})"), "{}");
  EXPECT_EQ(changes(R"({"a":1.5})", R"({"a":1})"), R"({"new":{"a":1},"old":{"a":1.5}})");
}

TEST(Changes, LeaveOutWhatIsComputed) {
  EXPECT_EQ(changes(R"({"a":1,"b":{"c":1,"d":1}})", R"({"a":2,"b":{"c":2,"d":1}})",
                    R"({"a":null,"b":{"c":null}})"),
            "{}");
  EXPECT_EQ(changes(R"({"a":1,"b":[{"c":1,"d":1}]})", R"({"b":[{"c":2,"d":2}]})",
                    R"({"a":null,"b":{"c":null}})"),
            R"({"new":{"b":[{"c":2,"d":2}]},"old":{"b":[{"c":1,"d":1}]}})");
}

TEST(Changes, LookOnceAtWhatIsShared) {
  Value before = 1, after = 2;
  for (int level = 0; level < 60; ++level) {
    before = Value::dict({{"a", before}, {"b", before}, {"c", Value::list({before, before})}});
    after = Value::dict({{"a", after}, {"b", after}, {"c", Value::list({after, after})}});
  }
  EXPECT_EQ(changes_between(before, after).at("old").at("a"), before.at("a"));
}

TEST(Changes, OfWhatIsDeepOrLongAreFound) {
  Value deep = 1, deeper = 2;
  for (int level = 0; level < 450; ++level) {
    deep = Value::list({deep});
    deeper = Value::list({deeper});
  }
  EXPECT_EQ(
      changes_between(Value::dict({{"a", deep}}), Value::dict({{"a", deeper}})),
      Value::dict({{"old", Value::dict({{"a", deep}})}, {"new", Value::dict({{"a", deeper}})}}));
  std::vector<Value> items;
  for (int i = 0; i < 200'000; ++i)
    items.emplace_back(i);
  const Value list = Value::list(items);
  std::ranges::reverse(items);
  EXPECT_EQ(changes_between(Value::dict({{"a", list}}), Value::dict({{"a", Value::list(items)}})),
            Value::dict({}));
}

TEST(Changes, KeepSecrets) {
  const Value made = changes_between(Value::dict({{"key", Value::secret("old")}}),
                                     Value::dict({{"key", Value::secret("new")}}));
  EXPECT_EQ(write_json(made), R"({"new":{"key":"********"},"old":{"key":"********"}})");
}

}  // namespace
}  // namespace fettle
