#include "value/shared_values.h"

#include <gtest/gtest.h>

#include "value/json.h"

namespace fettle {
namespace {

Value json_of(std::string_view text) { return *read_json(text); }
/// Whether two values are one in memory.
bool are_one(const Value& a, const Value& b) {
  return a.is_dict() ? a.entries().data() == b.entries().data()
                     : a.items().data() == b.items().data();
}

TEST(SharedValues, AreEqualToWhatWasGiven) {
  SharedValues values;
  for (const char* text :
       {"null", "7", "true", R"("")", R"("a")", "[]", "{}", "12345678901234567890123",
        R"([1,[2,{"a":"b"}]])", R"({"a":{"b":[{"c":null}]},"d":1.5})"})
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(write_json(values.shared(json_of(text))), write_json(json_of(text)));
}

TEST(SharedValues, PartsThatAreMetAgainHaveOnePlace) {
  SharedValues values;
  std::vector<Value> pods;
  for (const char* name : {"a", "b", "c", "d"})
    pods.push_back(values.shared(json_of(std::string(R"({"name":")") + name +
                                         R"(","spec":{"containers":[{"image":"i"}]}})")));
  EXPECT_TRUE(are_one(pods[2].at("spec"), pods[3].at("spec")));
  EXPECT_EQ(pods[2].entries()[0].key.view().data(), pods[0].entries()[0].key.view().data());
  EXPECT_EQ(pods[3].text_at("name"), "d");
  EXPECT_FALSE(are_one(pods[2], pods[3]));
}

TEST(SharedValues, WhatWasNotMetForAWhileIsForgotten) {
  SharedValues values(10);
  const auto spec = [&] { return values.shared(json_of(R"({"spec":{"a":["b"]}})")).at("spec"); };
  spec();
  const Value kept = spec();
  EXPECT_TRUE(are_one(spec(), kept));
  for (int i = 0; i < 100; ++i)
    values.shared(json_of("[" + std::to_string(i) + "]"));
  EXPECT_FALSE(are_one(spec(), kept));
  EXPECT_EQ(spec(), kept);
}

}  // namespace
}  // namespace fettle
