/// How results of states look, and which exit code they have.

#include "cli/commands/state_print.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "controller/cluster_access.h"

namespace fettle {
namespace {

class StatesFace : public Face {
 public:
  Result<Workplace*> workplace() override { return world_error("none is needed"); }
  std::pair<std::vector<Diagnosis>, bool> diagnosis() override { return {}; }
  Result<EngineState> engine(EngineVerb) override { return EngineState{}; }
  Result<ClusterAccess> cluster(const ClusterRequest&) override {
    return world_error("there is none");
  }
  Result<kubernetes::Client*> cluster_client(const ClusterRequest&) override {
    return world_error("there is none");
  }
  Build build() const override { return {}; }
  void show_work(const std::string&) override {}
};

StateResult state_result(Value result, Value changes = Value::dict({})) {
  return {.tag = "test_|-a_|-a_|-present",
          .entry = Value::dict({{"__id__", "a"},
                                {"result", std::move(result)},
                                {"comment", "told"},
                                {"changes", std::move(changes)}})};
}

std::string printed_state(StateResult result, bool has_colour) {
  StatesFace face;
  face.colour = has_colour;
  StatesReport report;
  report.results.push_back(std::move(result));
  testing::internal::CaptureStdout();
  print_states(face, report, false);
  return testing::internal::GetCapturedStdout();
}

/// The code with which the block of a result begins; each ends with `\033[0m`.
std::string state_colour(StateResult result) {
  const std::string text = printed_state(std::move(result), true);
  EXPECT_NE(text.find("told\n Changes:"), text.npos) << text;
  const size_t begin = text.find("--------");
  EXPECT_EQ(text.find("\033[0m"), text.rfind("\033[")) << text;
  return text.substr(0, begin);
}

TEST(StatePrint, EachResultHasItsColour) {
  const Value changes = Value::dict({{"new", Value::dict({{"a", 1}})}});
  EXPECT_EQ(state_colour(state_result(false)), "\033[31m") << "red";
  EXPECT_EQ(state_colour(state_result(false, changes)), "\033[31m");
  EXPECT_EQ(state_colour(state_result(true)), "\033[32m") << "green";
  EXPECT_EQ(state_colour(state_result(true, changes)), "\033[36m") << "cyan";
  EXPECT_EQ(state_colour(state_result(Value(), changes)), "\033[33m") << "yellow";
  StateResult unmet = state_result(false);
  unmet.is_unmet = true;
  EXPECT_EQ(state_colour(unmet), "\033[90m") << "grey";
  StateResult held = state_result(true);
  held.is_held = true;
  EXPECT_EQ(state_colour(held), "\033[90m");
  EXPECT_NE(printed_state(held, false).find("Result: True (not needed)"), std::string::npos);
  EXPECT_NE(printed_state(held, false).find("test.present: 1 not needed"), std::string::npos);
  EXPECT_EQ(printed_state(state_result(false), false).find('\033'), std::string::npos);
}

TEST(StatePrint, OfTwoLongTextsOnlyWhatDiffersIsShown) {
  std::string before, after;
  for (int i = 0; i < 50; ++i) {
    before += cat("line ", i, "\n");
    after += cat("line ", i == 25 ? 1025 : i, "\n");
  }
  const auto side = [](const std::string& content, const std::string& long_line, int size) {
    return Value::dict({{"content", content},
                        {"size", size},
                        {"tags", Value::dict({{"about", long_line}, {"short", cat(size)}})}});
  };
  const std::string same(100, 'x');
  const std::string text = printed_state(
      state_result(true, Value::dict({{"new", side(after, same + "new" + same, 2)},
                                      {"old", side(before, same + "old" + same, 1)}})),
      false);
  EXPECT_EQ(text.find("line 1\n"), text.npos) << text;
  EXPECT_NE(text.find(R"(
          content:
            …
              line 23
              line 24
            - line 25
            + line 1025
              line 26
              line 27
            …
          tags.about: )"),
            text.npos)
      << text;
  EXPECT_NE(text.find("xxold"), text.npos) << text;
  EXPECT_NE(text.find("xxnew"), text.npos) << text;
  EXPECT_EQ(text.find(same), text.npos) << text;
  EXPECT_NE(text.find(R"(
          new:
            size:
              2
            tags:
              short:
                2
          old:
            size:
              1
)"),
            text.npos)
      << text;
}

TEST(StatePrint, ShortTextsStandOnBothSides) {
  const auto side = [](const char* word) { return Value::dict({{"word", word}}); };
  EXPECT_NE(printed_state(state_result(true, Value::dict({{"new", side("b")}, {"old", side("a")}})),
                          false)
                .find(" Changes:\n          new:\n            word:\n              b\n          "
                      "old:\n            word:\n              a\n"),
            std::string::npos);
}

TEST(StatePrint, ATestThatFindsNothingDueIsNoDifference) {
  const auto code = [](std::vector<StateResult> results, bool is_detailed) {
    StatesFace face;
    if (is_detailed)
      face.parsed.options["detailed-exitcode"] = {""};
    StatesReport report;
    report.results = std::move(results);
    return code_of_states(face, report, true);
  };
  StateResult unmet = state_result(false);
  unmet.is_unmet = true;
  const StateResult due = state_result(Value(), Value::dict({{"new", Value::dict({{"a", 1}})}}));
  for (const bool is_detailed : {false, true}) {
    EXPECT_EQ(code({unmet, state_result(true)}, is_detailed), 0) << is_detailed;
    EXPECT_EQ(code({unmet, due}, is_detailed), is_detailed ? 4 : 0);
  }
}

}  // namespace
}  // namespace fettle
