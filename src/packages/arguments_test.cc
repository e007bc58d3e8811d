#include "packages/arguments.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/text.h"
#include "value/json.h"

namespace fettle {
namespace {

std::string read(std::string_view text, std::string_view file = "") {
  const Result<std::string> json = arguments_as_json(text, file);
  return json ? *json : to_string(json.error());
}

TEST(Arguments, AJsonObjectStaysAsItIs) {
  for (const char* text : {R"({"gas": 1e18, "ratio": 1.0})", " {\"b\": 1,\n \"a\": 2, \"b\": 3}\n",
                           R"({"big": 123456789012345678901234567890})"})
    EXPECT_EQ(read(text), text);
}

TEST(Arguments, EverythingElseIsYaml) {
  EXPECT_EQ(
      read("deposit: 32000000000000000000\ngas: 1e18\nratio: 1.0\nbig: 1e400"),
      R"({"big":"1e400","deposit":32000000000000000000,"gas":1000000000000000000,"ratio":1})");
  // What no real can hold is no JSON to Go, and then nothing beside it is.
  EXPECT_EQ(read(R"({"a": 1e400, "b": 1.0})"), R"({"a":"1e400","b":1})");
  EXPECT_EQ(read("{a: 1,}"), R"({"a":1})");
  EXPECT_EQ(read("a: 1\na: 2", "a.yml"),
            "a.yml:2:1: reading the arguments: invalid YAML: the key `a` occurs twice");
}

TEST(Arguments, WithAMarkOfTheByteOrderTheyAreYaml) {
  EXPECT_EQ(read("\xEF\xBB\xBF{\"a\": 1.0}"), R"({"a":1})");
}

TEST(Arguments, NothingIsTrimmed) {
  EXPECT_EQ(read("conf: |\n  line 1\n  line 2\n"), R"({"conf":"line 1\nline 2\n"})");
  EXPECT_EQ(read("conf: |+\n  line 1\n\n\n"), R"({"conf":"line 1\n\n\n"})");
  EXPECT_EQ(read("  a: 1\n  b: 2\n"), R"({"a":1,"b":2})");
}

TEST(Arguments, NoneGiveNothing) {
  for (const char* text : {"", " \n", "# nothing\n", "null", "~"})
    EXPECT_EQ(read(text), "{}") << text;
}

TEST(Arguments, WhatIsNoMappingIsAnError) {
  EXPECT_EQ(read("n=3"), "the arguments must be a mapping; `--set n=3` sets one of them");
  EXPECT_EQ(read("[1]", "a.json"), "a.json: the arguments must be a mapping");
  EXPECT_NE(read(R"({"a": [})", "a.yml").find("a.yml:1:8: reading the arguments: invalid JSON"),
            std::string::npos);
}

/// Of random texts, what Kurtosis' own libraries give: see `bench/differ arguments`.
TEST(Arguments, AreWhatKurtosisReads) {
  const Result<std::string> file = read_file(FETTLE_SOURCE_DIR "/tests/packages/arguments.jsonl");
  ASSERT_TRUE(file) << to_string(file.error());
  size_t count = 0;
  for (const std::string_view line : split(trim(*file), '\n')) {
    const Result<Value> row = read_json(line);
    ASSERT_TRUE(row) << line;
    const Result<std::string> json = arguments_as_json(row->text_at("text"), "");
    ++count;
    if (const Value* wanted = row->find("value"))
      EXPECT_TRUE(json && *read_json(*json, {}, Duplicates::last_wins) == *wanted)
          << line << "\n"
          << read(row->text_at("text"));
    else
      EXPECT_FALSE(json) << line;
  }
  EXPECT_GE(count, 1'000U);
}

}  // namespace
}  // namespace fettle
