/// What a function of a state is told, and what becomes of several calls, in both loops.

#include "core/open_payload.h"
#include "tests/fixtures/states_fixture.h"

namespace fettle {
namespace {

class StatesCallsTest : public StatesTest {};

TEST_F(StatesCallsTest, NullGivesWayToTheDefault) {
  put_state(R"(
def said(ctx, name, word = "default", needed = 1, **more):
    return {"result": True, "comment": "%s %s %s" % (word, needed, more), "changes": {}}
)");
  EXPECT_EQ(comment(apply("a: {s.said: [{word: null}, {needed: null}, {other: null}]}"), "a"),
            R"("default 1 {\"other\": None}")");
}

TEST_F(StatesCallsTest, ATestSaysThatSomethingIsMadeAnew) {
  put_state(R"(
def present(ctx, name, resource_id = None, size = 7, other = None):
    return {"result": True, "comment": "%s %s" % ("updated" if ctx.old_state else "created", size),
            "old_state": ctx.old_state, "new_state": {"resource_id": "i-%d" % size, "size": size, "other": other},
            "changes": None}

def absent(ctx, name, resource_id = None):
    return {"result": True, "comment": "gone %s" % resource_id, "old_state": ctx.old_state,
            "changes": None}
)");
  for (const bool first : {false, true}) {
    environment_ = first ? "creates" : "removes";
    const std::string settings =
        cat("{recreate_on_update: {create_before_destroy: ", first ? "true" : "false",
            "}}, {ignore_changes: [other]}");
    const auto sls = [&](int size, int other) {
      return cat("a: {s.present: [{size: ", size, "}, {other: ", other, "}, ", settings, "]}");
    };
    EXPECT_EQ(comment(apply(sls(1, 1)), "a"), R"("created 1")");
    for (const bool test : {true, false}) {
      executor_.restart();
      request_.is_test = test;
      const StatesReport report = apply(sls(2, 1));
      if (first) {
        EXPECT_EQ(comment(report, "a"), R"("created 2")") << test;
        EXPECT_EQ(comment(report, "a_delete_old"), R"("gone i-1")") << test;
        continue;
      }
      EXPECT_EQ(comment(report, "a"),
                R"(["it differs, so it is removed and created again","gone i-1","created 2"])")
          << test;
      EXPECT_EQ(changes(report, "a"),
                R"({"new":{"resource_id":"i-2","size":2},"old":{"resource_id":"i-1","size":1}})");
    }
    request_.is_test = false;
    executor_.restart();
    EXPECT_EQ(comment(apply(sls(2, 5)), "a"), R"("updated 2")") << "what differs is ignored";
  }
}

TEST_F(StatesCallsTest, RerunDataReachesTheNextCallInBothLoops) {
  put_state(R"(
__reconcile_wait__ = {"static": {"wait_in_seconds": 1}}

def run(ctx, name):
    n = (ctx.rerun_data or {}).get("n", 0) + 1
    return {"result": n > 2, "comment": "call %d" % n, "changes": {},
            "rerun_data": None if n > 2 else {"n": n}}
)");
  for (const char* loop : {"fettle", "basic"}) {
    request_.reconciler = loop;
    environment_ = loop;
    const StatesReport report = apply("a: {s.run: []}\n");
    EXPECT_EQ(word(report, "a"), "True") << loop;
    EXPECT_NE(comment(report, "a").find("call 3"), std::string::npos) << comment(report, "a");
    executor_.restart();
  }
}

TEST_F(StatesCallsTest, AListenerIsCalledOnceWithItsOwnName) {
  put_state(R"(
def run(ctx, name):
    return {"result": True, "comment": "run", "changes": {}}

def mod_watch(ctx, name):
    text = files.read(ctx.run_name) if files.exists(ctx.run_name) else ""
    files.write(ctx.run_name, text + name + "\n")
    return {"result": True, "comment": "restarted " + name, "changes": {"r": 1}}
)");
  const std::string text =
      "n: {test.succeed_with_changes: []}\n"
      "quiet: {test.nop: []}\n"
      "l: {s.run: [{name: nginx}, {listen: [{test: n}]}]}\n"
      "k: {s.run: [{name: other}, {listen: [{test: quiet}]}]}\n";
  for (const char* loop : {"fettle", "basic"}) {
    request_.reconciler = loop;
    request_.functions.run_name = at(loop);
    environment_ = loop;
    const StatesReport report = apply(text);
    EXPECT_EQ(read_file(at(loop)).value_or(""), "nginx\n") << loop;
    EXPECT_EQ(comment(report, "l_listen"), R"("restarted nginx")") << loop;
    EXPECT_EQ(word(report, "k_listen"), "missing") << loop;
    executor_.restart();
  }
}

TEST_F(StatesCallsTest, WhatCannotBeToldOfAChangeIsDoneAgain) {
  request_.reconciler = "none";
  const StatesReport report =
      apply(cat("n: {test.succeed_with_changes: []}\n", "w: {cmd.wait: [{cmd: \"echo x >> ",
                at("log"), "\"}, {shell: true}, {listen: [{test: n}]}]}\n"));
  EXPECT_EQ(read_file(at("log")).value_or(""), "x\n");
  EXPECT_EQ(word(report, "w_listen"), "True");
  EXPECT_EQ(report.exit_code(), 0);
}

TEST_F(StatesCallsTest, AWatcherIsToldOfAChangeOnce) {
  put_state(R"(
def run(ctx, name):
    return {"result": True, "comment": "run", "changes": {}}

def mod_watch(ctx, name):
    text = files.read(name) if files.exists(name) else ""
    files.write(name, text + "x")
    return {"result": True, "comment": "told", "changes": {"r": 1}}

def is_pending(ret, state, **pending_kwargs):
    return pending_kwargs["reruns_count"] < 3
)");
  const StatesReport report =
      apply(cat("n: {test.succeed_with_changes: []}\n", "w: {s.run: [{name: ", at("told"),
                "}, {watch: [{test: n}]}]}\n"));
  EXPECT_EQ(read_file(at("told")).value_or(""), "x");
  EXPECT_EQ(changes(report, "w"), R"({"r":1})");
}

TEST_F(StatesCallsTest, ARuleThatFailsFailsItsStateOnly) {
  put_state(R"(
def run(ctx, name):
    return {"result": False, "comment": "no", "changes": {}}

def is_pending(ret):
    fail("no rule")
)");
  request_.reconciler = "basic";
  const StatesReport report = apply("a: {s.run: []}\nb: test.nop\n");
  EXPECT_EQ(word(report, "a"), "False");
  EXPECT_NE(comment(report, "a").find("no rule"), std::string::npos) << comment(report, "a");
  EXPECT_EQ(word(report, "b"), "True");
}

TEST_F(StatesCallsTest, TheWaitOfAStateHoldsInBasic) {
  request_.reconciler = "basic";
  static_cast<void>(apply(
      "a: {test.fail_without_changes: [{reconcile: {wait: {static: {wait_in_seconds: 0.1}}}}]}\n"));
  EXPECT_LT(took_, 1s);
}

TEST_F(StatesCallsTest, SensitiveArgumentsReachCommandsInTheirShape) {
  const StatesReport report =
      apply(cat("a: {cmd.run: [{cmd: 'echo $PW > ", at("pw"),
                "'}, {shell: true}, {env: {PW: hunter2}}, {sensitive: [env]}]}\n",
                "b: {cmd.run: [{cmd: 'touch ", at("made"), "'}, {sensitive: [cmd]}]}\n"));
  EXPECT_EQ(word(report, "a"), "True") << comment(report, "a");
  EXPECT_EQ(read_file(at("pw")).value_or(""), "hunter2\n");
  EXPECT_EQ(word(report, "b"), "True") << comment(report, "b");
  EXPECT_TRUE(file_exists(at("made")));
}

TEST_F(StatesCallsTest, AnExecFunctionThatSucceededIsNotRunAgain) {
  put("exec/count.star", cat(R"(
def up(ctx):
    path = ")",
                             at("calls"), R"("
    files.write(path, (files.read(path) if files.exists(path) else "") + "x")
    return {"result": True, "comment": "", "ret": 1}
)"));
  for (const char* loop : {"basic", "fettle"}) {
    std::filesystem::remove(at("calls"));
    request_.reconciler = loop;
    environment_ = loop;
    const StatesReport report = apply("a: {exec.run: [{path: count.up}]}\n");
    EXPECT_EQ(changes(report, "a"), R"({"new":1})") << loop;
    EXPECT_EQ(report.re_runs, 0) << loop;
    EXPECT_EQ(read_file(at("calls")).value_or(""), "x") << loop;
    executor_.restart();
  }
}

/// As in Idem, whose exec functions often ask for a name first.
TEST_F(StatesCallsTest, AnExecFunctionGetsTheNameOfItsState) {
  put("exec/who.star", R"(
def is_it(ctx, name, size = 1):
    return {"result": True, "comment": "", "ret": name}
def nobody(ctx):
    return {"result": True, "comment": "", "ret": 1}
)");
  const StatesReport report = apply(
      "a: {exec.run: [{path: who.is_it}, {kwargs: {size: 2}}]}\n"
      "b: {exec.run: [{path: who.is_it}, {kwargs: {name: c}}]}\n"
      "d: {exec.run: [{path: who.is_it}, {args: [e]}]}\n"
      "f: {exec.run: [{path: who.nobody}]}\n");
  EXPECT_EQ(changes(report, "a"), R"({"new":"a"})");
  EXPECT_EQ(changes(report, "b"), R"({"new":"c"})");
  EXPECT_EQ(changes(report, "d"), R"({"new":"e"})");
  EXPECT_EQ(changes(report, "f"), R"({"new":1})");
}

TEST_F(StatesCallsTest, WhatIsSensitiveIsHiddenInWhatAStateTells) {
  put_state(R"(
def present(ctx, name, pin = 0, pw = ""):
    return {"result": True, "comment": "pw %s of %d" % (pw, pin), "old_state": None,
            "new_state": {"pin": pin, "pw": pw, "copy": pin, "user": "u"}, "changes": None}
)");
  const StatesReport report = apply(R"(
a: {s.present: [{pin: 471147}, {pw: abc}, {sensitive: [pin, pw]}]}
b: {test.present: [{new_state: {token: hunter2, open: 1}}, {sensitive: [token]}]}
c: {test.succeed_with_arg_bind: [{parameters: {x: "${s:a:pin}", y: "${test:b:token}"}}]}
)");
  const auto is_hidden = [&](const Value& where, const char* key) {
    return where.at(key).is_secret();
  };
  const Value& made = entry(report, "a").at("new_state");
  EXPECT_TRUE(is_hidden(made, "pin") && is_hidden(made, "pw") && is_hidden(made, "copy"));
  EXPECT_EQ(made.text_at("user"), "u");
  EXPECT_TRUE(is_hidden(entry(report, "a").at("changes").at("new"), "pin"));
  EXPECT_EQ(comment(report, "a").find("471147"), std::string::npos) << comment(report, "a");
  EXPECT_TRUE(is_hidden(entry(report, "b").at("new_state"), "token"));
  EXPECT_EQ(entry(report, "b").at("new_state").at("open"), Value(1));
  EXPECT_EQ(comment(report, "b").find("second look"), std::string::npos) << comment(report, "b");
  const Known known = *home_.store().known("e");
  const Value& kept = dict_of(known.at({"e", "state", "test_|-b_|-b"})->applied->attributes);
  EXPECT_TRUE(is_hidden(kept.at("arguments").at("new_state"), "token"));
  const Value& bound = entry(report, "c").at("new_state").at("testing");
  EXPECT_TRUE(is_hidden(bound, "x") && is_hidden(bound, "y"));
}

TEST_F(StatesCallsTest, ACommandThatPrintsASecretHasOneForItsOutput) {
  const StatesReport report = apply(R"(
a: {test.present: [{new_state: {token: hunter2x}}, {sensitive: [token]}]}
b: {cmd.run: [{cmd: "echo ${test:a:token}"}, {shell: true}]}
c: {cmd.run: [{cmd: "echo open"}, {shell: true}]}
)");
  EXPECT_TRUE(entry(report, "b").at("new_state").at("stdout").is_secret());
  EXPECT_EQ(entry(report, "c").at("new_state").text_at("stdout"), "open");
}

TEST_F(StatesCallsTest, CheckCmdTellsWhetherAThingIsAnyGood) {
  const std::string text =
      cat("f: {file.managed: [{name: ", at("f"), "}, {contents: x}, {check_cmd: test -e ",
          at("good"), "}]}\n", "r: {test.nop: [{require: [{file: f}]}]}\n",
          "o: {test.nop: [{onfail: [{file: f}]}]}\n");
  request_.reconciler = "none";
  const StatesReport bad = apply(text);
  EXPECT_TRUE(file_exists(at("f")));
  EXPECT_EQ(word(bad, "f"), "False");
  EXPECT_NE(comment(bad, "f").find("check_cmd failed with exit code 1"), std::string::npos);
  EXPECT_EQ(word(bad, "r"), "False");
  EXPECT_NE(comment(bad, "r").find("Result of require file_|-f_|-"), std::string::npos);
  EXPECT_EQ(word(bad, "o"), "True");
  EXPECT_EQ(bad.exit_code(), 1);
  EXPECT_EQ(bad.fault, "");
  put("good", "");
  executor_.restart();
  const StatesReport good = apply(text);
  EXPECT_EQ(word(good, "f"), "True") << comment(good, "f");
  EXPECT_EQ(word(good, "r"), "True");
  EXPECT_EQ(good.exit_code(), 0);
}

TEST_F(StatesCallsTest, ATestKeepsWhatAFailureSaysAndTellsThoseThatWatch) {
  put_state(R"(
def fails(ctx, name):
    return {"result": False, "comment": "no", "old_state": {"n": 1}, "new_state": {"n": 2}, "changes": {"n": 2}}

def run(ctx, name, changes = {}):
    return {"result": True, "comment": "test=%s" % ctx.test, "changes": changes}

def mod_watch(ctx, name, **more):
    return {"result": True, "comment": "watched, test=%s" % ctx.test, "changes": {"w": 1}}
)");
  request_.is_test = true;
  const StatesReport report = apply(
      "f: {s.fails: []}\nc: {s.run: [{changes: {x: 1}}]}\n"
      "w: {s.run: [{watch: [{s: c}]}]}\nquiet: {s.run: [{watch: [{s: plain}]}]}\nplain: {s.run: "
      "[]}\n");
  EXPECT_EQ(word(report, "f"), "False");
  EXPECT_EQ(changes(report, "f"), R"({"n":2})");
  for (const StateResult& result : report.results)
    if (result.entry.text_at("__id__") == "f") {
      EXPECT_EQ(write_json(result.entry.at("new_state")), R"({"n":2})");
    }
  EXPECT_EQ(comment(report, "w"), R"("watched, test=True")");
  EXPECT_EQ(comment(report, "quiet"), R"("test=True")");
}

TEST_F(StatesCallsTest, WhatBasicHasGivenUpIsNotCalledWithTheOthers) {
  put_state(R"(
def stuck(ctx, name):
    return {"result": False, "comment": "no", "changes": {}}

def moves(ctx, name, until = 7):
    n = (ctx.rerun_data or 0) + 1
    return {"result": n >= until, "comment": "call %d" % n, "changes": {"n": n},
            "rerun_data": n if n < until else None}
)");
  request_.reconciler = "basic";
  request_.pending = "idem25";
  const StatesReport report =
      apply("a: {s.stuck: []}\nb: {s.moves: []}\nc: {s.moves: [{require: [{s: a}]}]}\n");
  EXPECT_EQ(report.re_runs, 6);
  EXPECT_EQ(word(report, "a"), "False");
  EXPECT_EQ(word(report, "b"), "True");
  EXPECT_EQ(comment(report, "c"),
            R"(["Result of require s_|-a_|-a_|-stuck is \"False\", not \"[True, None]\""])");
  const auto calls = [&](const char* id) {
    return std::ranges::count_if(executor_.log, [&](const std::string& line) {
      return line.find(cat("_|-", id, "_|-")) != line.npos;
    });
  };
  EXPECT_EQ(calls("a"), 4);
  EXPECT_EQ(calls("b"), 7);
  EXPECT_EQ(calls("c"), 0);
}

TEST_F(StatesCallsTest, ChangesOfSeveralCallsAreThoseBetweenTheStatesElseAsTold) {
  put_state(R"(
def says(ctx, name, old = None, new = None, told = {}):
    n = (ctx.rerun_data or 0) + 1
    return {"result": n >= 2, "comment": "", "old_state": old if n == 1 else new, "new_state": new,
            "changes": told if n == 1 else {}, "rerun_data": n if n < 2 else None}
)");
  for (const char* const loop : {"basic", "fettle"}) {
    request_.reconciler = environment_ = loop;
    request_.pending = request_.reconciler == "basic" ? "idem25" : "default";
    const StatesReport report = apply(
        "both: {s.says: [{old: {a: 1}}, {new: {a: 2}}, {told: {z: 1}}]}\n"
        "quiet: {s.says: [{new: {a: 2}}]}\n"
        "made: {s.says: [{new: {a: 2}}, {told: {new: {a: 2}}}]}\n"
        "gone: {s.says: [{old: {a: 1}}, {told: {old: {a: 1}}}]}\n");
    EXPECT_EQ(changes(report, "both"), R"({"new":{"a":2},"old":{"a":1}})") << loop;
    EXPECT_EQ(changes(report, "quiet"), "{}") << loop;
    EXPECT_EQ(changes(report, "made"), R"({"new":{"a":2}})") << loop;
    EXPECT_EQ(changes(report, "gone"), R"({"old":{"a":1}})") << loop;
    executor_.restart();
  }
}

TEST_F(StatesCallsTest, DescribedStatesAreFilteredAsInIdem) {
  const Value states = *read_json(
      R"({"web": {"cloud.vm.present": [{"name": "web"}, {"size": 2}]},
          "db": {"cloud.vm.present": [{"name": "db"}, {"size": 4}]}})");
  EXPECT_EQ(write_json(*filter_described(states, "[?resource[?size > `2`]]")),
            R"({"db":{"cloud.vm.present":[{"name":"db"},{"size":4}]}})");
  EXPECT_EQ(write_json(*filter_described(states, "[].name")), R"(["db","web"])");
  EXPECT_FALSE(filter_described(states, "[?").has_value());
}

TEST_F(StatesCallsTest, FailhardLetsWhatIsUnderWayComeToItsEnd) {
  request_.reconciler = "none";
  const StatesReport report = apply(cat(
      "a: {test.fail_without_changes: [{failhard: true}]}\n", "b: {cmd.run: [{cmd: \"echo end >> ",
      at("log"), "\"}, {shell: true}]}\n", "c: {test.nop: [{require: [{cmd: b}]}]}\n"));
  EXPECT_EQ(read_file(at("log")).value_or(""), "end\n");
  EXPECT_EQ(word(report, "b"), "True") << comment(report, "b");
  EXPECT_EQ(report.exit_code(), 1);
  EXPECT_FALSE(report.is_stopped);
}

TEST_F(StatesCallsTest, PruneIsShownByATestAndNeverTakesWhatAFileHas) {
  static_cast<void>(apply("a: {test.present: [{new_state: {x: 1}}]}\n"));
  executor_.restart();
  request_.prune = true;
  request_.is_test = true;
  EXPECT_EQ(word(apply("b: {test.nop: []}\n"), "b"), "None");
  request_.is_test = false;
  request_.compile.target = "b";
  StatesRequest request = request_;
  request.words = {at("main.sls")};
  request.environment = environment_;
  const Result<StatesReport> refused = apply_states(place_, std::move(request), nullptr);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("--target"), std::string::npos);
}

TEST_F(StatesCallsTest, PruneLeavesWhatIsWantedUnderAnotherIdOrInAnotherEnvironment) {
  const auto file = [&](const std::string& id, const std::string& name) {
    return cat(id, ": {file.managed: [{name: ", at(name), "}, {contents: hello}]}\n");
  };
  static_cast<void>(apply(file("one", "f") + file("two", "g") + file("three", "h")));
  executor_.restart();
  environment_ = "other";
  static_cast<void>(apply(file("zwei", "g")));
  executor_.restart();
  environment_ = "e";
  request_.prune = true;
  for (const bool test : {true, false}) {
    request_.is_test = test;
    const StatesReport report = apply(file("first", "f"));
    EXPECT_EQ(word(report, "one"), "True") << test;
    EXPECT_EQ(changes(report, "one"), "{}") << test;
    EXPECT_EQ(comment(report, "two"),
              R"("no longer wanted; left in place: environment `other` wants it")");
    EXPECT_NE(comment(report, "one").find("left in place: `file:"), std::string::npos);
    EXPECT_EQ(word(report, "three"), test ? "None" : "True");
    EXPECT_EQ(file_exists(at("h")), test);
    EXPECT_EQ(report.exit_code(), test ? 3 : 0);
    executor_.restart();
  }
  EXPECT_EQ(read_file(at("f")).value_or(""), "hello\n");
  EXPECT_EQ(read_file(at("g")).value_or(""), "hello\n");
}

TEST_F(StatesCallsTest, WhatIsPrunedHasAResult) {
  put_state(R"(
def present(ctx, name):
    return {"result": True, "comment": "", "old_state": None, "new_state": {"x": 1}, "changes": None}

def absent(ctx, name):
    return {"result": name != "stays", "comment": "not " + name, "changes": None}
)");
  request_.reconciler = "basic";
  static_cast<void>(
      apply(cat("goes: {s.present: []}\nstays: {s.present: []}\n", at("f"),
                ": {file.managed: [{contents: hello}]}\nc: {cmd.run: [{cmd: 'true'}]}\n")));
  request_.prune = true;
  const std::string text = "b: {test.nop: []}\n";
  for (const bool test : {true, false}) {
    executor_.restart();
    request_.is_test = test;
    const StatesReport report = apply(text);
    ASSERT_EQ(report.results.size(), 4u);
    EXPECT_EQ(report.results[0].entry.text_at("__id__"), "b");
    const StateResult* gone = report.find("s_|-goes_|-goes_|-absent");
    ASSERT_NE(gone, nullptr);
    EXPECT_EQ(word(report, "goes"), test ? "None" : "True");
    EXPECT_EQ(changes(report, "goes"), R"({"new":{},"old":{"x":1}})");
    EXPECT_EQ(word(report, "stays"), test ? "None" : "False");
    EXPECT_EQ(comment(report, "stays"),
              test ? R"("it would be removed: no file describes it any more")" : R"("not stays")");
    EXPECT_NE(report.find(cat("file_|-", at("f"), "_|-", at("f"), "_|-absent")), nullptr);
    EXPECT_EQ(report.exit_code(), test ? 3 : 1);
    EXPECT_EQ(file_exists(at("f")), test);
  }
  executor_.restart();
  EXPECT_EQ(apply(text).results.size(), 2u) << "what could not be removed is tried again";
}

TEST_F(StatesCallsTest, AFileThatWasThereIsToldAsItWas) {
  put("f", "old");
  const StatesReport report =
      apply(cat("f: {file.managed: [{name: ", at("f"), "}, {contents: new}]}\n"));
  EXPECT_FALSE(entry(report, "f").at("old_state").is_null());
  EXPECT_NE(entry(report, "f").at("changes").find("old"), nullptr) << changes(report, "f");
}

TEST_F(StatesCallsTest, AFailureWithoutACommentKeepsItsAnswer) {
  put_state(R"(
def run(ctx, name):
    return {"result": False, "comment": [], "new_state": {"n": 1}, "changes": {"c": 1}}
)");
  request_.reconciler = "none";
  const StatesReport report = apply("a: {s.run: []}\n");
  EXPECT_EQ(changes(report, "a"), R"({"c":1})");
  EXPECT_EQ(write_json(entry(report, "a").at("new_state")), R"({"n":1})");
}

TEST_F(StatesCallsTest, ATextLikeThatOfALostOutputIsNoLostOutput) {
  put_state(R"(
def run(ctx, name, x):
    return {"result": False, "comment": "`a/b` has no output `c`", "changes": {}}
)");
  const StatesReport report =
      apply("a: {test.nop: []}\nb: {s.run: [{x: '${test:a:y}'}]}\nc: {s.run: [{x: 1}]}\n");
  EXPECT_NE(comment(report, "b").find("new_state"), std::string::npos) << comment(report, "b");
  EXPECT_EQ(comment(report, "c"), R"("`a/b` has no output `c`")");
}

TEST_F(StatesCallsTest, WhatIsUndoneTakesNoTextFromWhatIsGone) {
  put_state(R"(
def present(ctx, name, owner = None):
    return {"result": True, "comment": "", "new_state": {"owner": owner}, "changes": {}}

def absent(ctx, name, owner = None):
    return {"result": True, "comment": "%s of %s" % (name, owner), "changes": {}}
)");
  const std::string text =
      "a: {s.present: [{owner: 7}]}\n"
      "b: {s.present: [{owner: 'id-${s:a:owner}'}]}\n"
      "c: {s.present: [{name: 'c-${s:a:owner}'}]}\n";
  // Nothing was ever made.
  request_.compile.is_inverted = true;
  StatesReport undone = apply(text);
  EXPECT_EQ(comment(undone, "b"), R"("b of None")");
  EXPECT_EQ(word(undone, "c"), "False");
  executor_.restart();
  request_.compile.is_inverted = false;
  EXPECT_EQ(word(apply(text), "c"), "True");
  executor_.restart();
  request_.compile.is_inverted = true;
  undone = apply(text);
  EXPECT_EQ(comment(undone, "b"), R"("b of id-7")");
  EXPECT_EQ(comment(undone, "c"), R"("c-7 of None")");
  executor_.restart();
  // Once more, when what they refer to is gone.
  undone = apply(text);
  EXPECT_EQ(comment(undone, "b"), R"("b of None")");
  EXPECT_EQ(comment(undone, "c"), R"("c-7 of None")");
  EXPECT_EQ(undone.exit_code(), 0);
}

TEST_F(StatesCallsTest, WhatStaysHandsItsValuesOnInAnInversion) {
  put_state(R"(
def run(ctx, name, value = None):
    return {"result": True, "comment": "%s" % value, "new_state": {"value": value}, "changes": {}}

def present(ctx, name):
    return {"result": True, "comment": "", "new_state": {"x": 3}, "changes": {}}

def absent(ctx, name):
    return {"result": True, "comment": "", "changes": {}}
)");
  const std::string text =
      "a: {s.run: [{value: 7}]}\n"
      "b: {s.run: [{value: 'id-${s:a:value}'}]}\n"
      "c: s.present\n"
      "d: {s.run: [{value: '${s:a:value}-${s:c:x}'}]}\n";
  request_.reconciler = "none";
  request_.compile.is_inverted = true;
  StatesReport inverted = apply(text);
  EXPECT_EQ(comment(inverted, "b"), R"("id-7")");
  EXPECT_EQ(comment(inverted, "d"), R"("None")");  // `c` was never made
  executor_.restart();
  request_.compile.is_inverted = false;
  static_cast<void>(apply(text));
  executor_.restart();
  request_.compile.is_inverted = true;
  inverted = apply("a: {s.run: [{value: 8}]}\n" + text.substr(text.find("b:")));
  EXPECT_EQ(comment(inverted, "b"), R"("id-8")");
  EXPECT_EQ(comment(inverted, "d"), R"("8-3")");
}

TEST_F(StatesCallsTest, WhatIsUndoneComesAfterCommandsWhateverCameOfThem) {
  const std::string text =
      cat("f: {file.managed: [{name: ", at("f"), "}, {contents: x}]}\n",
          "c: {cmd.run: [{cmd: test ! -e ", at("f"), "}, {require: [{file: f}]}]}\n",
          "t: {test.present: [{require: [{test: u}]}]}\n"
          "u: {test.fail_without_changes: [{require: [{test: p}]}]}\n"
          "p: test.present\n");
  request_.reconciler = "none";
  static_cast<void>(apply(text));
  ASSERT_TRUE(file_exists(at("f")));
  executor_.restart();
  request_.compile.is_inverted = true;
  const StatesReport report = apply(text);
  EXPECT_EQ(word(report, "c"), "False");  // `f` was still there
  EXPECT_EQ(word(report, "f"), "True") << comment(report, "f");
  EXPECT_FALSE(file_exists(at("f")));
  EXPECT_EQ(word(report, "u"), "False");
  EXPECT_EQ(word(report, "p"), "True") << comment(report, "p");
}

TEST_F(StatesCallsTest, AKeptPlanIsCarriedOutWhileTheSameIsDue) {
  const std::string text = cat("f: {file.managed: [{name: ", at("f"), "}, {contents: new}]}\n",
                               "c: {cmd.run: [{cmd: 'true'}]}\n");
  request_.is_test = true;
  const Value plan = plan_file_of(apply(text), environment_);
  EXPECT_EQ(plan.at("steps").items().size(), 2u);
  request_.is_test = false;
  request_.plan = *read_plan_file(write_json(plan), "plan");
  put("f", "of somebody else");
  put("main.sls", text);
  const auto again = [&] {
    StatesRequest request = request_;
    request.words = {at("main.sls")};
    request.environment = environment_;
    return apply_states(place_, std::move(request), nullptr);
  };
  const Result<StatesReport> refused = again();
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().blame, Blame::user);
  EXPECT_EQ(read_file(at("f")).value_or(""), "of somebody else");
  std::filesystem::remove(at("f"));
  const Result<StatesReport> done = again();
  ASSERT_TRUE(done.has_value()) << to_string(done.error());
  EXPECT_EQ(done->exit_code(), 0);
  EXPECT_EQ(done->results.size(), 2u);
  // What a plan removes is part of it.
  executor_.restart();
  request_.plan.reset();
  request_.is_test = request_.prune = true;
  const Value pruning = plan_file_of(apply("g: {cmd.run: [{cmd: 'true'}]}\n"), environment_);
  EXPECT_EQ(pruning.at("steps").items().size(), 2u) << write_json(pruning);
  request_.is_test = request_.prune = false;
  request_.plan = *read_plan_file(write_json(pruning), "plan");
  EXPECT_FALSE(again().has_value());
  EXPECT_EQ(read_file(at("f")).value_or(""), "new\n");
}

TEST_F(StatesCallsTest, WhatIsPrunedIsCalledAsItWasMade) {
  put_state(R"(
def present(ctx, name, v = 0, resource_id = None):
    return {"result": True, "comment": "made " + name, "old_state": ctx.old_state,
            "new_state": {"resource_id": "id-" + name, "v": v} if v else {"x": name}, "changes": None}

def absent(ctx, name, resource_id = None):
    return {"result": True, "comment": "gone %s %s" % (name, resource_id), "changes": None}
)");
  const std::string a = "a: {s.present: [{v: 1}]}\n";
  const std::string b =
      "b: {s.present: [{name: 'b-of-${s:a:resource_id}'}, {v: 2}]}\n"
      "c: {s.present: [{name: 'c-of-${s:a:resource_id}'}, "
      "{resource_id: '${s:a:resource_id}'}]}\n"
      "d: {s.present: [{name: 'd-of-${s:a:v}'}]}\n";
  for (const bool with_a : {true, false}) {
    environment_ = with_a ? "stays" : "goes";
    request_.prune = false;
    EXPECT_EQ(comment(apply(a + b), "b"), R"("made b-of-id-a")");
    request_.prune = true;
    executor_.restart();
    // What the names refer to may have changed by now.
    const StatesReport report =
        apply(with_a ? "a: {s.present: [{v: 7}]}\n" : "z: {test.nop: []}\n");
    EXPECT_EQ(report.exit_code(), 0);
    EXPECT_EQ(comment(report, "b"), R"("gone b-of-id-a id-b-of-id-a")");
    EXPECT_EQ(comment(report, "c"), R"("gone c-of-id-a id-a")");
    EXPECT_EQ(comment(report, "d"), R"("gone d-of-1 None")");
    executor_.restart();
  }
}

TEST_F(StatesCallsTest, AFileIsPrunedWhereItsReferencesLedThen) {
  put_state(R"(
def present(ctx, name, v):
    return {"result": True, "comment": "", "new_state": {"v": v}, "changes": {"v": v}}

def absent(ctx, name):
    return {"result": True, "comment": "", "changes": {}}
)");
  put("f-7", "of somebody else");
  const std::string a = "a: {s.present: [{v: 1}]}\n";
  for (const char* left : {"a: {s.present: [{v: 7}]}\n", "z: {test.nop: []}\n"}) {
    request_.prune = false;
    static_cast<void>(apply(
        cat(a, "b: {file.managed: [{name: '", at("f-${s:a:v}"), "'}, {contents: hello}]}\n")));
    EXPECT_TRUE(file_exists(at("f-1")));
    request_.prune = true;
    executor_.restart();
    EXPECT_EQ(apply(left).exit_code(), 0);
    EXPECT_FALSE(file_exists(at("f-1")));
    EXPECT_EQ(read_file(at("f-7")).value_or(""), "of somebody else");
    executor_.restart();
  }
}

TEST_F(StatesCallsTest, AWaitThatIsNoneFailsItsStateOnly) {
  put("reconcile/wait/odd.star", R"(
def get(run_count, value):
    return value if value != "fails" else fail("no wait")
)");
  for (const char* wait : {"'soon'", "-5", "None", "'fails'"})
    for (const char* loop : {"fettle", "basic"}) {
      put_state(cat("__reconcile_wait__ = {'odd': {'value': ", wait, "}}\n", R"(
def run(ctx, name):
    return {"result": False, "comment": "not yet", "changes": {}}
)"));
      request_.reconciler = loop;
      const StatesReport report = apply("a: {s.run: []}\nb: {test.nop: []}\n");
      EXPECT_EQ(word(report, "a"), "False") << wait;
      EXPECT_NE(comment(report, "a").find("wait"), std::string::npos) << comment(report, "a");
      EXPECT_EQ(word(report, "b"), "True") << wait;
      EXPECT_EQ(report.fault, "") << wait;
      EXPECT_LT(report.re_runs, 20) << wait << loop;
      executor_.restart();
    }
}

TEST_F(StatesCallsTest, APendingRuleOfUsersDecidesWhatIsAppliedAgain) {
  put("reconcile/pending/mine.star", "def is_pending(ret):\n    return ret['result'] != True\n");
  request_.reconciler = "basic";
  request_.pending = "mine";
  EXPECT_EQ(apply("a: {test.succeed_with_changes: []}\n").re_runs, 0);
  executor_.restart();
  EXPECT_EQ(apply("a: {test.fail_without_changes: []}\n").re_runs, 3);
}

TEST_F(StatesCallsTest, AReconcilerThatFailsLeavesTheResults) {
  for (const char* body :
       {"fail('no loop')", "hub.sleep('long')", "return 5", "return {'re_runs_count': 'many'}"}) {
    put("reconcile/odd.star",
        cat("def loop(hub, pending_plugin, name, apply_kwargs):\n    ", body, "\n"));
    request_.reconciler = "odd";
    const StatesReport report = apply("a: {test.nop: []}\n");
    EXPECT_EQ(word(report, "a"), "True") << body;
    EXPECT_NE(report.fault.find("reconciler `odd`"), std::string::npos) << report.fault;
    EXPECT_EQ(report.exit_code(), 1) << body;
    executor_.restart();
  }
}

TEST_F(StatesCallsTest, WhatCannotBeWatchedIsLeftOut) {
  put_state(R"(
def run(ctx, name):
    not_ready("not up", watch = [None, 1.5, {}, -1])
)");
  request_.deadline = 5s;
  EXPECT_EQ(word(apply("a: {s.run: []}\n"), "a"), "False");
}

TEST_F(StatesCallsTest, WhatStaysAsItIsIsCheckedInAnInversion) {
  put("good", "");
  const std::string text = cat("c: {cmd.run: [{cmd: 'echo x'}, {check_cmd: test -e ", at("nosuch"),
                               "}]}\n", "f: {file.managed: [{name: ", at("f"),
                               "}, {contents: x}, {check_cmd: test -e ", at("f"), "}]}\n");
  request_.reconciler = "none";
  request_.compile.is_inverted = true;
  const StatesReport report = apply(text);
  EXPECT_EQ(word(report, "c"), "False");
  EXPECT_NE(comment(report, "c").find("check_cmd failed"), std::string::npos);
  EXPECT_EQ(word(report, "f"), "True") << comment(report, "f");
}

TEST_F(StatesCallsTest, WhatMakesNothingHasNothingToUndo) {
  put("f", "x");
  const std::string text = cat("f: {file.absent: [{name: ", at("f"), "}]}\n",
                               "t: {test.nop: [{require: [{file: f}]}]}\n");
  for (const bool is_inverted : {true, false, true}) {
    request_.compile.is_inverted = is_inverted;
    const StatesReport report = apply(text);
    EXPECT_EQ(report.exit_code(), 0);
    EXPECT_EQ(word(report, "f"), "True") << comment(report, "f");
    EXPECT_EQ(word(report, "t"), "True");
    if (is_inverted) {
      EXPECT_EQ(comment(report, "f"), R"("nothing to undo: `file` has no function `present`")");
      EXPECT_EQ(changes(report, "f"), "{}");
    }
    executor_.restart();
  }
  EXPECT_FALSE(file_exists(at("f")));
}

TEST_F(StatesCallsTest, AProfileThatExistsNowhereFailsItsStateOnly) {
  put_state(R"(
def present(ctx, name):
    return {"result": True, "comment": "acct of %d" % len(ctx.acct), "new_state": {"x": 1}, "changes": {}}

def absent(ctx, name):
    return {"result": True, "comment": "", "changes": {}}
)");
  request_.reconciler = "none";
  const std::string known = "a: {s.present: [{acct_profile: default}]}\n";
  EXPECT_EQ(comment(apply(known), "a"), R"("acct of 0")");
  EXPECT_EQ(comment(apply("a: {s.present: [{acct_profile: nosuch}]}\n"), "a"), R"("acct of 0")");
  const Result<Value> given =
      read_json(R"({"s": {"default": {"k": "v"}}, "cloud": {"other": {"k": "v"}}})");
  request_.functions.credentials = *states::Credentials::of(*given);
  const StatesReport report = apply(cat(known, R"(
b: {s.present: [{acct_profile: nosuch}, {require: [{acct: made}]}]}
c: {s.present: [{acct_profile: other}]}
d: {s.present: [{acct_profile: made}]}
made: {acct.profile: [{provider_name: s}, {key: v}]}
)"));
  EXPECT_EQ(comment(report, "a"), R"("acct of 1")");
  EXPECT_EQ(word(report, "b"), "False");
  EXPECT_EQ(comment(report, "b"),
            R"("the credentials have no profile `nosuch`, only `default`, `made`, `other`")");
  EXPECT_EQ(comment(report, "c"), R"("acct of 0")");
  EXPECT_EQ(comment(report, "d"), R"("acct of 1")");
}

TEST_F(StatesCallsTest, WhatIsPrunedNeedsItsModule) {
  put_state(R"(
def present(ctx, name):
    return {"result": True, "comment": "", "new_state": {"x": 1}, "changes": {"x": 1}}

def absent(ctx, name):
    return {"result": True, "comment": "", "changes": {}}
)");
  static_cast<void>(apply("a: s.present\nz: test.nop\n"));
  ASSERT_TRUE(std::filesystem::remove(at("states/s.star")));
  request_.prune = true;
  const StatesReport report = apply("z: test.nop\n");
  EXPECT_EQ(comment(report, "a"),
            R"("no module `s` was loaded that could remove it: `--plugin-dir` names its folder")");
  EXPECT_EQ(report.exit_code(), 1);
}

TEST_F(StatesCallsTest, ALinkIsUndone) {
  const std::string text = cat("l: {file.symlink: [{name: ", at("l"), "}, {target: /tmp}]}\n");
  EXPECT_EQ(word(apply(text), "l"), "True");
  executor_.restart();
  request_.compile.is_inverted = true;
  EXPECT_EQ(word(apply(text), "l"), "True");
  EXPECT_FALSE(std::filesystem::is_symlink(at("l")));
}

}  // namespace
}  // namespace fettle
