#include "value/leaves.h"

#include <gtest/gtest.h>

#include "value/json.h"

namespace fettle {
namespace {

std::optional<Value> doubled(const Value& leaf) {
  return leaf.is_integer() ? std::optional(Value(*leaf.integer() * 2)) : std::nullopt;
}

TEST(Leaves, AreReplacedAtAnyDepth) {
  const Value value =
      *read_json(R"({"a": [1, {"b": 2, "c": "x"}], "d": {}, "e": [], "f": [null]})");
  EXPECT_EQ(write_json(with_leaves(value, doubled)),
            R"({"a":[2,{"b":4,"c":"x"}],"d":{},"e":[],"f":[null]})");
  EXPECT_EQ(with_leaves(Value(3), doubled), Value(6));
  EXPECT_EQ(with_leaves(Value("x"), doubled), Value("x"));
}

TEST(Leaves, SecretsStaySecrets) {
  const Value value = Value::list({Value::secret(Value::list({1, "x"})), Value::secret("y")});
  const Value made = with_leaves(value, doubled);
  ASSERT_TRUE(made.items()[0].is_secret());
  EXPECT_EQ(made.items()[0].inside(), Value::list({2, "x"}));
  EXPECT_EQ(made.items()[1], value.items()[1]);
}

TEST(Leaves, DeepValuesAreNoMatter) {
  Value deep = 1;
  for (int i = 0; i < 500; ++i)
    deep = Value::list({deep});
  EXPECT_EQ(with_leaves(deep, doubled).depth(), 500u);
}

}  // namespace
}  // namespace fettle
