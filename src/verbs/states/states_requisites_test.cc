/// What requisites, references and blocks come to when something fails, is not known, is replaced
/// or is only tested, and what is said of it.

#include "tests/fixtures/states_fixture.h"
#include "verbs/environments/explain.h"

namespace fettle {
namespace {

class StatesRequisitesTest : public StatesTest {
 protected:
  void SetUp() override {
    StatesTest::SetUp();
    request_.reconciler = "none";
  }
  static bool is_unmet(const StatesReport& report, std::string_view id) {
    for (const StateResult& result : report.results)
      if (result.entry.text_at("__id__") == id)
        return result.is_unmet;
    return false;
  }
  StatesReport test(std::string_view text) {
    request_.is_test = true;
    StatesReport report = apply(text);
    request_.is_test = false;
    return report;
  }
};

constexpr std::string_view replaced = R"(
def log(text):
    path = "LOG"
    files.write(path, (files.read(path) if files.exists(path) else "") + text + "\n")

def present(ctx, name, resource_id = None, size = 7):
    if not ctx.test:
        log("present %s %s" % (name, size))
    return {"result": size < 9, "comment": "", "old_state": ctx.old_state,
            "new_state": {"resource_id": "i%d" % size, "size": size} if size < 9 else None, "changes": None}

def absent(ctx, name, resource_id = None):
    if not ctx.test:
        log("absent %s %s" % (name, resource_id))
    return {"result": not files.exists("KEEP"), "comment": "kept", "old_state": ctx.old_state, "changes": {}}
)";

class StatesRecreationTest : public StatesRequisitesTest {
 protected:
  void SetUp() override {
    StatesRequisitesTest::SetUp();
    std::string text = replace_all(replaced, "LOG", at("log"));
    put("states/r.star", replace_all(text, "KEEP", at("keep")));
  }
  StatesReport apply_size(int size) {
    std::filesystem::remove(at("log"));
    executor_.restart();
    return apply(cat("a: {r.present: [{size: ", size,
                     "}, {recreate_on_update: {create_before_destroy: true}}]}\n"
                     "u: {r.present: [{name: dep}, {size: \"${r:a:size}\"}]}\n"));
  }
  std::string log() const { return read_file(at("log")).value_or(""); }
};

TEST_F(StatesRecreationTest, WhatIsReplacedGoesWhenAllThatUseItHaveGoneOn) {
  EXPECT_EQ(word(apply_size(1), "a_delete_old"), "missing");
  const StatesReport report = apply_size(2);
  EXPECT_EQ(log(), "present a 2\npresent dep 2\nabsent a i1\n");
  EXPECT_EQ(word(report, "a_delete_old"), "True");
  EXPECT_EQ(changes(report, "a_delete_old"), R"({"new":{},"old":{"resource_id":"i1","size":1}})");
  apply_size(2);
  EXPECT_EQ(log(), "present a 2\npresent dep 2\n");
}

TEST_F(StatesRecreationTest, WhatCouldNotBeRemovedIsRemovedInAnotherRun) {
  apply_size(1);
  put("keep", "");
  EXPECT_EQ(word(apply_size(2), "a_delete_old"), "False");
  EXPECT_EQ(apply_size(3).exit_code(), 1);
  std::filesystem::remove(at("keep"));
  EXPECT_EQ(apply_size(3).exit_code(), 0);
  EXPECT_EQ(log(), "present a 3\npresent dep 3\nabsent a i1\nabsent a i2\n");
}

TEST_F(StatesRecreationTest, TheOldOneGoesInEachLoop) {
  for (const char* loop : {"basic", "fettle"}) {
    request_.reconciler = loop;
    environment_ = loop;
    apply_size(1);
    const StatesReport report = apply_size(2);
    EXPECT_NE(log().find("present dep 2\nabsent a i1\n"), std::string::npos) << log();
    EXPECT_EQ(word(report, "a_delete_old"), "True") << loop;
    EXPECT_EQ(changes(report, "a_delete_old"), R"({"new":{},"old":{"resource_id":"i1","size":1}})")
        << loop;
    EXPECT_FALSE(report.requires_re_run) << loop;
    EXPECT_EQ(word(apply_size(2), "a_delete_old"), "missing") << loop;
  }
}

TEST_F(StatesRecreationTest, AFailedReplacementLosesNothing) {
  apply_size(1);
  EXPECT_EQ(word(apply_size(9), "a"), "False");
  EXPECT_EQ(log(), "present a 9\n");
  apply_size(2);
  EXPECT_EQ(log(), "present a 2\npresent dep 2\nabsent a i1\n");
}

TEST_F(StatesRecreationTest, NobodyRemovesWhatIsReplacedTwice) {
  apply_size(1);
  apply_size(2);
  executor_.restart();
  std::filesystem::remove(at("log"));
  request_.prune = true;
  static_cast<void>(apply("b: {test.nop: []}\n"));
  EXPECT_EQ(log(), "absent dep i2\nabsent a i2\n");
}

TEST_F(StatesRequisitesTest, ATestKnowsOfCommandsWhoseConditionsHold) {
  const StatesReport report = test(
      "a: {cmd.run: [{cmd: \"true\"}, {unless: \"true\"}]}\n"
      "b: {cmd.run: [{cmd: \"echo x\"}, {unless: \"false\"}]}\n");
  EXPECT_EQ(word(report, "a"), "True");
  EXPECT_EQ(comment(report, "a"), R"("not run: its conditions do not hold")");
  EXPECT_EQ(changes(report, "a"), "{}");
  EXPECT_EQ(word(report, "b"), "None");
  EXPECT_EQ(changes(report, "b"), R"({"new":{"command":"echo x"}})");
}

TEST_F(StatesRequisitesTest, AReferenceNeedsSuccessInTheRunAndReadsWhatAFailureLeftLater) {
  const StatesReport report = apply(R"(
a: {test.present: [{result: false}, {new_state: {id: 7}}, {force_save: true}]}
b: {test.succeed_with_arg_bind: [{parameters: {x: "${test:a:id}"}}]}
c: {test.succeed_with_arg_bind: [{parameters: {x: "${test:a:id}"}}, {require: [{test: a}]}]}
)");
  const std::string said =
      R"("Result of require test_|-a_|-a_|-present is \"False\", not \"[True, None]\"")";
  EXPECT_EQ(comment(report, "b"), said);
  EXPECT_EQ(word(report, "c"), "False");
  executor_.restart();
  const StatesReport later =
      apply("b: {test.succeed_with_arg_bind: [{parameters: {x: \"${test:a:id}\"}}]}\n");
  EXPECT_EQ(word(later, "b"), "True") << comment(later, "b");
}

TEST_F(StatesRequisitesTest, AResultThatIsNotKnownIsNoSuccessForAWatcher) {
  const StatesReport report =
      apply(cat("n: {test.none_without_changes: []}\n", "w: {test.nop: [{watch: [{test: n}]}]}\n",
                "f: {file.managed: [{name: ", at("f"), "}, {contents: x}, {watch: [{test: n}]}]}\n",
                "c: {test.nop: [{onchanges: [{test: n}]}]}\n",
                "r: {test.nop: [{require: [{test: n}]}]}\n", "k: test.succeed_with_changes\n",
                "l: {test.nop: [{watch: [{test: n}]}, {listen: [{test: k}]}]}\n"));
  const std::string said =
      R"("Result of require test_|-n_|-n_|-none_without_changes is \"None\", not \"True\"")";
  EXPECT_EQ(word(report, "w"), "False");
  EXPECT_EQ(comment(report, "w"), said);
  EXPECT_EQ(word(report, "f"), "False");
  EXPECT_EQ(comment(report, "f"), said);
  EXPECT_FALSE(file_exists(at("f")));
  EXPECT_TRUE(is_unmet(report, "c"));
  EXPECT_EQ(word(report, "r"), "True");
  EXPECT_EQ(word(report, "l_listen"), "False") << "a listener watches what its state watches";
  EXPECT_EQ(comment(report, "l_listen"), said);
}

TEST_F(StatesRequisitesTest, AChangeThatAFailureHeldBackIsCaughtUp) {
  const std::string text = cat("f: {file.managed: [{name: ", at("conf"), "}, {contents: x}]}\n",
                               "g: {cmd.run: [{cmd: test -e ", at("ok"), "}]}\n",
                               "c: {cmd.run: [{cmd: \"echo restart >> ", at("log"),
                               "\"}, {shell: true}, {onchanges: [{file: f}]}, "
                               "{require: [{cmd: g}]}]}\n");
  EXPECT_EQ(word(apply(text), "c"), "False");
  put("ok", "");
  executor_.restart();
  EXPECT_EQ(word(apply(text), "c"), "True");
  EXPECT_EQ(read_file(at("log")).value_or(""), "restart\n");
  executor_.restart();
  EXPECT_TRUE(is_unmet(apply(text), "c"));
  EXPECT_EQ(read_file(at("log")).value_or(""), "restart\n");
}

TEST_F(StatesRequisitesTest, WhatIsTriedAgainWaitsForASuccess) {
  put("states/s.star",
      "def run(ctx, name, known = True):\n"
      "    return {\"result\": True if known else None, \"comment\": \"\", \"changes\": {\"a\": "
      "1}}\n");
  request_.reconciler = "none";
  const std::string text = "c: {test.fail_without_changes: [{onchanges: [{s: n}]}]}\n";
  EXPECT_EQ(comment(apply("n: s.run\n" + text), "c"), R"("Failure!")");
  executor_.restart();
  EXPECT_EQ(comment(apply("n: {s.run: [{known: false}]}\n" + text), "c"),
            R"("Result of require s_|-n_|-n_|-run is \"None\", not \"True\"")");
}

constexpr std::string_view block = R"(#!require:a
b: test.nop
#!END
d: {test.nop: [{require: [{test: b}]}]}
)";

TEST_F(StatesRequisitesTest, WhatNeedsABlockOfAFailedStateIsTold) {
  const StatesReport report = apply(cat("a: {test.fail_without_changes: []}\n", block));
  EXPECT_EQ(word(report, "d"), "False");
  EXPECT_NE(comment(report, "d").find("ID a did not succeed"), std::string::npos);
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_NE(report.warnings[0].message.find("the block that waits for ID a was not rendered"),
            std::string::npos);
  EXPECT_EQ(report.warnings[0].where.line, 2);
}

TEST_F(StatesRequisitesTest, ABlockThatWaitsForWhatNeverComesLeavesTheOthersAlone) {
  const StatesReport report = apply(cat("a: {test.nop: []}\n", block, R"(#!require:a
{{ 'c' ~ 'c' }}: test.nop
#!END
#!require:never
e: test.nop
)"));
  for (const char* id : {"b", "cc", "d"})
    EXPECT_EQ(word(report, id), "True") << id;
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_NE(report.warnings[0].message.find("no such ID"), std::string::npos);
  EXPECT_EQ(report.warnings[0].where.line, 9);
  EXPECT_EQ(report.exit_code(), 1);
}

TEST_F(StatesRequisitesTest, AStateThatBringsAFileIsNamedByItsId) {
  put("com2.sls", "in: {test.nop: []}\n");
  constexpr std::string_view text = R"(
x: {sls.run: [{sls_sources: [com2]}]}
z: {test.nop: [{require: [{sls: x}]}]}
f: {test.nop: [{require: [{sls: com2}]}]}
)";
  for (int run = 0; run < 2; ++run) {
    const StatesReport report = apply(text);
    EXPECT_EQ(report.fault, "");
    EXPECT_EQ(word(report, "z"), "True") << comment(report, "z");
    EXPECT_EQ(word(report, "f"), "True") << comment(report, "f");
    EXPECT_EQ(report.exit_code(), 0);
    executor_.restart();
  }
}

TEST_F(StatesRequisitesTest, TheIdOfAStateMayBeTheFileThatItBrings) {
  put("com2.sls", "in: {test.fail_without_changes: []}\n");
  request_.reconciler = "none";
  const StatesReport report = apply(R"(
com2: {sls.run: [{sls_sources: [com2]}]}
z: {test.nop: [{require: [{sls: com2}]}]}
)");
  EXPECT_EQ(word(report, "com2"), "True");
  EXPECT_EQ(word(report, "z"), "False") << comment(report, "z");
  EXPECT_NE(comment(report, "z").find("com2.in"), std::string::npos) << comment(report, "z");
}

TEST_F(StatesRequisitesTest, InATestABlockIsRenderedWhenItsStateWasLookedAt) {
  const StatesReport report = test(cat("a: {test.nop: []}\n", block));
  EXPECT_EQ(word(report, "b"), "None");
  EXPECT_EQ(word(report, "d"), "None");
  EXPECT_TRUE(report.warnings.empty());
}

TEST_F(StatesRequisitesTest, WhyTellsOfFailuresAndOfWhatTheyHeldBack) {
  static_cast<void>(
      apply("a: {test.fail_without_changes: []}\nb: {test.nop: [{require: [{test: a}]}]}\n"));
  const Result<std::vector<Key>> keys = find_keys_of_events(place_, "e", "b");
  ASSERT_TRUE(keys.has_value()) << to_string(keys.error());
  const std::vector<Cause> causes = *why(place_, "e", keys->front());
  ASSERT_EQ(causes.size(), 2u);
  const std::vector<std::string> lines{to_string(causes[0]),
                                       cat(to_string(causes[1]), " ", outcome_text(causes[1]))};
  EXPECT_NE(lines[0].find("test:b was kept from running on "), std::string::npos);
  EXPECT_NE(lines[1].find("test:a "), std::string::npos);
  EXPECT_NE(lines[1].find("failed on "), std::string::npos) << lines[1];
  EXPECT_NE(lines[1].find("Failure!"), std::string::npos) << lines[1];
}

TEST_F(StatesRequisitesTest, APrereqNamesThoseThatWouldNotChange) {
  const StatesReport report = apply(R"(
t: {test.succeed_with_changes: []}
q: {test.configurable_test_state: [{changes: false}]}
p: {test.nop: [{prereq: [{test: t}, {test: q}]}]}
)");
  EXPECT_EQ(comment(report, "p"), R"("No changes found in execution of test.q")");
}

TEST_F(StatesRequisitesTest, APrereqLooksWithoutWhatComesAfterIt) {
  for (const std::string_view conditions : {"", ", {unless: \"false\"}"})
    for (const std::string_view changes : {"with", "without"}) {
      const StatesReport report =
          apply(cat(R"(
a: {test.nop: [{prereq: [{test: b}]}]}
b: {test.succeed_)",
                    changes, "_changes: [{require: [{test: c}]}", conditions, R"(]}
c: {test.nop: [{require: [{test: a}]}]}
)"));
      for (const char* id : {"a", "b", "c"})
        EXPECT_EQ(word(report, id), changes == "with" ? "True" : "False") << id << conditions;
    }
}

TEST_F(StatesRequisitesTest, ATestSpeaksOfRequisitesAsARunDoes) {
  const StatesReport report = test(R"(
q: {test.configurable_test_state: [{changes: false}]}
f: {test.present: [{result: false}]}
p: {test.nop: [{prereq: [{test: q}]}]}
c: {test.nop: [{onchanges: [{test: q}]}]}
)");
  EXPECT_EQ(comment(report, "p"), R"("No changes found in execution of test.q")");
  EXPECT_EQ(comment(report, "c"),
            R"("Changes from test_|-q_|-q_|-configurable_test_state is \"False\", not \"True\"")");
}

TEST_F(StatesRequisitesTest, OnlyWhatIsNotMetIsComplainedAbout) {
  const StatesReport report = apply(R"(
good: test.nop
bad: test.fail_without_changes
needed: {test.nop: [{onfail: [{test: good}]}]}
both: {test.nop: [{require_any: [{test: good}, {test: bad}]}, {require: [{test: needed}]}]}
none: {test.nop: [{require_any: [{test: bad}, {test: needed}]}]}
late: {test.nop: [{onfail: [{test: needed}]}]}
bound: {test.succeed_with_arg_bind: [{parameters: {x: "${test:bad:y}"}}]}
)");
  const std::string is_false = R"( is \"False\", not \"[True, None]\")";
  const std::string needed = cat("Result of require test_|-needed_|-needed_|-nop", is_false);
  const std::string bad =
      cat("Result of require test_|-bad_|-bad_|-fail_without_changes", is_false);
  EXPECT_EQ(comment(report, "both"), cat("\"", needed, "\""));
  EXPECT_EQ(comment(report, "none"), cat("\"", bad, "\\n", needed, "\""));
  EXPECT_EQ(comment(report, "late"),
            R"("test_|-needed_|-needed_|-nop was not needed, which is not a failure")");
  EXPECT_EQ(
      comment(report, "bound"),
      cat("\"", bad, R"(\n\"test:bad\" state does not have \"new_state\" in the state returns.")"));
}

TEST_F(StatesRequisitesTest, AReferenceThatLeadsNowhereIsToldInWordsOfTheFile) {
  const StatesReport report = apply(R"(
a: {test.present: [{new_state: {l: [1]}}]}
b: {test.succeed_with_arg_bind: [{parameters: {x: "${test:a:l[5]}"}}]}
c: {test.succeed_with_arg_bind: [{parameters: {x: "${test:a:nokey}"}}]}
n: test.nop
u: test.none_without_changes
w: {test.succeed_with_arg_bind: [{parameters: {x: "${test:a:nokey}"}}, {watch: [{test: u}]}]}
d: {test.succeed_with_arg_bind: [{parameters: {x: "${test:a:nokey}", y: "${test:n:x}"}}]}
)");
  EXPECT_NE(comment(report, "w").find("Result of require test_|-u"), std::string::npos);
  EXPECT_NE(comment(report, "w").find("is not found as part of the state"), std::string::npos);
  EXPECT_NE(comment(report, "d").find("is not found as part of the state"), std::string::npos);
  EXPECT_NE(comment(report, "d").find(R"(\"test:n\" state does not have)"), std::string::npos);
  EXPECT_NE(comment(report, "b").find("does not include element with index"), std::string::npos)
      << comment(report, "b");
  EXPECT_NE(comment(report, "c").find("is not found as part of the state"), std::string::npos)
      << comment(report, "c");
  for (const char* id : {"b", "c"})
    EXPECT_EQ(comment(report, id).find("state/"), std::string::npos) << comment(report, id);
}

// Each of them was looked for in each of them.
TEST_F(StatesRequisitesTest, ATestDoesNotMissWhatTheActMayBring) {
  const std::string text =
      "a: {test.present: [{new_state: {x: 1}}]}\nf: test.fail_without_changes\n"
      "b: {test.succeed_with_arg_bind: [{parameters: {p: '${test:a:nope}'}}, "
      "{require: [{test: f}]}]}\n";
  request_.is_test = true;
  EXPECT_EQ(comment(apply(text), "b"), R"("Result of require test_|-f_|-f_|-fail_without_changes )"
                                       R"(is \"False\", not \"[True, None]\"")");
  request_.is_test = false;
  EXPECT_NE(comment(apply(text), "b").find("nope"), std::string::npos);
}

TEST_F(StatesRequisitesTest, ThousandsOfReferencesThatLeadNowhereAreTold) {
  constexpr size_t width = 2000;
  std::string file;
  for (size_t i = 0; i < width; ++i)
    file += cat("a", i, ": test.fail_without_changes\n");
  file += "all:\n  test.succeed_with_arg_bind:\n    - parameters:\n";
  for (size_t i = 0; i < width; ++i)
    file += cat("        p", i, ": \"${test:a", i, ":x}\"\n");
  const std::string told = comment(apply(file), "all");
  const std::string last = cat("a", width - 1);
  EXPECT_NE(told.find(cat("Result of require test_|-", last, "_|-")), std::string::npos);
  EXPECT_NE(told.find(cat(R"(\"test:)", last, R"(\" state does not have)")), std::string::npos);
}

TEST_F(StatesRequisitesTest, WhatNeedsSomethingThatWasNotNeededIsNotNeeded) {
  const StatesReport report = apply(R"(
a: test.nop
b: {test.nop: [{onchanges: [{test: a}]}]}
c: {test.nop: [{require: [{test: b}]}]}
d: {test.nop: [{onfail: [{test: c}]}]}
)");
  EXPECT_EQ(word(report, "c"), "False");
  EXPECT_EQ(comment(report, "c"),
            R"("Result of require test_|-b_|-b_|-nop is \"False\", not \"[True, None]\"")");
  EXPECT_TRUE(is_unmet(report, "c"));
  EXPECT_TRUE(is_unmet(report, "d"));
  EXPECT_EQ(report.exit_code(), 0);
}

TEST_F(StatesRequisitesTest, AGuardHoldsAfterAFailure) {
  const std::string text = cat("f: {file.managed: [{name: ", at("folder/f"),
                               "}, {contents: x}, {unless: test -e ", at("folder"), "}]}\n");
  EXPECT_EQ(word(apply(text), "f"), "False");
  ASSERT_TRUE(make_directories(at("folder")));
  executor_.restart();
  const StatesReport report = apply(text);
  EXPECT_EQ(word(report, "f"), "True") << comment(report, "f");
  EXPECT_FALSE(file_exists(at("folder/f")));
}

}  // namespace
}  // namespace fettle
