#include "value/starlark_text.h"

#include <gtest/gtest.h>

#include <limits>

#include "value/json.h"

namespace fettle {
namespace {

TEST(StarlarkText, IsWhatStrWrites) {
  const Value value = *read_json(R"(["a\n\"b\"", true, null, 1, {"k": [1.5, {}], "ä": []}])");
  EXPECT_EQ(starlark_text(value), R"(["a\n\"b\"", True, None, 1, {"k": [1.5, {}], "ä": []}])");
  EXPECT_EQ(starlark_text("a\n\"b\""), "a\n\"b\"");
  EXPECT_EQ(starlark_repr("a\x01"), R"("a\x01")");
  EXPECT_EQ(starlark_text(false), "False");
  EXPECT_EQ(starlark_text(Value::secret("s")), "********");
  EXPECT_EQ(starlark_text(Value::list({Value::secret("s")})), R"(["********"])");
}

/// As starlark-go writes them.
TEST(StarlarkText, RealNumbers) {
  const double infinite = std::numeric_limits<double>::infinity();
  for (const auto& [number, text] :
       {std::pair(1.0, "1.0"), std::pair(-0.0, "-0.0"), std::pair(1.5, "1.5"),
        std::pair(100000.0, "100000.0"), std::pair(1e6, "1e+06"),
        std::pair(1234567.5, "1.2345675e+06"), std::pair(1e19, "1e+19"),
        std::pair(0.0001, "0.0001"), std::pair(0.00001, "1e-05"), std::pair(infinite, "+inf"),
        std::pair(-infinite, "-inf")})
    EXPECT_EQ(starlark_text(number), text);
}

}  // namespace
}  // namespace fettle
