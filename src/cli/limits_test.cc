#include "cli/limits.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

TEST(Limits, FlagsCountMoreThanVariablesAndThoseMoreThanDefaults) {
  CommandLine parsed;
  std::map<std::string, std::string> variables;
  const auto asked = [&] {
    return limits_asked(parsed, [&](const char* name) { return variables[name]; });
  };
  EXPECT_EQ(asked()->connect, 10s);
  EXPECT_EQ(asked()->silence, 2min);
  EXPECT_EQ(asked()->whole, 1h);
  EXPECT_EQ(asked()->command, 0s);
  variables["FETTLE_CONNECT_TIMEOUT"] = "3s";
  variables["FETTLE_TRANSFER_TIMEOUT"] = "0";
  EXPECT_EQ(asked()->connect, 3s);
  EXPECT_EQ(asked()->whole, 0s);
  parsed.options["connect-timeout"] = {"500ms"};
  parsed.options["command-timeout"] = {"1m30s"};
  EXPECT_EQ(asked()->connect, 500ms);
  EXPECT_EQ(asked()->command, 90s);
}

TEST(Limits, WhatIsNoTimeIsAnError) {
  for (const char* text : {"soon", "10", "-1s", "1x"}) {
    CommandLine parsed;
    parsed.options["silence-timeout"] = {text};
    const auto asked = limits_asked(parsed, [](const char*) { return std::string(); });
    ASSERT_FALSE(asked) << text;
    EXPECT_EQ(asked.error().blame, Blame::user);
    EXPECT_TRUE(asked.error().message.starts_with("`--silence-timeout` must be")) << text;
  }
  const auto asked = limits_asked({}, [](const char*) { return std::string("?"); });
  EXPECT_TRUE(asked.error().message.starts_with("`$FETTLE_CONNECT_TIMEOUT` must be"));
}

}  // namespace
}  // namespace fettle
