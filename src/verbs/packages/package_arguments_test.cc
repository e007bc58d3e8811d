#include "verbs/packages/package_arguments.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace fettle {
namespace {

struct Came {
  std::string text;
  std::vector<std::string> notices;
};

Came merged(std::vector<ArgumentsPart> parts, std::vector<std::string> sets = {}) {
  Came came;
  const Result<std::string> made = merged_arguments(
      parts, sets, [&](const std::string& notice) { came.notices.push_back(notice); });
  came.text = made ? *made : to_string(made.error());
  return came;
}

TEST(PackageArguments, TheLastOfTwoCountsAndThatIsSaid) {
  const Came came = merged({{"a.yml", "x: 1\nz: {a: 1, b: 2}\n"},
                            {"b.json", R"({"z": {"b": 3, "c": 4}})"},
                            {"", R"({"x": 2})"}});
  EXPECT_EQ(came.text, R"({"x":2,"z":{"a":1,"b":3,"c":4}})");
  EXPECT_EQ(join(came.notices, "; "),
            "the argument `z.b` is taken from b.json; the argument `x` is "
            "taken from the command line");
}

TEST(PackageArguments, SetsAreReadAsYaml) {
  EXPECT_EQ(merged({{"", "{a: 1}"}}, {"a=2", "b.c=true", "b.d=text", "e=[1, 2]", "f="}).text,
            R"({"a":2,"b":{"c":true,"d":"text"},"e":[1,2],"f":""})");
}

TEST(PackageArguments, WhatIsWrongIsSaid) {
  EXPECT_EQ(merged({{"a.yml", "[1]"}}).text, "a.yml: the arguments must be a mapping");
  EXPECT_EQ(merged({}, {"x"}).text, "`--set x` must be written `--set NAME=VALUE` or `a.b=VALUE`");
  EXPECT_EQ(merged({}, {"a..b=1"}).text, "`--set a..b=1` has an empty name in its path");
}

}  // namespace
}  // namespace fettle
