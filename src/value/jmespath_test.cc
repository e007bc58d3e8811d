#include "value/jmespath.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr std::string_view document = R"({
  "a": {"b": {"c": [1, 2, 3]}, "x y": true},
  "list": [{"n": "one", "v": 3, "t": ["p"]}, {"n": "two", "v": 1, "t": ["q", "r"]}, {"n": "three", "v": 2}],
  "dict": {"k1": {"s": 1}, "k2": {"s": 2}, "k3": 5},
  "deep": [[1, [2]], [3], 4],
  "text": "héllo"
})";

/// The value as JSON, or the message of the error.
std::string picked(std::string_view text) {
  const Result<JmesPath> path = JmesPath::read(text);
  if (!path)
    return path.error().message;
  const Result<Value> value = path->of(*read_json(document));
  return value ? write_json(*value) : value.error().message;
}

struct Row {
  const char *expression, *found;
};

class JmespathRow : public testing::TestWithParam<Row> {};

TEST_P(JmespathRow, IsWhatTheSpecificationSays) {
  EXPECT_EQ(picked(GetParam().expression), GetParam().found) << GetParam().expression;
}

INSTANTIATE_TEST_SUITE_P(
    JmesPath, JmespathRow,
    testing::Values(
        Row{"a.b.c", "[1,2,3]"}, Row{"a.\"x y\"", "true"}, Row{"a.nothing.at.all", "null"},
        Row{"a.b.c[0]", "1"}, Row{"a.b.c[-1]", "3"}, Row{"a.b.c[9]", "null"},
        Row{"a.b.c[1:]", "[2,3]"}, Row{"a.b.c[::-1]", "[3,2,1]"}, Row{"a.b.c[:-1:2]", "[1]"},
        Row{"a.b.c[::9223372036854775807]", "[1]"}, Row{"list[*].n", R"(["one","two","three"])"},
        Row{"list[].t[]", R"(["p","q","r"])"}, Row{"list[*].t[0]", R"(["p","q"])"},
        Row{"list[*].t | [0]", R"(["p"])"}, Row{"dict.*.s", "[1,2]"}, Row{"*.b.c[0]", "[1]"},
        Row{"deep[]", "[1,[2],3,4]"}, Row{"deep[][]", "[1,2,3,4]"},
        Row{"list[?v > `1`].n", R"(["one","three"])"},
        Row{"list[?n == 'two' || v == `3`].v", "[3,1]"}, Row{"list[?!t].n", R"(["three"])"},
        Row{"list[?t && v < `2`].n", R"(["two"])"}, Row{"list[?t[?@ == 'q']].n", R"(["two"])"},
        Row{"list[0].[n, v]", R"(["one",3])"},
        Row{"list[0].{name: n, \"v v\": v}", R"({"name":"one","v v":3})"},
        Row{"[a.b.c[0], text]", R"([1,"héllo"])"}, Row{"length(text)", "5"},
        Row{"reverse(text)", R"("olléh")"}, Row{"length(list)", "3"},
        Row{"keys(dict)", R"(["k1","k2","k3"])"},
        Row{"sort_by(list, &v)[*].n", R"(["two","three","one"])"},
        Row{"max_by(list, &v).n", R"("one")"}, Row{"min(list[*].v)", "1"},
        Row{"sum(list[*].v)", "6"}, Row{"avg(a.b.c)", "2"}, Row{"map(&v, list)", "[3,1,2]"},
        Row{"join('-', list[*].n)", R"("one-two-three")"}, Row{"contains(text, 'llo')", "true"},
        Row{"starts_with(text, 'x')", "false"}, Row{"not_null(nothing, text)", R"("héllo")"},
        Row{"merge({a: `1`}, {a: `2`})", R"({"a":2})"}, Row{"to_number('12')", "12"},
        Row{"to_string(a.b.c)", R"("[1,2,3]")"}, Row{"type(@)", R"("object")"},
        Row{"`{\"x\": [1]}`.x", "[1]"}, Row{"'it\\'s'", R"("it's")"}, Row{"`word`", R"("word")"},
        Row{"floor(`1.5`)", "1"}, Row{"abs(`-2.5`)", "2.5"}, Row{"a.b.c > `1`", "null"}));

TEST(JmesPath, WhatIsWrongIsToldWithItsColumn) {
  EXPECT_EQ(picked(""), "JMESPath, column 1: expected an expression");
  EXPECT_EQ(picked("a."), "JMESPath, column 3: expected a name, `*`, `[` or `{`");
  EXPECT_EQ(picked("a[?b"), "JMESPath, column 5: expected `]`");
  EXPECT_EQ(picked("a[x]"), "JMESPath, column 3: expected a number or `]`");
  EXPECT_EQ(picked("a[::0]"), "JMESPath, column 7: expected a step other than 0");
  EXPECT_EQ(picked("a b"), "JMESPath, column 3: expected the end");
  EXPECT_EQ(picked("'x"), "JMESPath, column 1: `'` is not closed");
  EXPECT_EQ(picked("a # b"), "JMESPath, column 3: `#` means nothing here");
  EXPECT_EQ(picked("lenght(a)"), "JMESPath: there is no function `lenght`, did you mean `length`?");
  EXPECT_EQ(picked("length(`1`)"), "JMESPath: `length` does not take 1");
  EXPECT_EQ(picked("length(a, a)"), "JMESPath: `length` takes 1 arguments, not 2");
  EXPECT_EQ(picked("sum(list)").find("JMESPath: `sum` does not take "), 0u);
  EXPECT_EQ(picked("&a"), "JMESPath: `&` stands before an argument only");
}

TEST(JmesPath, NothingThatIsLongOrDeepDoesHarm) {
  for (const char* piece : {"(", "!", "[", "a[?", "*.", "{a:", "length("}) {
    std::string text;
    while (text.size() < 9'000)
      text += piece;
    EXPECT_FALSE(JmesPath::read(text).has_value()) << piece;
  }
  std::string chain = "a";
  while (chain.size() < 9'000)
    chain += ".a";
  EXPECT_FALSE(JmesPath::read(chain).has_value());
  EXPECT_TRUE(JmesPath::read(chain.substr(0, 4'001)).has_value());
  EXPECT_FALSE(JmesPath::read(std::string(20'000, 'a')).has_value());
}

}  // namespace
}  // namespace fettle
