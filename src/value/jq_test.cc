#include "value/jq.h"

#include <gtest/gtest.h>

#include "value/json.h"

namespace fettle {
namespace {

std::string run(std::string_view expression, std::string_view text) {
  const Result<Value> result = run_jq(expression, text);
  return result ? write_json(*result) : result.error().message;
}

TEST(Jq, GivesTheFirstResult) {
  EXPECT_EQ(run(".a.b", R"({"a":{"b":[1,2]}})"), "[1,2]");
  EXPECT_EQ(run(".[] | select(. > 1)", "[1,2,3]"), "2");
  EXPECT_EQ(run("split(\" \") | .[1]", "no json"), R"("json")");
  EXPECT_EQ(run("length", "abc"), "3");
  EXPECT_EQ(run(".a", R"({"a":1})"), run(".a", R"({"a":1})"));
}

TEST(Jq, WhatIsWrongIsSaid) {
  EXPECT_NE(run(".a |", "1").find("does not compile"), std::string::npos);
  EXPECT_NE(run(".a", "[1]").find("fails: Cannot index array"), std::string::npos);
  EXPECT_NE(run("empty", "1").find("gives no result"), std::string::npos);
}

}  // namespace
}  // namespace fettle
