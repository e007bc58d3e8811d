#include "value/json.h"

#include <gtest/gtest.h>

#include "value/codec.h"
#include "value/json_tree.h"

namespace fettle {
namespace {

TEST(Json, WhatIsReadIsWrittenBackExactly) {
  for (const char* text :
       {"null", "true", "[]", "{}", R"({"a":[1,2.5,"x"],"b":null})",
        "123456789012345678901234567890", "0.1", "1e+300", "-0.0", R"("\"\\\n\u0001é😀")"})
    EXPECT_EQ(write_json(*read_json(text)), text);
}

TEST(Json, IntegersOfAnyLengthAreReadBack) {
  const std::string nines(400, '9');
  const std::string ten = "1" + std::string(5'000, '0');
  for (const std::string& text :
       {nines, "-" + nines, "[1," + ten + ",\"\\\"" + nines + "\",2.5,-" + ten + "]",
        R"({"a":{"b":)" + nines + R"(},"c":17})"}) {
    const Result<Value> value = read_json(text);
    ASSERT_TRUE(value) << value.error().message;
    EXPECT_EQ(write_json(*value), text);
    const Result<Tree> tree = read_json_tree(text, "");
    ASSERT_TRUE(tree) << tree.error().message;
    EXPECT_EQ(value_of(tree->root()), *value);
    Writer stored;
    stored.value(*value);
    EXPECT_EQ(Reader(stored.take()).value(), *value);
  }
}

TEST(Json, PlacesHoldBesideLongIntegers) {
  const std::string nines(400, '9');
  const Result<Tree> tree = read_json_tree("[" + nines + ",\n 7]", "");
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->root().items()[0]->place(), (Place{1, 2}));
  EXPECT_EQ(tree->root().items()[1]->place(), (Place{2, 2}));
  EXPECT_EQ(read_json("[" + nines + ",]", "a.json").error().where, (Where{"a.json", 1, 403}));
  EXPECT_EQ(read_json_tree("[" + nines + ",]", "a.json").error().where, (Where{"a.json", 1, 403}));
}

TEST(Json, NumbersThatAreNoIntegersHaveToFitADouble) {
  const std::string nines(400, '9');
  for (const std::string& text :
       {nines + ".5", nines + "e1", std::string("1e400"), "[" + nines + ",1e400]", "-0" + nines,
        nines + "-", "--" + nines, nines + " " + nines})
    EXPECT_FALSE(read_json(text)) << text;
}

TEST(Json, IndentsLikeOthersDo) {
  EXPECT_EQ(write_json(*read_json(R"({"a":[1],"b":{},"c":[]})"), {.indent = 2}),
            "{\n  \"a\": [\n    1\n  ],\n  \"b\": {},\n  \"c\": []\n}");
}

TEST(Json, ErrorsHaveLineAndColumn) {
  struct Case {
    const char* text;
    int line, column;
  };
  for (const Case& c : {Case{"{\n  \"a\": 1,\n  x\n}", 3, 3}, Case{"[1,]", 1, 4},
                        Case{"[1] 2", 1, 5}, Case{"", 1, 1}}) {
    const Result<Value> read = read_json(c.text, "args.json");
    ASSERT_FALSE(read) << c.text;
    EXPECT_EQ(read.error().where, (Where{"args.json", c.line, c.column})) << c.text;
    EXPECT_EQ(read.error().blame, Blame::user);
  }
}

TEST(Json, AZeroByteIsNotTheEnd) {
  for (const std::string_view text : {std::string_view("{}\0junk", 7), std::string_view("[1\0]", 5),
                                      std::string_view("\0", 1), std::string_view("1\n\0", 3)}) {
    const Result<Value> read = read_json(text, "a.json");
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().message, "invalid JSON: it has a zero byte");
  }
  EXPECT_EQ(read_json(std::string_view("1\n\0", 3)).error().where.line, 2);
}

TEST(Json, DuplicateKeysAreAnErrorUnlessTheLastWins) {
  EXPECT_EQ(read_json(R"({"a":1,"a":2})").error().message,
            "invalid JSON: a key occurs twice in one object");
  EXPECT_EQ(write_json(*read_json(R"({"a":1,"a":2})", {}, Duplicates::last_wins)), R"({"a":2})");
}

TEST(Json, OfATextThatIsBrokenEachBrokenByteIsReplaced) {
  std::string json;
  append_json_text(json, "\xC3\xA9\xFF\xE2\x82\xAC\xE2\x82 \xF0\x9F\x98\x80\xC3");
  EXPECT_EQ(
      json,
      "\"\xC3\xA9\xEF\xBF\xBD\xE2\x82\xAC\xEF\xBF\xBD\xEF\xBF\xBD \xF0\x9F\x98\x80\xEF\xBF\xBD\"");
}

TEST(Json, HostileNestingAndBrokenUtf8AreErrors) {
  EXPECT_FALSE(read_json(std::string(1'000'000, '[')));
  EXPECT_FALSE(read_json("\"\xC0\x80\""));
  std::string deep;
  for (int i = 0; i < 2'000; ++i)
    deep += R"({"a":)";
  EXPECT_NE(read_json(deep).error().message.find("nested deeper than 1000"), std::string::npos);
}

}  // namespace
}  // namespace fettle
