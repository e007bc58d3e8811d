#include "kubernetes/go_json.h"

#include <gtest/gtest.h>

#include "value/json.h"

namespace fettle::kubernetes {
namespace {

TEST(GoJson, LettersOfMarkupAreEscaped) {
  EXPECT_EQ(write_go_json(Value::dict({{"args", Value::list({"a && b", "<x>"})}})),
            R"({"args":["a \u0026\u0026 b","\u003cx\u003e"]})");
}

TEST(GoJson, LineSeparatorsAreEscapedAndOtherLettersAreNot) {
  EXPECT_EQ(write_go_json("\xE2\x80\xA8\xE2\x80\xA9\xE2\x82\xAC"),
            "\"\\u2028\\u2029\xE2\x82\xAC\"");
}

TEST(GoJson, ControlLettersAreThoseOfGo) {
  EXPECT_EQ(write_go_json(std::string_view("\b\f\x01\x7F\n", 5)), "\"\\b\\f\\u0001\x7F\\n\"");
}

/// The text of an escape is none.
TEST(GoJson, ABackslashBelongsToWhatFollows) {
  const Value text = R"(\u007f \< \\u0008)";
  EXPECT_EQ(write_go_json(text), R"("\\u007f \\\u003c \\\\u0008")");
  EXPECT_EQ(*read_json(write_go_json(text)), text);
}

TEST(GoJson, WhatHasNoneOfThemStaysAsItIs) {
  const Value plain = Value::dict({{"a", 1}, {"b", Value::list({true, Value()})}});
  EXPECT_EQ(write_go_json(plain), write_json(plain));
}

}  // namespace
}  // namespace fettle::kubernetes
