#include "packages/compose/interpolation.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace fettle::compose {
namespace {

const Variables variables{{"NAME", "web"}, {"EMPTY", ""}};

std::optional<std::string> look_up(std::string_view name) {
  const auto found = variables.find(name);
  return found == variables.end() ? std::nullopt : std::optional(found->second);
}

std::string filled(std::string_view text) {
  std::string missing;
  const auto made = interpolated(text, look_up,
                                 [&](std::string_view name) { missing += cat(" missing ", name); });
  return made ? *made + missing : cat("error: ", made.error().message);
}

TEST(Interpolation, VariablesAndOperators) {
  const std::pair<const char*, const char*> cases[] = {
      {"plain", "plain"},
      {"$NAME-${NAME}", "web-web"},
      {"$$NAME $${NAME}", "$NAME ${NAME}"},
      {"$ $1 5$", "$ $1 5$"},
      {"$GONE", " missing GONE"},
      {"${GONE:-a}${GONE-b}", "ab"},
      {"${EMPTY:-a}${EMPTY-b}", "a"},
      {"${NAME:+a}${EMPTY:+b}${EMPTY+c}${GONE+d}", "ac"},
      {"${GONE:-${NAME}/${GONE:-x}}", "web/x"},
      {"${GONE:-{\"a\": 1}}", "{\"a\": 1}"},
      {"${NAME?no}", "web"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_EQ(filled(text), expected) << text;
}

TEST(Interpolation, ErrorsSayWhatWasExpected) {
  EXPECT_EQ(filled("${GONE:?say it}"), "error: the variable `GONE` needs a value: say it");
  EXPECT_EQ(filled("${EMPTY?say it}"), "");
  EXPECT_EQ(filled("${NAME"),
            "error: `${NAME`: the `}` of a variable is missing; a `$` that is meant as such is "
            "written `$$`");
  EXPECT_NE(filled("${}").find("expected the name of a variable"), std::string::npos);
  EXPECT_NE(filled("${NAME*2}").find("expected `}`, or one of"), std::string::npos);
}

TEST(Interpolation, WhatIsNestedWithoutEndIsRefused) {
  std::string text;
  for (int i = 0; i < 10'000; ++i)
    text += "${A:-";
  text.append(10'000, '}');
  EXPECT_EQ(filled(text), "error: variables are nested too deeply");
}

TEST(EnvFile, EveryFormOfALine) {
  const auto read = read_env_file(
      "# c\nA=1\nexport B = two words  # c\nC='a $A'\nD=\"x\\ty $A\"\n\nE=\nNAME\nGONE\nF: "
      "yaml\n1X=no\n",
      "e", look_up);
  ASSERT_TRUE(read) << to_string(read.error());
  const Variables expected{{"A", "1"}, {"B", "two words"}, {"C", "a $A"}, {"D", "x\ty 1"},
                           {"E", ""},  {"NAME", "web"},    {"F", "yaml"}};
  EXPECT_EQ(*read, expected);
}

TEST(EnvFile, ErrorsHaveAPlace) {
  const auto open = read_env_file("A=1\nB=\"x\n", "e", look_up);
  ASSERT_FALSE(open);
  EXPECT_EQ(to_string(open.error()), "e:2:3: the closing \" of a value is missing");
  const auto key = read_env_file("A=1\n?=1\n", "e", look_up);
  ASSERT_FALSE(key);
  EXPECT_EQ(key.error().where, (Where{"e", 2, 1}));
}

TEST(EnvFile, RawValuesMeanThemselves) {
  const auto read = read_raw_env_file("A='x' # $A\r\n# c\nNAME\n", "e", look_up);
  ASSERT_TRUE(read);
  const Variables expected{{"A", "'x' # $A"}, {"NAME", "web"}};
  EXPECT_EQ(*read, expected);
}

}  // namespace
}  // namespace fettle::compose
