#include "app/extract.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "value/json.h"

namespace fettle {
namespace {

std::string run(std::string_view expression, std::string_view text, Duration limit = 1min) {
  const auto value = run_jq_apart(expression, text, {}, limit);
  return value ? write_json(*value) : value.error().message;
}

TEST(Extract, GivesWhatJqGives) {
  EXPECT_EQ(run(".a", R"({"a":[1,"é"]})"), R"([1,"é"])");
  EXPECT_NE(run(".a |", "1").find("does not compile"), std::string::npos);
  EXPECT_NE(run(".a", "[1]").find("fails"), std::string::npos);
  EXPECT_EQ(run_jq_apart(".a |", "1", {}).error().blame, Blame::user);
}

TEST(Extract, ALoopIsEnded) {
  EXPECT_EQ(run("def f: f; f", "1", 200ms),
            "the jq expression `def f: f; f` did not end within 200ms");
}

TEST(Extract, AGreedyOneIsEnded) {
  const std::string said = run("reduce range(36) as $i (\"x\"; . + .) | length", "1");
  EXPECT_NE(said.find("needs too much memory"), std::string::npos) << said;
}

TEST(Extract, AStopEndsIt) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(is_cancelled(run_jq_apart(".", "1", stop.get_token()).error()));
}

}  // namespace
}  // namespace fettle

int main(int argc, char** argv) {
  if (const auto code = fettle::evaluate_if_asked(argc, argv))
    return *code;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
