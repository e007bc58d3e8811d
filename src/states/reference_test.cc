#include "states/reference.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "value/json.h"

namespace fettle::states {
namespace {

/// Plain pieces as they are, references as `<state|id|resource|path>`.
std::string reference_shown(std::string_view text) {
  std::string made;
  for (const Piece& piece : pieces_of(text))
    made += piece.reference ? cat("<", piece.reference->state, "|", piece.reference->id, "|",
                                  piece.reference->resource, "|", piece.reference->path, ">")
                            : piece.text;
  return made;
}

TEST(Reference, PiecesOfTexts) {
  EXPECT_EQ(reference_shown("${show:c:x}"), "<show|c||x>");
  EXPECT_EQ(reference_shown("a-${show:c:x}-${cloud.vpc:d:l[1]:k}!"),
            "a-<show|c||x>-<cloud.vpc|d||l[1]:k>!");
  EXPECT_EQ(reference_shown("${show:c:}"), "<show|c||>");
  EXPECT_EQ(reference_shown("${show:c[a:b]:x}"), "<show|c|a:b|x>");
  EXPECT_EQ(reference_shown("$${show:c:x}"), "$<show|c||x>");
  EXPECT_EQ(reference_shown("${show:${show:c:x}:y}"), "${show:<show|c||x>:y}");
  EXPECT_EQ(reference_shown("${show:b:{{ params.get('k') }}}"), "<show|b||{{ params.get('k') }}>");
  EXPECT_EQ(reference_shown(""), "");
}

TEST(Reference, WhatHasNotThreePartsIsPlain) {
  for (const char* text :
       {"${HOME}", "$HOME", "${a:b}", "${VAR:-x}", "${show:c:x", "${", "${}", "$"})
    EXPECT_EQ(reference_shown(text), text);
}

TEST(Reference, LongTextsTakeNoLongTime) {
  std::string text;
  for (int i = 0; i < 100'000; ++i)
    text += "${a";
  EXPECT_EQ(reference_shown(text), text);
  EXPECT_EQ(reference_shown(text + ":b:c}").size(), text.size() + 5);
}

TEST(Reference, ValuesAreFoundByTheirPaths) {
  const Value state =
      *read_json(R"({"x": "c", "l": [1, {"k": [5, 6]}], "d": {"a": {"b": 1}}, "o[1]": 2})");
  const auto at = [&](std::string_view path) {
    const Result<Value> value = value_at(state, path, "show");
    return value ? write_json(*value) : value.error().message;
  };
  EXPECT_EQ(at("x"), "\"c\"");
  EXPECT_EQ(at(""), write_json(state));
  EXPECT_EQ(at("l[1]:k[0]"), "5");
  EXPECT_EQ(at("l[*]"), R"([1,{"k":[5,6]}])");
  EXPECT_EQ(at("d:a:b"), "1");
  EXPECT_EQ(at("o\\[1\\]"), "2");
  EXPECT_EQ(at("zzz"),
            "\"Failed to parse \"zzz\" for state \"show\". Key \"zzz\" is not found as part of the "
            "state \"new_state\".");
  EXPECT_EQ(at("l[7]"),
            "\"Failed to parse \"l[7]\" for state \"show\". Cannot parse argument value for key "
            "\"l\" and index \"7\", because argument value is not a list or it does not include "
            "element with index \"7\".");
  EXPECT_EQ(at("l[-1]"),
            "\"Failed to parse \"l[-1]\" for state \"show\". Cannot parse argument value for key "
            "\"l[-1]\" for index \"-1\", because \"-1\" is not supported\".");
  EXPECT_NE(at("l[99999999999999999999]").find("is not supported"), std::string::npos);
  EXPECT_NE(at("x:y").find("Key \"y\" is not found"), std::string::npos);
}

}  // namespace
}  // namespace fettle::states
