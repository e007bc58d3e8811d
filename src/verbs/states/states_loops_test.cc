/// When a loop goes on, and what ends it.

#include <algorithm>

#include "tests/fixtures/states_fixture.h"
#include "verbs/environments/explain.h"

namespace fettle {
namespace {

class StatesLoopsTest : public StatesTest {
 protected:
  void use(const std::string& loop) {
    request_.reconciler = environment_ = loop;
    request_.pending = loop == "basic" ? "idem25" : "default";
    executor_.restart();
  }

  std::ptrdiff_t calls(std::string_view id) const {
    return std::ranges::count_if(executor_.log, [&](const std::string& line) {
      return line.find(cat("_|-", id, "_|-")) != line.npos;
    });
  }
};

TEST_F(StatesLoopsTest, RerunDataGoesOnAlthoughTheResultIsTrue) {
  put_state(R"(
def grows(ctx, name):
    n = (ctx.rerun_data or 0) + 1
    return {"result": True, "comment": "call %d" % n, "changes": {}, "rerun_data": n if n < 3 else None}

def stays(ctx, name):
    return {"result": True, "comment": "same", "changes": {}, "rerun_data": "always"}
)");
  for (const char* loop : {"fettle", "basic"}) {
    use(loop);
    const StatesReport report = apply("a: {s.grows: []}\nb: {s.stays: []}\n");
    EXPECT_EQ(report.find("s_|-a_|-a_|-grows")->re_runs, 2) << loop;
    EXPECT_EQ(report.find("s_|-b_|-b_|-stays")->re_runs, 3) << loop << ": the same three times";
    EXPECT_EQ(word(report, "b"), "True") << loop;
  }
}

TEST_F(StatesLoopsTest, ARecreationThatSucceededIsDone) {
  put_state(R"(
def present(ctx, name, size = 1):
    return {"result": True, "comment": "", "changes": {}, "new_state": {"size": size}, "rerun_data": "more"}

def absent(ctx, name):
    return {"result": True, "comment": "", "changes": {}, "new_state": {}}
)");
  constexpr std::string_view text =
      "a: {s.present: [{size: %}, {recreate_on_update: {create_before_destroy: false}}]}\n";
  for (const char* loop : {"fettle", "basic"}) {
    use(loop);
    EXPECT_EQ(apply(replace_all(text, "%", "1")).find("s_|-a_|-a_|-present")->re_runs, 3) << loop;
    executor_.restart();
    EXPECT_EQ(apply(replace_all(text, "%", "2")).find("s_|-a_|-a_|-present")->re_runs, 0) << loop;
  }
}

TEST_F(StatesLoopsTest, AModulesOwnRuleComesBeforeTheCountWhileTheResultIsTrue) {
  put_state(R"(
def well(ctx, name):
    return {"result": True, "comment": "", "changes": {}}

def badly(ctx, name):
    return {"result": False, "comment": "", "changes": {}}

def is_pending(ret):
    return True

__reconcile_wait__ = {"static": {"wait_in_seconds": 1}}
)");
  for (const char* loop : {"fettle", "basic"}) {
    use(loop);
    const StatesReport report = apply("a: {s.well: []}\nb: {s.badly: []}\n");
    EXPECT_EQ(report.find("s_|-a_|-a_|-well")->re_runs, 600) << loop;
    EXPECT_EQ(report.find("s_|-b_|-b_|-badly")->re_runs, 3) << loop;
  }
}

TEST_F(StatesLoopsTest, WhatAModulesOwnRuleAnswersIsTrueOrFalseAsInPython) {
  put_state(R"(
def present(ctx, name):
    return {"result": True, "comment": "", "changes": {}}

def is_pending(ret):
    return {}
)");
  for (const char* loop : {"fettle", "basic"}) {
    use(loop);
    EXPECT_EQ(apply("a: {s.present: []}\n").find("s_|-a_|-a_|-present")->re_runs, 0) << loop;
  }
}

TEST_F(StatesLoopsTest, WhatStaysTheSameDoesNotEndWhatMoves) {
  put_state(R"(
def moves(ctx, name):
    n = (ctx.rerun_data or 0) + 1
    return {"result": n > 8, "comment": "", "changes": {"n": n}, "rerun_data": n if n < 9 else None}
)");
  use("basic");
  const StatesReport report = apply("a: {test.fail_without_changes: []}\nb: {s.moves: []}\n");
  EXPECT_EQ(report.find("test_|-a_|-a_|-fail_without_changes")->re_runs, 3);
  EXPECT_EQ(report.find("s_|-b_|-b_|-moves")->re_runs, 8);
}

TEST_F(StatesLoopsTest, ARuleForALoopThatHasNoneIsRefused) {
  put("reconcile/pending/mine.star", "def is_pending(ret):\n    return False\n");
  for (const char* loop : {"fettle", "none"})
    for (const char* rule : {"idem25", "mine"}) {
      request_.reconciler = loop;
      request_.pending = rule;
      EXPECT_EQ(refusal("a: {test.nop: []}\n"),
                cat("`-P ", rule, "` means nothing to the loop `", loop,
                    "`: give `-R basic`, or a loop of your own"));
    }
}

TEST_F(StatesLoopsTest, ThePluginsOfALoopEndWhenTimeIsUp) {
  put("states/s.py", R"(
import asyncio

def present(hub, ctx, name):
    return {"name": name, "result": False, "comment": "", "changes": {}}

async def is_pending(hub, ret):
    await asyncio.sleep(1000)
)");
  put("states/w.py", R"(
def present(hub, ctx, name):
    return {"name": name, "result": False, "comment": "", "changes": {}}

__reconcile_wait__ = {"slow": {}}
)");
  put("reconcile/wait/slow.py",
      "import asyncio\n\nasync def get(hub, **kwargs):\n    await asyncio.sleep(1000)\n");
  put("reconcile/pending/slow.py",
      "import asyncio\n\nasync def is_pending(hub, ret):\n    await asyncio.sleep(1000)\n");
  put("reconcile/mine.py",
      "import time\n\ndef loop(hub, pending_plugin, name, apply_kwargs):\n    time.sleep(1000)\n");
  place_.executor = nullptr;
  request_.deadline = 500ms;
  const auto ends = [&](const char* loop, const char* rule, std::string_view text) {
    request_.reconciler = environment_ = loop;
    request_.pending = rule;
    return apply(text).requires_re_run;
  };
  EXPECT_TRUE(ends("basic", "default", "a: {s.present: []}\n")) << "the rule of a module";
  EXPECT_TRUE(ends("basic", "slow", "a: {test.fail_without_changes: []}\n")) << "a rule";
  EXPECT_TRUE(ends("basic", "default", "a: {w.present: []}\n")) << "a wait";
  EXPECT_TRUE(ends("mine", "default", "a: {test.nop: []}\n")) << "a loop";
  request_.reconciler = environment_ = "fettle";
  EXPECT_NE(comment(apply("a: {s.present: []}\n"), "a").find("in the middle of a call"),
            std::string::npos);
}

TEST_F(StatesLoopsTest, TheResultsOfALoopInPythonAreThoseThatItLeaves) {
  put("reconcile/mine.py", R"(
from datetime import datetime

async def loop(hub, pending_plugin, name, apply_kwargs):
    running = hub.idem.RUNS[name]["running"]
    for tag, ret in running.items():
        ret["comment"] = ["left by the loop"]
        ret["result"] = True
        age = datetime.now() - datetime.fromisoformat(ret["start_time"])
        parameters = getattr(hub, ret["ref"]).signature.parameters
        ret["changes"] = hub.tool.idem.arg_utils.calculate_changes({"a": 1}, {"a": 2}, parameters, ret["ref"])
    return {"re_runs_count": 0}
)");
  use("mine");
  const StatesReport report = apply("a: {test.fail_without_changes: []}\n");
  EXPECT_EQ(report.fault, "");
  EXPECT_EQ(word(report, "a"), "True");
  EXPECT_EQ(comment(report, "a"), R"(["left by the loop"])");
  EXPECT_EQ(changes(report, "a"), R"({"new":{"a":2},"old":{"a":1}})");
}

TEST_F(StatesLoopsTest, ALoopInPythonFindsWhatRanAgainAndNothingElse) {
  put("reconcile/mine.py", R"(
async def loop(hub, pending_plugin, name, apply_kwargs):
    first = hub.idem.RUNS[name]["running"]
    told = [sorted(first)]
    for tags in (["test_|-b_|-b_|-fail_without_changes"], sorted(first)):
        await hub.idem.run.init.start(name, tags)
        told.append(sorted(hub.idem.RUNS[name]["running"]))
    hub.idem.RUNS[name]["running"] = {told[1][0]: {"comment": [[one.split("_|-")[1] for one in tags] for tags in told]}}
    return {"re_runs_count": 2, "kept": len(first)}
)");
  use("mine");
  const StatesReport report =
      apply("a: {test.nop: []}\nb: {test.fail_without_changes: []}\nc: {test.nop: []}\n");
  EXPECT_EQ(report.fault, "");
  EXPECT_EQ(comment(report, "b"), R"([["a","b","c"],["b"],["a","b","c"]])");
  EXPECT_EQ(word(report, "a"), "True") << "what the loop does not leave stays as it was";
}

TEST_F(StatesLoopsTest, FilesThatAreNamedLikeWhatIsBuiltInComeFirst) {
  put("reconcile/basic.star",
      "def loop(hub, pending_plugin, name, apply_kwargs):\n    return {\"re_runs_count\": 7}\n");
  use("basic");
  EXPECT_EQ(apply("a: {test.fail_without_changes: []}\n").re_runs, 7);
}

TEST_F(StatesLoopsTest, AStateThatTakesTimeIsNotCalledByCode) {
  put("exec/e.py", R"(
async def naps(hub):
    return await hub.states.time.sleep({}, "a", duration=1)

def nothing(hub):
    return hub.states.test.nop({}, "a")["comment"]
)");
  use("none");
  const StatesReport report =
      apply("a: {exec.run: [{path: e.naps}]}\nb: {exec.run: [{path: e.nothing}]}\n");
  EXPECT_NE(
      comment(report, "a").find("`states.time.sleep` takes time, so it cannot be called by code"),
      std::string::npos)
      << comment(report, "a");
  EXPECT_NE(write_json(entry(report, "b")).find("Success!"), std::string::npos)
      << write_json(entry(report, "b"));
}

TEST_F(StatesLoopsTest, OnlyWhatSaysThatItCanLookIsLookedAt) {
  const auto module = [](std::string_view says) {
    return cat(says, R"(
def present(hub, ctx, name, log):
    open(log, "a").write("looks " if ctx.test else "acts ")
    return {"name": name, "result": True, "comment": "", "changes": {"always": 1}}
)");
  };
  put("states/s.py", module(""));
  put("states/can.py", module("CAN_LOOK = True\n"));
  use("fettle");
  static_cast<void>(apply(cat("a: {s.present: [{log: ", at("s.log"),
                              "}]}\nb: {can.present: [{log: ", at("can.log"), "}]}\n")));
  EXPECT_EQ(*read_file(at("s.log")), "acts ");
  EXPECT_EQ(*read_file(at("can.log")), "acts looks ");
  const Result<std::vector<Drift>> found = drift(place_, "fettle");
  ASSERT_TRUE(found) << to_string(found.error());
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ(found->at(1).why, "unknown: `s` does not say that it can look (`CAN_LOOK`)");
  EXPECT_EQ(*read_file(at("s.log")), "acts ");
  EXPECT_EQ(*read_file(at("can.log")), "acts looks looks ");
}

TEST_F(StatesLoopsTest, AStateOfAutoStateIsLookedAtByItsGet) {
  put("exec/box.py", R"(
__contracts__ = ["auto_state"]
BOXES = {}

def note(word, log):
    open(log, "a").write(word + " ")

def get(hub, ctx, name, resource_id=None):
    note("get", ")" + at("box.log") +
                         R"(")
    return {"result": True, "ret": BOXES.get(name), "comment": []}

def create(hub, ctx, name, size: int = 1, resource_id=None):
    note("create", ")" + at("box.log") +
                         R"(")
    BOXES[name] = {"name": name, "size": size, "resource_id": name}
    return {"result": True, "ret": {"resource_id": name}, "comment": []}

def update(hub, ctx, name, resource_id, size=None):
    note("update", ")" + at("box.log") +
                         R"(")
    return {"result": True, "ret": None, "comment": []}

def delete(hub, ctx, name, resource_id):
    note("delete", ")" + at("box.log") +
                         R"(")
    return {"result": True, "ret": None, "comment": []}
)");
  use("fettle");
  EXPECT_EQ(word(apply("a: {box.present: [{size: 2}]}\n"), "a"), "True");
  // What `create` answers has no size, so an update follows, as in Idem.
  EXPECT_EQ(*read_file(at("box.log")), "create update get get get ") << "the last two confirm it";
  ASSERT_TRUE(write_file(at("box.log"), ""));
  const Result<std::vector<Drift>> found = drift(place_, "fettle");
  ASSERT_TRUE(found) << to_string(found.error());
  EXPECT_EQ(*read_file(at("box.log")), "get ");
}

TEST_F(StatesLoopsTest, TheContractResourceAloneIsNoReasonToLook) {
  put("states/s.py", R"(
__contracts__ = ["resource"]

def present(hub, ctx, name, log):
    open(log, "a").write("looks " if ctx.test else "acts ")
    return {"name": name, "result": True, "comment": "", "old_state": None, "new_state": {"a": 1}}

def absent(hub, ctx, name):
    return {"name": name, "result": True, "comment": "", "old_state": None, "new_state": None}

async def describe(hub, ctx):
    return {}
)");
  use("fettle");
  const StatesReport report = apply(cat("a: {s.present: [{log: ", at("s.log"), "}]}\n"));
  EXPECT_EQ(word(report, "a"), "True") << comment(report, "a");
  EXPECT_EQ(*read_file(at("s.log")), "acts ");
  const Result<std::vector<Drift>> found = drift(place_, "fettle");
  ASSERT_TRUE(found) << to_string(found.error());
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(found->at(0).why, "unknown: `s` does not say that it can look (`CAN_LOOK`)");
  EXPECT_EQ(*read_file(at("s.log")), "acts ");
}

TEST_F(StatesLoopsTest, WhatDiedIsCalledAgainOnlyIfItsModuleAllowsIt) {
  const auto module = [](std::string_view says) {
    return cat("import os\n", says, R"(
def present(hub, ctx, name, log):
    open(log, "a").write("acts ")
    if open(log).read() == "acts ":
        os._exit(3)
    return {"name": name, "result": True, "comment": "", "changes": {}}
)");
  };
  put("states/s.py", module(""));
  put("states/can.py", module("CAN_REPEAT = True\n"));
  for (const char* loop : {"fettle", "basic"}) {
    use(loop);
    const std::string once = at(cat(loop, ".once")), often = at(cat(loop, ".often"));
    const StatesReport report =
        apply(cat("a: {s.present: [{log: ", once, "}]}\nb: {can.present: [{log: ", often,
                  "}, {onfail: [{s: a}]}]}\n"));
    EXPECT_NE(
        comment(report, "a")
            .find(
                "it exited with code 3 and no answer; it may have acted, and is not called again: "
                "`s` does not say `CAN_REPEAT`"),
        std::string::npos)
        << comment(report, "a");
    EXPECT_EQ(*read_file(once), "acts ") << loop;
    EXPECT_GT(read_file(often)->size(), std::string_view("acts ").size()) << loop;
  }
}

TEST_F(StatesLoopsTest, AListenerWhoseOwnNeedFailedDoesNothing) {
  put_state(R"(
def present(ctx, name):
    return {"result": True, "comment": "", "changes": {"a": 1}}

def mod_watch(ctx, name):
    return {"result": True, "comment": "heard", "changes": {}}
)");
  for (const char* loop : {"fettle", "basic"}) {
    use(loop);
    const StatesReport report = apply(
        "x: {s.present: []}\nbad: {test.fail_without_changes: []}\n"
        "l: {s.present: [{listen: [{s: x}]}, {require: [{test: bad}]}]}\n"
        "m: {s.present: [{listen: [{s: x}]}]}\n");
    EXPECT_EQ(word(report, "l_listen"), "False") << loop;
    EXPECT_NE(comment(report, "l_listen").find("Result of require test_|-bad_"), std::string::npos)
        << comment(report, "l_listen");
    EXPECT_EQ(comment(report, "m_listen"), R"("heard")") << loop;
  }
}

TEST_F(StatesLoopsTest, ACommandThatNeverRunsDoesNotRunWhenAllIsUndone) {
  use("fettle");
  const std::string text = cat(
      "a: {test.nop: []}\nc: {cmd.run: [{cmd: \"touch ", at("ran"),
      "\"}, {shell: true}, {onchanges: [{test: a}]}]}\n"
      "d: {cmd.run: [{cmd: \"touch ",
      at("ran"),
      "\"}, {shell: true}, {onfail: [{test: a}]}]}\np: {test.present: [{new_state: {a: 1}}]}\n");
  static_cast<void>(apply(text));
  request_.compile.is_inverted = true;
  const StatesReport report = apply(text);
  EXPECT_NE(report.find("test_|-p_|-p_|-absent"), nullptr);
  EXPECT_FALSE(file_exists(at("ran")));
}

}  // namespace
}  // namespace fettle
