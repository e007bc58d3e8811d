#include "value/shared_json.h"

#include <gtest/gtest.h>

#include "base/prng.h"
#include "base/text.h"
#include "value/json.h"

namespace fettle {
namespace {

Result<Value> read_plainly(std::string_view text) {
  return read_json(text, {}, Duplicates::last_wins);
}

std::string any_json(Prng& prng, int depth) {
  static const std::vector<std::string> scalars{"null",
                                                "true",
                                                "0",
                                                "-7",
                                                "1.5e3",
                                                "12345678901234567890123",
                                                R"("")",
                                                R"("a")",
                                                "\"ä\"",
                                                R"("\u00e4")",
                                                R"("\"\\\n{[,:]}")",
                                                R"("long enough to be met")",
                                                R"(" b ")",
                                                R"("1")"};
  const uint64_t kind = prng.below(depth > 0 ? 5 : 2);
  if (kind < 2)
    return scalars[prng.below(scalars.size())];
  std::string text = kind < 4 ? "{" : "[";
  const uint64_t count = prng.below(5);
  for (uint64_t i = 0; i < count; ++i) {
    text += i > 0 ? (prng.below(4) == 0 ? " ,\n" : ",") : "";
    if (kind < 4)
      text += cat("\"", std::string(1, static_cast<char>('a' + prng.below(4))), "\"",
                  prng.below(4) == 0 ? " : " : ":");
    text += any_json(prng, depth - 1);
  }
  return text + (kind < 4 ? "}" : "]");
}

TEST(SharedJson, ReadsWhatThePlainReaderReads) {
  Prng prng(7);
  SharedJson shared({}, 64);
  for (int i = 0; i < 4000; ++i) {
    const std::string text = any_json(prng, 5);
    const Result<Value> read = shared.read(text), expected = read_plainly(text);
    ASSERT_TRUE(expected) << text;
    ASSERT_TRUE(read) << text;
    ASSERT_EQ(*read, *expected) << text;
    ASSERT_EQ(write_json(*read), write_json(*expected)) << text;
  }
}

TEST(SharedJson, RefusesWhatThePlainReaderRefuses) {
  Prng prng(11);
  SharedJson shared({}, 64);
  size_t refused = 0;
  for (int i = 0; i < 8000; ++i) {
    std::string text = any_json(prng, 4);
    static constexpr std::string_view bytes = "{}[]\",:\\ \x01\x80\xC3tn0-.eE";
    const size_t at = prng.below(text.size());
    switch (prng.below(3)) {
      case 0:
        text.erase(at, 1);
        break;
      case 1:
        text.insert(at, 1, bytes[prng.below(bytes.size())]);
        break;
      default:
        text[at] = bytes[prng.below(bytes.size())];
    }
    const Result<Value> read = shared.read(text), expected = read_plainly(text);
    ASSERT_EQ(read.has_value(), expected.has_value()) << text;
    refused += expected ? 0 : 1;
    if (expected)
      ASSERT_EQ(*read, *expected) << text;
    else
      ASSERT_EQ(to_string(read.error()), to_string(expected.error())) << text;
  }
  EXPECT_GT(refused, 1000u);
}

TEST(SharedJson, PartsOfEqualBytesHaveOnePlaceFromTheSecondTimeOn) {
  SharedJson shared;
  std::vector<Value> pods;
  for (const char* name : {"a", "b", "c", "d"})
    pods.push_back(
        *shared.read(cat(R"({"name":")", name, R"(","spec":{"containers":[{"image":"web:1"}]}})")));
  const auto place = [](const Value& pod) { return pod.at("spec").entries().data(); };
  EXPECT_NE(place(pods[0]), place(pods[1]));
  EXPECT_EQ(place(pods[1]), place(pods[2]));
  EXPECT_EQ(place(pods[2]), place(pods[3]));
  EXPECT_EQ(pods[3].text_at("name"), "d");
  EXPECT_EQ(pods[1].entries()[0].key.view().data(), pods[3].entries()[0].key.view().data());
}

TEST(SharedJson, WhatIsLeftOutIsNotThereAndCountsNowhereElse) {
  SharedJson shared({{"object", "metadata", "managedFields"}, {"items", "*", "metadata", "x"}});
  const std::string_view text =
      R"({"managedFields":1,"object":{"metadata":{"managedFields":[{"a":{}}],"name":"n","x":1},)"
      R"("spec":{"metadata":{"managedFields":2}}},"items":[{"metadata":{"x":1}},{"x":2}]})";
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(write_json(*shared.read(text)),
              R"({"items":[{"metadata":{}},{"x":2}],"managedFields":1,"object":{"metadata":)"
              R"({"name":"n","x":1},"spec":{"metadata":{"managedFields":2}}}})");
  // The same bytes elsewhere, where nothing is left out.
  EXPECT_EQ(write_json(*shared.read(R"([{"metadata":{"x":1}},{"metadata":{"x":1}}])")),
            R"([{"metadata":{"x":1}},{"metadata":{"x":1}}])");
}

TEST(SharedJson, DeepAndLongTextsAreReadAsByThePlainReader) {
  SharedJson shared;
  for (const size_t depth : {99u, 101u, 1000u, 1001u, 100'000u}) {
    const std::string text = std::string(depth, '[') + std::string(depth, ']');
    EXPECT_EQ(shared.read(text).has_value(), read_plainly(text).has_value()) << depth;
  }
  const std::string large = cat("{\"a\":\"", std::string(10 << 20, 'x'), "\"}");
  EXPECT_EQ(*shared.read(large), *read_plainly(large));
}

}  // namespace
}  // namespace fettle
