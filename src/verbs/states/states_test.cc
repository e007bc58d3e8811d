/// Files of states applied on a clock of the test's own: what is waited for takes no time. Real
/// files are below a temporary folder, states of users are written in Starlark.

#include "tests/fixtures/states_fixture.h"
#include "verbs/environments/environments.h"
#include "verbs/environments/explain.h"

namespace fettle {
namespace {

constexpr std::string_view loop_sls = R"(
quiet:      {test.succeed_without_changes: [{name: quiet}]}
created:    {test.present: [{name: created}, {new_state: {a: 1, b: {c: [p, q]}}}]}
noisy:      {test.succeed_with_changes: [{name: noisy}]}
broken:     {test.fail_without_changes: [{name: broken}]}
unknown:    {test.none_without_changes: [{name: unknown}]}
after_bad:  {test.nop: [{require: [{test: broken}]}]}
bound:      {test.succeed_with_arg_bind: [{parameters: {v: "${test:created:b:c[1]}", w: "id-${test:created:b:c[0]}"}}]}
on_quiet:   {test.nop: [{onchanges: [{test: quiet}]}]}
on_noisy:   {test.nop: [{onchanges: [{test: noisy}]}]}
rescue:     {test.nop: [{onfail: [{test: after_bad}]}]}
watcher:    {test.succeed_without_changes: [{watch: [{test: noisy}]}]}
listener:   {test.nop: [{listen: [{test: noisy}]}]}
)";

TEST_F(StatesTest, ResultsAreThoseOfIdem) {
  request_.reconciler = "none";
  const StatesReport report = apply(loop_sls);
  EXPECT_EQ(report.results.size(), 13u);
  EXPECT_EQ(word(report, "quiet"), "True");
  EXPECT_EQ(changes(report, "created"), R"({"new":{"a":1,"b":{"c":["p","q"]}},"old":{}})");
  EXPECT_EQ(word(report, "broken"), "False");
  EXPECT_EQ(word(report, "unknown"), "None");
  EXPECT_EQ(
      comment(report, "after_bad"),
      R"("Result of require test_|-broken_|-broken_|-fail_without_changes is \"False\", not \"[True, None]\"")");
  EXPECT_EQ(write_json(entry(report, "bound").at("new_state")),
            R"({"testing":{"v":"q","w":"id-p"}})");
  EXPECT_EQ(word(report, "on_quiet"), "False");
  EXPECT_EQ(word(report, "on_noisy"), "True");
  EXPECT_EQ(word(report, "rescue"), "True");
  EXPECT_EQ(changes(report, "watcher"), R"({"watch":true})");
  EXPECT_EQ(word(report, "listener_listen"), "True");
  const StateResult* unmet = report.find("test_|-on_quiet_|-on_quiet_|-nop");
  ASSERT_NE(unmet, nullptr);
  EXPECT_TRUE(unmet->is_unmet);
  EXPECT_EQ(unmet->entry.text_at("esm_tag"), "test_|-on_quiet_|-on_quiet_|-");
  EXPECT_EQ(report.exit_code(), 1);
  EXPECT_EQ(report.re_runs, 0);
}

TEST_F(StatesTest, BasicAppliesWhatIsPendingAgainUntilNothingMoves) {
  request_.reconciler = "basic";
  EXPECT_EQ(apply("quiet: {test.succeed_without_changes: []}").re_runs, 0);
  EXPECT_LT(took_, 1s);
  const StatesReport created = apply("created: {test.present: [{new_state: {a: 1}}]}");
  EXPECT_EQ(created.re_runs, 1);
  EXPECT_FALSE(created.requires_re_run);
  EXPECT_GE(took_, 3s);
  EXPECT_LT(took_, 4s);
  EXPECT_EQ(changes(created, "created"), R"({"new":{"a":1},"old":{}})");
  for (const std::string_view state :
       {"fail_without_changes", "none_without_changes", "succeed_with_changes"}) {
    const StatesReport report = apply(cat("one: {test.", state, ": []}"));
    EXPECT_EQ(report.re_runs, 3) << state;
    EXPECT_TRUE(report.requires_re_run) << state;
    EXPECT_TRUE(report.results[0].is_pending) << state;
    EXPECT_GE(took_, 9s) << state;
    EXPECT_LT(took_, 10s) << state;
  }
  request_.pending = "idem25";
  EXPECT_EQ(apply("one: {test.succeed_with_changes: []}").re_runs, 0);
  EXPECT_EQ(apply("one: {test.fail_without_changes: []}").re_runs, 3);
  request_.pending = "other";
  put("main.sls", "a: {test.nop: []}");
}

TEST_F(StatesTest, ARemovalNamesOnlyWhatWasMade) {
  request_.reconciler = "none";
  apply("nothing: {test.nop: []}\nmade: {test.present: [{new_state: {a: 1}}]}");
  const Result<RemovalResult> removed = remove_environment(place_, "e", {});
  ASSERT_TRUE(removed) << to_string(removed.error());
  ASSERT_EQ(removed->staying.size(), 1u);
  EXPECT_EQ(removed->staying[0].shown, "test:made");
}

TEST_F(StatesTest, EachStateIsToldHowOftenItWasAppliedAgain) {
  for (const char* loop : {"basic", "fettle", "none"}) {
    request_.reconciler = environment_ = loop;
    const StatesReport report = apply(
        "quiet: {test.nop: []}\nbroken: {test.fail_without_changes: []}\n"
        "pause: {time.sleep: [{duration: 1}]}\n");
    const auto re_runs = [&](const char* tag) { return report.find(tag)->re_runs; };
    EXPECT_EQ(re_runs("test_|-quiet_|-quiet_|-nop"), 0) << loop;
    EXPECT_EQ(re_runs("time_|-pause_|-pause_|-sleep"), 0) << loop << ": it waits once";
    const int count = re_runs("test_|-broken_|-broken_|-fail_without_changes");
    EXPECT_EQ(count, request_.reconciler == "basic"    ? 3
                     : request_.reconciler == "fettle" ? 6
                                                       : 0)
        << loop;
    EXPECT_EQ(report.re_runs, count) << loop;
    EXPECT_FALSE(report.results[0].is_pending) << loop;
    executor_.restart();
  }
}

TEST_F(StatesTest, BasicSleepsTheLongestWaitOfThosePending) {
  put("states/slow.star", R"(
__reconcile_wait__ = {"exponential": {"wait_in_seconds": 2, "multiplier": 10}}

def present(ctx, name):
    return {"result": False, "comment": "not yet", "changes": {}}
)");
  request_.reconciler = "basic";
  const StatesReport report = apply("a: {slow.present: []}\nb: {test.fail_without_changes: []}\n");
  EXPECT_EQ(report.re_runs, 3);
  EXPECT_GE(took_, 223s);  // 3 (of b), 20 and 200 seconds
  EXPECT_LT(took_, 224s);
}

TEST_F(StatesTest, AFailureThatRepeatsItselfGetsNineSecondsAndHoldsNobodyElse) {
  const StatesReport report = apply("a: {test.fail_without_changes: []}\nb: {test.nop: []}\n");
  EXPECT_EQ(word(report, "a"), "False");
  EXPECT_EQ(word(report, "b"), "True");
  EXPECT_GE(took_, 9s);
  EXPECT_LT(took_, 13s);
  EXPECT_EQ(report.exit_code(), 1);
}

TEST_F(StatesTest, WhatIsNotReadyIsAskedUntilItIsAndAtItsOwnPace) {
  put("states/cluster.star", R"(
__reconcile_wait__ = {"static": {"wait_in_seconds": 5}}

def present(ctx, name, calls = 4):
    count = (ctx.rerun_data or {"count": 0})["count"] + 1
    state = {"count": count}
    if count < calls:
        return {"result": True, "comment": "CREATING", "changes": {}, "new_state": state, "rerun_data": state}
    return {"result": True, "comment": "ACTIVE", "changes": {}, "new_state": state}

def is_pending(ret):
    return bool(ret.get("rerun_data"))
)");
  const StatesReport report = apply(R"(
c: {cluster.present: []}
user: {test.succeed_with_arg_bind: [{parameters: {n: "${cluster:c:count}"}}]}
)");
  EXPECT_EQ(word(report, "c"), "True");
  EXPECT_EQ(comment(report, "c"), R"("ACTIVE")");
  EXPECT_GE(took_, 15s);
  EXPECT_LT(took_, 16s);
  // What uses it went on at once, and again whenever it had changed.
  EXPECT_EQ(write_json(entry(report, "user").at("new_state")), R"({"testing":{"n":4}})");
  EXPECT_EQ(report.exit_code(), 0);
}

TEST_F(StatesTest, TheDeadlineOfTheRunLeavesWhatIsPending) {
  put("states/cluster.star", R"(
def present(ctx, name):
    return {"result": True, "comment": "CREATING", "changes": {}, "new_state": {"a": 1}}

def is_pending(ret):
    return True
)");
  request_.deadline = 60s;
  const StatesReport report = apply("c: {cluster.present: []}\n");
  EXPECT_TRUE(report.requires_re_run);
  EXPECT_EQ(report.exit_code(), 3);
  EXPECT_GE(took_, 60s);
  EXPECT_LT(took_, 61s);
}

TEST_F(StatesTest, WhatStillFailsSaysThatTheDeadlineEndedIt) {
  put("states/cluster.star", R"(
def present(ctx, name):
    n = (ctx.rerun_data or 0) + 1
    return {"result": False, "comment": "no %d" % n, "changes": {}, "rerun_data": n}
)");
  request_.deadline = 2s;
  const StatesReport report = apply("c: {cluster.present: []}\n");
  EXPECT_EQ(comment(report, "c"), R"(["no 10","gave up at the deadline of the run"])");
  EXPECT_EQ(report.exit_code(), 1);
}

TEST_F(StatesTest, ARunThatWasKilledGoesOnAndRepeatsNoCommand) {
  const std::string text =
      cat("first: {cmd.run: [{cmd: \"echo x >> ", at("log"), "\"}, {shell: true}]}\n",
          "slow: {test.fail_without_changes: [", "{require: [{cmd: first}]}]}\n");
  executor_.leave_after = 3;
  EXPECT_TRUE(apply(text).results.size() == 2);
  executor_.leave_after = -1;
  executor_.restart();
  const StatesReport report = apply(text);
  EXPECT_EQ(read_file(at("log")).value_or(""), "x\n");
  EXPECT_EQ(word(report, "slow"), "False");
  EXPECT_LT(took_, 9s);  // some of its patience had gone by
  executor_.restart();
  static_cast<void>(apply(text));  // another run
  EXPECT_EQ(read_file(at("log")).value_or(""), "x\nx\n") << join(executor_.log, "; ");
}

TEST_F(StatesTest, FilesAreKeptAndToldAsStates) {
  const std::string text = cat(at("motd"), ":\n  file.managed: [{contents: hello}]\n");
  const StatesReport made = apply(text);
  EXPECT_EQ(word(made, at("motd")), "True");
  EXPECT_EQ(read_file(at("motd")).value_or(""), "hello\n");
  EXPECT_TRUE(entry(made, at("motd")).at("old_state").is_null());
  const StatesReport kept = apply(text);
  EXPECT_EQ(changes(kept, at("motd")), "{}");
  put("motd", "other");
  const StatesReport repaired = apply(text);
  EXPECT_NE(changes(repaired, at("motd")), "{}");
  EXPECT_EQ(read_file(at("motd")).value_or(""), "hello\n");
  request_.prune = true;
  static_cast<void>(apply("a: {test.nop: []}\n"));
  EXPECT_FALSE(file_exists(at("motd")));
}

TEST_F(StatesTest, CommentsSayWhatWasDone) {
  const std::string text = cat(at("made"), ":\n  file.managed: [{contents: hello}]\n",
                               "go: {cmd.run: [{cmd: \"true\"}]}\n",
                               "not: {cmd.run: [{cmd: \"true\"}, {unless: \"true\"}]}\n");
  const StatesReport made = apply(text);
  EXPECT_EQ(comment(made, at("made")), R"("created")");
  EXPECT_EQ(comment(made, "not"), R"("not run: its conditions do not hold")");
  put("made", "other");
  const StatesReport repaired = apply(text);
  EXPECT_EQ(comment(repaired, at("made")).substr(0, 9), R"("updated:)");
  EXPECT_EQ(comment(apply(text), at("made")), R"("as described")");
}

TEST_F(StatesTest, MemoryIsWhatTheLastRunLeft) {
  EXPECT_NE(changes(apply("a: {test.present: [{new_state: {x: 1}}]}"), "a"), "{}");
  const StatesReport second = apply("a: {test.present: [{new_state: {x: 1}}]}");
  EXPECT_EQ(changes(second, "a"), "{}");
  EXPECT_EQ(write_json(entry(second, "a").at("old_state")), R"({"x":1})");
  request_.remembers = false;
  const StatesReport without = apply("a: {test.present: [{new_state: {x: 1}}]}");
  EXPECT_TRUE(entry(without, "a").at("old_state").is_null());
}

TEST_F(StatesTest, ATestChangesNothing) {
  request_.is_test = true;
  const StatesReport report = apply(
      cat(at("motd"), ":\n  file.managed: [{contents: hello}]\n",
          "made: {test.present: [{new_state: {a: 5}}]}\n",
          "user: {test.succeed_with_arg_bind: [{parameters: ", "{v: \"${test:made:a}\"}}]}\n"));
  EXPECT_EQ(word(report, at("motd")), "None");
  EXPECT_FALSE(file_exists(at("motd")));
  EXPECT_NE(changes(report, "made"), "{}");
  EXPECT_NE(word(report, "user"), "False") << comment(report, "user");
  EXPECT_TRUE(home_.store().known("e")->empty());
}

TEST_F(StatesTest, ATestOfWhatCannotRunSaysSo) {
  put("states/no.star", R"(
def present(ctx, name):
    return {"result": False, "comment": "no", "changes": {}, "new_state": {"size": 1}}
)");
  request_.is_test = true;
  const StatesReport report =
      apply("a: {no.present: []}\nb: {test.nop: [{x: \"${no:a:size}\"}]}\n");
  EXPECT_EQ(word(report, "a"), "False");
  EXPECT_EQ(word(report, "b"), "False");
}

TEST_F(StatesTest, APrereqRunsFirstAndOnlyWhenTheOtherWouldChange) {
  const std::string text = R"(
stop: {test.succeed_with_comment: [{comment: stopped}, {prereq: [{test: update}]}]}
update: {test.present: [{new_state: {v: 1}}]}
)";
  const StatesReport first = apply(text);
  EXPECT_EQ(word(first, "stop"), "True");
  EXPECT_EQ(entry(first, "stop").at("__run_num"), Value(1));
  EXPECT_EQ(entry(first, "update").at("__run_num"), Value(2));
  const StatesReport second = apply(text);
  EXPECT_EQ(word(second, "stop"), "False");
  EXPECT_TRUE(second.find("test_|-stop_|-stop_|-succeed_with_comment")->is_unmet);
  EXPECT_EQ(comment(second, "stop"), R"("No changes found in execution of test.update")");
  EXPECT_EQ(second.exit_code(), 0);
}

TEST_F(StatesTest, APrereqOfAFileRunsWhenTheFileWouldBeWritten) {
  const std::string text =
      cat("stop: {cmd.run: [{cmd: \"echo x >> ", at("stops"),
          "\"}, {shell: true}, {prereq: [{file: config}]}]}\n",
          "config: {file.managed: [{name: ", at("config"), "}, {contents: a}]}\n");
  const StatesReport first = apply(text);
  EXPECT_EQ(word(first, "stop"), "True") << comment(first, "stop");
  EXPECT_EQ(entry(first, "stop").at("__run_num"), Value(1));
  EXPECT_EQ(entry(first, "config").at("__run_num"), Value(2));
  EXPECT_EQ(*read_file(at("stops")), "x\n");
  const StatesReport second = apply(text);
  EXPECT_EQ(word(second, "stop"), "False");
  EXPECT_EQ(second.exit_code(), 0) << "what has nothing to go before is not needed";
  ASSERT_TRUE(write_file(at("config"), "changed by hand"));
  request_.is_test = true;
  EXPECT_EQ(word(apply(text), "stop"), "None");
  EXPECT_EQ(*read_file(at("stops")), "x\n");
  request_.is_test = false;
  EXPECT_EQ(word(apply(text), "stop"), "True");
  EXPECT_EQ(*read_file(at("stops")), "x\nx\n");
  EXPECT_EQ(*read_file(at("config")), "a\n");
}

TEST_F(StatesTest, APrereqOfACommandAsksItsConditions) {
  const std::string text =
      cat("before: {test.succeed_with_comment: [{comment: first}, {prereq: [{cmd: once}]}]}\n",
          "once: {cmd.run: [{cmd: \"touch ", at("made"), "\"}, {creates: ", at("made"), "}]}\n");
  EXPECT_EQ(word(apply(text), "before"), "True");
  EXPECT_EQ(word(apply(text), "before"), "False");
  ASSERT_TRUE(std::filesystem::remove(at("made")));
  EXPECT_EQ(word(apply(text), "before"), "True");
}

TEST_F(StatesTest, GuardsOfFilesLeaveThemAlone) {
  const std::string text =
      cat("kept: {file.managed: [{name: ", at("kept"), "}, {contents: a}, {unless: \"test -e ",
          at("flag"), "\"}]}\n", "after: {test.nop: [{require: [{file: gone}]}]}\n",
          "gone: {file.absent: [{name: ", at("flag"), "}, {onlyif: \"false\"}]}\n");
  ASSERT_TRUE(write_file(at("flag"), ""));
  for (const bool is_test : {true, false}) {
    request_.is_test = is_test;
    const StatesReport held = apply(text);
    EXPECT_EQ(word(held, "kept"), "True");
    EXPECT_EQ(comment(held, "kept"), R"("unless condition is true")");
    EXPECT_EQ(comment(held, "gone"), R"("onlyif condition is false")");
    EXPECT_EQ(held.exit_code(), is_test ? 3 : 0) << "nothing is known of `after` in a test";
    EXPECT_TRUE(file_exists(at("flag")));
    EXPECT_FALSE(file_exists(at("kept")));
  }
  ASSERT_TRUE(std::filesystem::remove(at("flag")));
  EXPECT_EQ(word(apply(text), "kept"), "True");
  EXPECT_TRUE(file_exists(at("kept")));
}

TEST_F(StatesTest, ACommandIsTriedAsOftenAsItSays) {
  for (const std::string_view reconciler : {"fettle", "basic"}) {
    request_.reconciler = reconciler;
    std::filesystem::remove(at("tries"));
    const StatesReport report =
        apply(cat("tried:\n  cmd.run: [{cmd: \"date +%N >> ", at("tries"),
                  "; exit 1\"}, {shell: true}, {retry: {attempts: 4, interval: 20}}]\n"));
    EXPECT_EQ(word(report, "tried"), "False");
    if (reconciler == "fettle") {
      const std::string tries = *read_file(at("tries"));
      EXPECT_EQ(std::ranges::count(tries, '\n'), 4);
      EXPECT_GE(took_, 60s);
      EXPECT_LT(took_, 61s);
    }
  }
}

TEST_F(StatesTest, AResultThatIsNoneOfThreeFails) {
  put("states/odd.star", R"(
def present(ctx, name, result):
    return {"result": result, "comment": "", "changes": {}}
)");
  request_.reconciler = "none";
  const StatesReport report = apply(R"(
text: {odd.present: [{result: "no"}]}
zero: {odd.present: [{result: 0}]}
none: {odd.present: [{result: null}]}
after: {test.nop: [{require: [{odd: text}]}]}
)");
  EXPECT_NE(comment(report, "text").find("must return a `result` of True, False or None, not "),
            std::string::npos);
  EXPECT_EQ(word(report, "zero"), "False");
  EXPECT_EQ(word(report, "none"), "None");
  EXPECT_EQ(word(report, "after"), "False");
  EXPECT_EQ(report.exit_code(), 1);
}

TEST_F(StatesTest, AFunctionThatCallsItselfForEverFails) {
  put("states/deep.star", R"(
def present(ctx, name):
    return call("states.deep.present", name = name)
)");
  request_.reconciler = "none";
  const StatesReport report = apply("a: {deep.present: []}");
  EXPECT_NE(comment(report, "a").find("functions call each other more than 32 deep"),
            std::string::npos);
}

TEST_F(StatesTest, AWaitOfOnesOwnPausesBothLoops) {
  put("reconcile/wait/mine.star", "def get(run_count, seconds):\n    return seconds\n");
  put("states/slow.star", R"(
__reconcile_wait__ = {"mine": {"seconds": 100}}

def present(ctx, name):
    if ctx.rerun_data == None:
        return {"result": False, "comment": "not yet", "changes": {}, "rerun_data": 1}
    return {"result": True, "comment": "", "changes": {}}
)");
  for (const std::string_view reconciler : {"basic", "fettle"}) {
    request_.reconciler = reconciler;
    request_.is_fresh = true;
    const StatesReport report = apply("a: {slow.present: []}");
    EXPECT_GE(took_, 100s) << reconciler;
    EXPECT_LT(took_, 500s) << reconciler;
  }
}

TEST_F(StatesTest, AFailureIsToldInItsOwnWordsAndNotInThoseOfTheRunBefore) {
  put("states/two.star", R"(
def present(ctx, name):
    fail("boom")

def ready(ctx, name):
    not_ready("not yet")
)");
  EXPECT_NE(comment(apply("a: {two.present: []}"), "a").find("boom"), std::string::npos);
  request_.deadline = 1s;
  const StatesReport later = apply("a: {two.ready: []}");
  EXPECT_NE(comment(later, "a").find("not yet"), std::string::npos) << comment(later, "a");
  EXPECT_EQ(comment(later, "a").find("boom"), std::string::npos);
}

TEST_F(StatesTest, AStateThatIsNotReadyIsCalledWhenAFileComes) {
  put("states/up.star", cat(R"(
def present(ctx, name):
    if files.read(name) == None:
        not_ready("no file", watch = [name, 1])
    return {"result": True, "comment": "", "changes": {}}

def made(ctx, name):
    files.write(name, "x")
    return {"result": True, "comment": "", "changes": {}}
)"));
  const StatesReport report = apply(cat("a: {up.present: [{name: ", at("flag"), "}]}\n",
                                        "b: {up.made: [{name: ", at("flag"), "}]}\n"));
  EXPECT_EQ(word(report, "a"), "True");
  EXPECT_EQ(word(report, "b"), "True");
}

TEST_F(StatesTest, WhatComesAfterItWasAbsentIsCreated) {
  const std::string path = at("f");
  request_.reconciler = "none";
  const std::string there = cat("f: {file.managed: [{name: ", path, "}, {contents: a}]}\n"),
                    away = cat("f: {file.absent: [{name: ", path, "}]}\n");
  apply(there);
  const StatesReport gone = apply(away);
  EXPECT_EQ(comment(gone, "f"), R"("removed")");
  EXPECT_TRUE(entry(gone, "f").at("new_state").is_null());
  const StatesReport back = apply(there);
  EXPECT_EQ(comment(back, "f").substr(0, 8), R"("created)");
  EXPECT_TRUE(entry(back, "f").at("old_state").is_null());
}

TEST_F(StatesTest, GuardsTriesAndChecksWork) {
  const StatesReport report = apply(cat(R"(
left_alone: {test.fail_without_changes: [{unless: "true"}]}
not_asked: {test.fail_without_changes: [{onlyif: "false"}]}
checked: {test.nop: [{check_cmd: "exit 3"}, {reconcile: {deadline: 1}}]}
tried:
  test.fail_without_changes: [{retry: {attempts: 3, interval: 20}}]
)"));
  EXPECT_EQ(comment(report, "left_alone"), R"("unless condition is true")");
  EXPECT_EQ(comment(report, "not_asked"), R"("onlyif condition is false")");
  EXPECT_EQ(word(report, "checked"), "False");
  EXPECT_NE(comment(report, "checked").find("check_cmd failed with exit code 3"),
            std::string::npos);
  EXPECT_EQ(word(report, "tried"), "False");
  EXPECT_GE(took_, 40s);
  EXPECT_LT(took_, 45s);
}

TEST_F(StatesTest, FailhardEndsTheRun) {
  request_.reconciler = "none";
  request_.is_serial = true;
  const StatesReport report = apply(R"(
a: {test.fail_without_changes: [{failhard: true}]}
b: {test.nop: [{order: last}]}
)");
  EXPECT_EQ(word(report, "a"), "False");
  EXPECT_EQ(word(report, "b"), "None");
  EXPECT_EQ(report.exit_code(), 1);
  EXPECT_NE(report.fault.find("ID a failed"), std::string::npos);
}

TEST_F(StatesTest, ABlockThatWaitsJoinsTheRun) {
  const StatesReport report = apply(R"(
first: {test.present: [{new_state: {port: 80}}]}
#!require:first
second: {test.succeed_with_comment: [{comment: "{{ hub.idem.arg_bind.resolve('${test:first:port}') }}"}]}
#!END
)");
  EXPECT_EQ(word(report, "second"), "True");
  EXPECT_EQ(comment(report, "second"), R"("80")");
}

TEST_F(StatesTest, StatesAddStatesToTheRun) {
  put("nested.sls", R"(
one: {test.present: [{new_state: {port: {{ params.get('port') }} }}]}
two: {test.succeed_with_comment: [{comment: "${test:one:port} {{ params.get('where') }}"}, {require: [{test: one}]}]}
)");
  put("where.sls", "where: here\nport: 1\n");
  constexpr std::string_view text = R"(
block: {render.block: [{sls: "in_block: {test.nop: []}", render: yaml}]}
files: {sls.run: [{sls_sources: [nested]}, {params: [where]}, {port: 80}]}
low: {test.update_low: []}
after: {test.nop: [{require: [{test: in_block}, {test: files.two}]}]}
)";
  for (const std::string_view reconciler : {"fettle", "basic"}) {
    request_.reconciler = reconciler;
    const StatesReport report = apply(text);
    EXPECT_EQ(word(report, "in_block"), "True");
    EXPECT_EQ(comment(report, "files.two"), R"("80 here")");
    EXPECT_EQ(word(report, "king_arthur"), "True");
    EXPECT_EQ(word(report, "after"), "True");
    EXPECT_EQ(report.exit_code(), 0);
    // What is added in every run is not taken for something that left the files.
    request_.prune = true;
    EXPECT_EQ(word(apply(text), "files.one"), "True");
    EXPECT_EQ(changes(apply(text), "files.one"), "{}");
  }
}

TEST_F(StatesTest, WhatIsAddedAndWrongEndsTheRunWithItsError) {
  const StatesReport report =
      apply("block: {render.block: [{sls: \"x: {tset.nop: []}\", render: yaml}]}\n");
  EXPECT_NE(report.fault.find("tset"), std::string::npos) << report.fault;
  EXPECT_NE(report.exit_code(), 0);
}

TEST_F(StatesTest, WhatIsRememberedIsShownAndForgotten) {
  static_cast<void>(apply(cat("a: {test.present: [{new_state: {x: 1}}]}\n", at("f"),
                              ": {file.managed: [{contents: hello}]}\n")));
  RunFunctions functions(place_, {.environment = "e"});
  ASSERT_TRUE(functions.open());
  const auto exec = [&](std::string path, std::vector<Value> words = {}) {
    const Result<Value> answer =
        functions.exec_function({.path = std::move(path), .positional = std::move(words)});
    return answer ? *answer : Value(to_string(answer.error()));
  };
  EXPECT_EQ(write_json(exec("esm.show").at("ret").at("test_|-a_|-a_|-")), R"({"x":1})");
  EXPECT_EQ(exec("esm.show").at("ret").entries().size(), 2u);
  EXPECT_EQ(exec("esm.remove", {"test_|-a_|-a_|-"}).at("result"), Value(true));
  EXPECT_EQ(exec("esm.remove", {"test_|-a_|-a_|-"}).at("result"), Value(false));
  EXPECT_EQ(exec("esm.show").at("ret").entries().size(), 1u);
  EXPECT_EQ(exec("esm.validate").at("ret"), Value(1));
  EXPECT_EQ(exec("state.run", {"test.nop"}).at("result"), Value(true));
  EXPECT_EQ(exec("state.run", {"test.fail_without_changes"}).at("result"), Value(false));
  EXPECT_NE(write_json(exec("state.run", {"tets.nop"})).find("did you mean `test`"),
            std::string::npos);
}

TEST_F(StatesTest, DriftOfStatesIsFoundWithThePluginsOfTheirRun) {
  put("states/thing.star", R"(
CAN_LOOK = True

def present(ctx, name):
    changes = {} if ctx.old_state and ctx.test == False else {"size": 1}
    return {"result": True, "comment": "", "changes": {"new": changes} if changes else {}, "new_state": {"size": 1}}
)");
  static_cast<void>(apply("a: {thing.present: []}\nb: {test.nop: []}\n"));
  const Result<std::vector<Drift>> found = drift(place_, "e");
  ASSERT_TRUE(found) << to_string(found.error());
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(found->at(0).key.name, "thing_|-a_|-a");
  EXPECT_EQ(found->at(0).why, "`size` changed outside fettle");
}

TEST_F(StatesTest, ErrorsComeBeforeAnythingIsDone) {
  const StatesReport report = apply(cat(at("f"), ": {file.managed: [{contents: x}]}\n",
                                        "b: {test.nop: [{require: [{test: nobody}]}]}\n"));
  ASSERT_EQ(report.errors.size(), 1u);
  EXPECT_EQ(report.exit_code(), 2);
  EXPECT_FALSE(file_exists(at("f")));
}

TEST_F(StatesTest, AFailingPluginFailsItsStateOnlyWithItsTrace) {
  put("states/bad.star", "def present(ctx, name):\n    return 1 // 0\n");
  request_.reconciler = "none";
  const StatesReport report = apply("a: {bad.present: []}\nb: {test.nop: []}\n");
  EXPECT_EQ(word(report, "a"), "False");
  EXPECT_EQ(word(report, "b"), "True");
  EXPECT_NE(comment(report, "a").find("division by zero"), std::string::npos)
      << comment(report, "a");
}

TEST_F(StatesTest, AReconcilerOfUsersSaysWhatIsAppliedAgain) {
  put("states/flaky.star", R"(
def present(ctx, name):
    count = ((ctx.old_state or {}).get("calls") or 0) + 1
    return {"result": count >= 3, "comment": "call %d" % count, "changes": {}, "new_state": {"calls": count}, "force_save": True}
)");
  put("reconcile/mine.star", R"(
def loop(hub, pending_plugin, name, apply_kwargs):
    count = 0
    for i in range(10):
        pending = [tag for tag, ret in hub.results().items() if not ret["result"]]
        if not pending:
            break
        hub.sleep(7)
        hub.apply(pending)
        count += 1
    return {"re_runs_count": count, "require_re_run": False}
)");
  request_.reconciler = "mine";
  const StatesReport report = apply("a: {flaky.present: []}\n");
  EXPECT_EQ(word(report, "a"), "True");
  EXPECT_EQ(report.re_runs, 2);
  EXPECT_GE(took_, 14s);
  EXPECT_LT(took_, 15s);
}

}  // namespace
}  // namespace fettle
