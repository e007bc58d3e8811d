#include "value/value.h"
#include "base/text.h"

#include <gtest/gtest.h>

#include "value/json.h"

namespace fettle {
namespace {

TEST(Value, DictsHaveOneOrderAndTheLastOfEqualKeysCounts) {
  const Value a = Value::dict({{"b", 1}, {"a", 2}, {"b", 3}});
  const Value b = Value::dict({{"a", 2}, {"b", 3}});
  EXPECT_EQ(a, b);
  EXPECT_EQ(write_json(a), R"({"a":2,"b":3})");
}

TEST(Value, TypesAreNotMixedUp) {
  EXPECT_FALSE(Value(1) == Value(1.0));
  EXPECT_FALSE(Value(1) == Value(true));
  EXPECT_FALSE(Value("") == Value());
  EXPECT_FALSE(Value::list({}) == Value::dict({}));
  EXPECT_FALSE(Value::list({Value::list({})}) == Value::list({}));
  EXPECT_FALSE(Value::secret("x") == Value("x"));
}

TEST(Value, IntegersOfAnySizeAreExact) {
  EXPECT_EQ(Value::big_integer("-9223372036854775808").integer(),
            std::numeric_limits<int64_t>::min());
  const Value big = Value::big_integer("0123456789012345678901234567890");
  EXPECT_FALSE(big.integer());
  EXPECT_EQ(big.integer_digits(), "123456789012345678901234567890");
  EXPECT_EQ(Value::big_integer("-0"), Value(0));
}

TEST(Value, OneHoleAloneKeepsTheTypeOfTheOutput) {
  const Output code{"exec", "a", "code"};
  const Value outputs = Value::dict({{"code", 7}});
  const auto fill = [&](const Output& hole) { return follow(outputs, hole.path); };
  EXPECT_EQ(fill_holes(Value::deferred({Part(code)}), fill), Value(7));
  EXPECT_EQ(fill_holes(Value::deferred({Part("code "), Part(code)}), fill), Value("code 7"));
}

TEST(Value, WhatFillsAHoleWithinATextHasTheFormOfTheText) {
  const Output hole{"state", "a", "x"};
  const Value output = *read_json(R"({"a": [1, 2.0, true, null, "it's", {}, []], "b": "x"})");
  const auto fill = [&](const Output&) { return &output; };
  const std::vector<Part> parts{Part("pre "), Part(hole)};
  EXPECT_EQ(fill_holes(Value::deferred(parts), fill),
            Value(R"(pre {"a": [1, 2.0, True, None, "it's", {}, []], "b": "x"})"));
  EXPECT_EQ(fill_holes(Value::deferred(parts, TextForm::python), fill),
            Value(R"(pre {'a': [1, 2.0, True, None, "it's", {}, []], 'b': 'x'})"));
  EXPECT_NE(Value::deferred(parts), Value::deferred(parts, TextForm::python));
  // What stands alone keeps its type.
  EXPECT_EQ(Value::deferred({Part(hole)}), Value::deferred({Part(hole)}, TextForm::python));
}

TEST(Value, HolesAreFoundAndFilledAnywhere) {
  const Output a{"exec", "a", "output"}, b{"exec", "b", "output"};
  const Value value =
      Value::list({Value::dict({{"k", Value::deferred({Part(a)})}}), Value::deferred({Part(b)})});
  EXPECT_TRUE(value.has_deferred());
  EXPECT_EQ(holes(value), (std::vector<Output>{a, b}));
  const Value text("x");
  const Value half =
      fill_holes(value, [&](const Output& hole) { return hole == a ? &text : nullptr; });
  EXPECT_EQ(holes(half), std::vector<Output>{b});
  EXPECT_FALSE(fill_holes(half, [&](const Output&) { return &text; }).has_deferred());
}

TEST(Value, ASecretStaysSecretWhereverItIsPut) {
  const Value secret = Value::secret("hunter2");
  const Value text = Value::deferred({Part("pw="), Part(Output{"exec", "a", "output"})});
  const Value filled = fill_holes(text, [&](const Output&) { return &secret; });
  EXPECT_TRUE(filled.is_secret());
  EXPECT_EQ(write_json(Value::list({filled})), R"(["********"])");
  EXPECT_EQ(write_json(filled, {.show_secrets = true}), R"("pw=hunter2")");
}

TEST(Value, FollowPrefersAKeyWithDots) {
  const Value value =
      Value::dict({{"extract", Value::dict({{"a.b", 1}, {"a", Value::dict({{"b", 2}})}})}});
  EXPECT_EQ(*follow(value, "extract.a.b"), Value(1));
  EXPECT_EQ(*follow(value, "extract.a"), Value::dict({{"b", 2}}));
  EXPECT_EQ(follow(value, "extract.x"), nullptr);
  EXPECT_EQ(*follow(value, ""), value);
  const Value nested =
      Value::dict({{"a.html", Value::dict({{"l", Value::list({1, Value::dict({{"x", 2}})})}})}});
  EXPECT_EQ(*follow(nested, "a.html.l[1].x"), Value(2));
  EXPECT_EQ(*follow(nested, "a.html.l[0]"), Value(1));
  EXPECT_EQ(follow(nested, "a.html.l[7]"), nullptr);
  EXPECT_EQ(*follow(nested, "/a.html/l/1/x"), Value(2));
  EXPECT_EQ(follow(nested, "/a/html"), nullptr);
  EXPECT_EQ(follow(nested, "/a.html/l/7"), nullptr);
  EXPECT_EQ(follow(nested, "/a.html/l/x"), nullptr);
  const Value odd = Value::dict({{"a/b~c", Value::dict({{"", 1}})}});
  EXPECT_EQ(*follow(odd, cat(path_step("a/b~c"), path_step(""))), Value(1));
}

TEST(Value, DifferencesNameThePaths) {
  const Value a =
      *read_json(R"({"image":"a:1","env":{"A":"1","B":"2"},"cmd":["x","y"],"ports":[1]})");
  const Value b =
      *read_json(R"({"image":"a:2","env":{"A":"1","C":"2"},"cmd":["x","z"],"ports":[1,2]})");
  EXPECT_EQ(differences(a, b),
            (std::vector<std::string>{"cmd[1]", "env.B", "env.C", "image", "ports"}));
  EXPECT_TRUE(differences(a, a).empty());
}

}  // namespace
}  // namespace fettle
