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

TEST(Jq, KnowsNothingOfOurVariablesAndFiles) {
  ASSERT_EQ(setenv("FETTLE_TEST_SECRET", "secret", 1), 0);
  for (const char* expression : {"env.FETTLE_TEST_SECRET", "$ENV.FETTLE_TEST_SECRET",
                                 "1) | env.FETTLE_TEST_SECRET, (2", "[env, $ENV] | length | . * 0"})
    EXPECT_EQ(run(expression, "1").find("secret"), std::string::npos) << expression;
  EXPECT_EQ(run("env.FETTLE_TEST_SECRET", "1"), "null");
  EXPECT_EQ(run("$ENV.FETTLE_TEST_SECRET", "1"), "null");
  unsetenv("FETTLE_TEST_SECRET");
  for (const char* expression : {"import \"a\" as a; 1", "include \"a\"; 1",
                                 "import \"a\" as $a; $a", "1); import \"a\" as $a; ($a"})
    EXPECT_NE(run(expression, "1").find("does not compile"), std::string::npos) << expression;
  EXPECT_EQ(run(".a # a comment", R"({"a":1})"), "1");
}

}  // namespace
}  // namespace fettle
