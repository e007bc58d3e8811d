#include "value/alike_values.h"

#include <gtest/gtest.h>

#include <deque>

#include "base/prng.h"
#include "base/text.h"
#include "value/json.h"

namespace fettle {
namespace {

Value json_of(std::string_view text) { return *read_json(text); }

Value pod(std::string_view name, std::string_view image, int ready) {
  return json_of(cat(R"({"metadata":{"name":")", name, R"(","labels":{"app":"web"}},)",
                     R"("spec":{"containers":[{"name":"main","image":")", image,
                     R"(","env":[{"name":"A","value":"b"}]}]},"status":{"ready":)", ready, "}}"));
}

TEST(AlikeValues, AreEqualToWhatWasGiven) {
  AlikeValues values;
  for (const char* text :
       {"null", "7", "8", "true", R"("")", R"("a")", "[]", "{}", "[1]", "[2]", "[[1],2]",
        "12345678901234567890123", R"([1,[2,{"a":"b"}]])", R"({"a":{"b":[{"c":null}]},"d":1.5})",
        R"({"a":{"b":[{"c":{}}]},"d":1.5})", R"({"a":{"b":[{"c":null}]},"d":[]})", R"({"a":1})"})
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(values.keep(json_of(text)).value(), json_of(text));
  EXPECT_FALSE(AlikeValues::Kept());
  EXPECT_TRUE(AlikeValues::Kept().value().is_null());
}

TEST(AlikeValues, OfAlikeOnesOnlyWhatDiffersIsKept) {
  AlikeValues values;
  const AlikeValues::Kept a = values.keep(pod("a", "web:1", 0)),
                          b = values.keep(pod("b", "web:1", 0)),
                          c = values.keep(pod("c", "web:2", 1));
  EXPECT_EQ(values.forms(), 1u);
  EXPECT_EQ(a.value(), pod("a", "web:1", 0));
  EXPECT_EQ(b.value(), pod("b", "web:1", 0));
  EXPECT_EQ(c.value(), pod("c", "web:2", 1));
  const auto labels = [](const AlikeValues::Kept& kept) {
    return kept.at({"metadata", "labels"}).entries().data();
  };
  EXPECT_EQ(labels(a), labels(b));
  EXPECT_EQ(labels(a), labels(c));
  (void)values.keep(pod("a", "web:1", 0), Digest{1, 1});
  EXPECT_EQ(values.forms(), 2u);
}

TEST(AlikeValues, APartIsFoundWithoutTheRest) {
  AlikeValues values;
  (void)values.keep(pod("a", "web:1", 0));
  const AlikeValues::Kept kept = values.keep(pod("b", "web:2", 1));
  const Value whole = pod("b", "web:2", 1);
  EXPECT_EQ(kept.at({}), whole);
  EXPECT_EQ(kept.at({"metadata"}), whole.at("metadata"));
  EXPECT_EQ(kept.at({"metadata", "name"}), Value("b"));
  EXPECT_EQ(kept.at({"spec", "containers"}), whole.at("spec").at("containers"));
  EXPECT_EQ(kept.at({"status", "ready"}), Value(1));
  for (const Value& none : {kept.at({"metadata", "uid"}), kept.at({"metadata", "name", "more"}),
                            kept.at({"status", "ready", "x"}), AlikeValues::Kept().at({"a"})})
    EXPECT_TRUE(none.is_null());
}

TEST(AlikeValues, WhatNobodyHasIsForgotten) {
  AlikeValues values;
  const AlikeValues::Kept kept = values.keep(json_of(R"({"stays":[1]})"));
  for (int i = 0; i < 1000; ++i)
    (void)values.keep(json_of(cat(R"({"key-)", i, R"(":1})")));
  EXPECT_LT(values.forms(), 200u);
  EXPECT_EQ(kept.value(), json_of(R"({"stays":[1]})"));
}

/// One of few of each sort, so that many are alike, and many nearly.
Value any_value(Prng& random, int depth) {
  const uint64_t sort = random.below(depth > 3 ? 3 : 5);
  if (sort < 3)
    return sort == 0 ? Value() : sort == 1 ? Value(random.below(3)) : Value(cat(random.below(3)));
  std::vector<Value> items(random.below(3));
  for (Value& item : items)
    item = any_value(random, depth + 1);
  if (sort == 3)
    return Value::list(std::move(items));
  std::vector<Entry> entries;
  for (Value& item : items)
    entries.push_back({cat("k", random.below(2)), std::move(item)});
  return Value::dict(std::move(entries));
}

TEST(AlikeValues, AnythingComesBackAsItWas) {
  Prng random(7);
  AlikeValues values;
  std::deque<std::pair<Value, AlikeValues::Kept>> all;
  for (int i = 0; i < 20'000; ++i) {
    const Value value = any_value(random, 0);
    all.emplace_back(value, values.keep(value, Digest{0, random.below(2)}));
    if (all.size() > 500)
      all.pop_front();
    const auto& [given, kept] = all[random.below(all.size())];
    ASSERT_EQ(kept.value(), given) << write_json(given);
    ASSERT_EQ(kept.at({"k0", "k1"}), given.at("k0").at("k1"));
  }
}

TEST(AlikeValues, WhatIsNestedTooDeeplyIsKeptAsAWhole) {
  AlikeValues values;
  for (int i = 0; i < 3; ++i) {
    Value value = i;
    for (int depth = 0; depth < 60; ++depth)
      value = Value::list({value, depth});
    EXPECT_EQ(values.keep(value).value(), value);
  }
}

}  // namespace
}  // namespace fettle
