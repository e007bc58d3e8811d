/// The chain of reasons: what came before the thing that it explains, and nothing that came later.

#include "verbs/environments/explain.h"

#include <gtest/gtest.h>

#include "tests/fixtures/package_fixture.h"
#include "verbs/environments/services.h"

namespace fettle {
namespace {

class ExplainTest : public RunPackageTest {
 protected:
  /// All lines about a key, without their times.
  std::string told(const Key& key) {
    std::string text;
    const std::vector<Cause> causes = *why(place_, "e", key);
    for (const Cause& cause : causes) {
      const std::string line = to_string(cause);
      const size_t at = line.find(" on 20"), after = line.find(": ", at);
      text += cat(line.substr(0, at), after == line.npos ? "" : line.substr(after), "; ");
      if (cause.outcome)
        text += cat(outcome_text(cause), "; ");
      if (cause.is_settled_since)
        text += cat(since_text(cause), "; ");
    }
    return text;
  }
  /// The only instruction of its kind that was executed.
  Key key_of_exec() {
    const Known known = *place_.store->known("e");
    for (const auto& [key, record] : known)
      if (key.kind == "exec")
        return key;
    return {};
  }
};

TEST_F(ExplainTest, ACauseIsWhatCameBeforeItsEffect) {
  ASSERT_EQ(run(add("a") + exec("a", "x")), "RR");
  ASSERT_EQ(run(add("a", "b") + exec("a", "x")), "RR");
  const std::string before = told(key_of_exec());
  EXPECT_NE(before.find("service/a"), std::string::npos) << before;
  ASSERT_TRUE(transit("a", Verb::stop));
  EXPECT_EQ(told(key_of_exec()), before);
}

TEST_F(ExplainTest, WhatWasHeldBackInAFormerRunIsToldAsSettled) {
  ASSERT_EQ(run(add("a") + add("b")), "RR");
  ASSERT_EQ(run(add("a") + exec("a", "fail") + add("b")), "SFN");
  const Key b{"e", "service", "b"};
  const std::string since = "a later run found it as it should be";
  EXPECT_EQ(told(b).find(since), std::string::npos) << told(b);
  ASSERT_EQ(run(add("a") + add("b")), "SS");
  EXPECT_NE(told(b).find(cat(" failed; ", since, "; exec/a")), std::string::npos) << told(b);
}

}  // namespace
}  // namespace fettle
