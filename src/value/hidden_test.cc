#include "value/hidden.h"

#include <gtest/gtest.h>

#include "value/json.h"

namespace fettle {
namespace {

const Value hidden_document =
    *read_json(R"({"a": {"b": [1, "x", null, true]}, "c": [{"b": "y", "d": 2}]})");

TEST(Hidden, KeepsTheShapeAndWhatSaysNothing) {
  const Value made = hidden(hidden_document.at("a").at("b"));
  EXPECT_EQ(made, Value::list({Value::secret(1), Value::secret("x"), Value(), true}));
}

TEST(Hidden, AtANameInAnyDict) {
  const Value made = hidden_at(hidden_document, {"b"});
  EXPECT_EQ(made.at("a").at("b").items()[1], Value::secret("x"));
  EXPECT_EQ(made.at("c").items()[0].at("b"), Value::secret("y"));
  EXPECT_EQ(made.at("c").items()[0].at("d"), Value(2));
  EXPECT_EQ(hidden_at(hidden_document, {"e"}), hidden_document);
}

TEST(Hidden, SecretsStayAsTheyAre) {
  const Value secret = Value::secret(Value::list({1, "x"}));
  EXPECT_EQ(hidden(secret), secret);
  EXPECT_EQ(hidden_at(Value::dict({{"b", secret}}), {"b"}).at("b"), secret);
}

}  // namespace
}  // namespace fettle
