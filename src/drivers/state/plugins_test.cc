/// Modules of users in Starlark and as programs, run for real, and how they find one another.

#include "drivers/state/plugins.h"

#include <gtest/gtest.h>

#include "base/http.h"
#include "base/text.h"
#include "value/json.h"

namespace fettle {
namespace {

using Verdict = PluginAnswer::Verdict;

class PluginsTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text, unsigned mode = 0644) {
    const Path path = folder_->path() / name;
    ASSERT_TRUE(make_directories(path.parent_path()));
    ASSERT_TRUE(write_file(path, text, mode));
  }
  Plugins& open() {
    plugins_.emplace(PluginOptions{.folders = {folder_->path() / "a", folder_->path() / "b"},
                                   .home = folder_->path() / "home"},
                     http_);
    const Status status = plugins_->open({});
    EXPECT_TRUE(status) << to_string(status.error());
    return *plugins_;
  }
  static std::string shown(const Result<PluginAnswer>& answer) {
    if (!answer)
      return to_string(answer.error());
    static constexpr const char* names[] = {"", "not ready: ", "throttled: ", "skipped: "};
    return cat(names[static_cast<int>(answer->verdict)], answer->why,
               answer->verdict == Verdict::answered ? write_json(answer->result) : "");
  }
  std::string call(const std::string& path, const Value& arguments = Value::dict({}),
                   const Value& context = Value::dict({})) {
    return shown(plugins_->call({.path = path,
                                 .arguments = arguments,
                                 .context = context,
                                 .time_limit = 60s,
                                 .on_log = [this](std::string_view text) { logged_ += text; },
                                 .on_ask = on_ask_},
                                {}));
  }

  Result<TemporaryDirectory> folder_ = TemporaryDirectory::make();
  HttpClient http_;
  std::optional<Plugins> plugins_;
  std::function<Result<Value>(const Value&)> on_ask_;
  std::string logged_;
};

constexpr const char* box = R"star(
__reconcile_wait__ = {"static": {"wait_in_seconds": 1}}
TREQ = {"present": {"require": ["test.nop"]}}

def _unused(name):
    return name + "~"

def present(ctx, name, content = "x", *, mode = 0o644):
    """A file."""
    was = files.read(name)
    if was == content:
        return {"result": True, "comment": "", "changes": {}}
    if not ctx.test:
        files.write(name, content, mode = mode)
    return {"result": None if ctx.test else True, "old_state": was, "new_state": content,
            "comment": "written", "changes": {"new": content}, "rerun_data": ctx.rerun_data}

def wait(ctx, name, for_what):
    print("looking")
    if for_what == "patience":
        throttled("slow down")
    if for_what == "readiness":
        not_ready("no answer on " + name)
    if for_what == "nothing":
        skip("not today")
    fail("wait for what?")

def is_pending(ret, state = None):
    return ret["result"] == False

def ask(ctx, name):
    return call("exec.box.read", name, mode = 3)
)star";

TEST_F(PluginsTest, StarlarkIsDescribed) {
  write("a/states/box.star", box);
  write("a/states/notes.sls", "a: test.nop");
  write("a/states/bad.star", "def f(:");
  Plugins& plugins = open();
  ASSERT_EQ(plugins.modules().size(), 1u);
  const Value& module = plugins.modules()[0];
  EXPECT_EQ(module.text_at("path"), "states.box");
  EXPECT_EQ(write_json(module.at("wait")), R"({"static":{"wait_in_seconds":1}})");
  EXPECT_EQ(write_json(module.at("implied")), R"({"present":{"require":["test.nop"]}})");
  EXPECT_EQ(
      write_json(module.at("functions").items()[0]),
      R"({"async":false,"name":"present","parameters":[{"kind":"any","name":"name"},)"
      R"({"default":"x","kind":"any","name":"content"},{"default":420,"kind":"named","name":"mode"}],)"
      R"("text":"A file."})");
  EXPECT_TRUE(plugins.has("states.box.is_pending"));
  EXPECT_FALSE(plugins.has("states.box._unused"));
  ASSERT_EQ(plugins.problems().size(), 1u);
  EXPECT_NE(to_string(plugins.problems()[0]).find("bad.star:1:"), std::string::npos);
}

TEST_F(PluginsTest, AStateInStarlarkHasTestModeAndChanges) {
  write("a/states/box.star", box);
  open();
  const std::string file = (folder_->path() / "file").string();
  const Value arguments = Value::dict({{"name", file}, {"content", "y"}});
  EXPECT_EQ(
      call("states.box.present", arguments, Value::dict({{"test", true}})),
      R"({"changes":{"new":"y"},"comment":"written","new_state":"y","old_state":null,"rerun_data":null,"result":null})");
  EXPECT_FALSE(file_exists(file));
  EXPECT_EQ(
      call("states.box.present", arguments, Value::dict({{"rerun_data", 5}})),
      R"({"changes":{"new":"y"},"comment":"written","new_state":"y","old_state":null,"rerun_data":5,"result":true})");
  EXPECT_EQ(read_file(file).value(), "y");
  EXPECT_EQ(call("states.box.present", arguments), R"({"changes":{},"comment":"","result":true})");
}

TEST_F(PluginsTest, AStateCanAskForPatience) {
  write("a/states/box.star", box);
  open();
  const auto wait = [&](const char* what) {
    return call("states.box.wait", Value::dict({{"name", "n"}, {"for_what", what}}));
  };
  EXPECT_EQ(wait("patience"), "throttled: slow down");
  EXPECT_EQ(wait("readiness"), "not ready: no answer on n");
  EXPECT_EQ(wait("nothing"), "skipped: not today");
  const std::string failed = wait("godot");
  EXPECT_TRUE(failed.starts_with("`states.box.wait`: ")) << failed;
  EXPECT_NE(failed.find("box.star:26:9: fail: wait for what?; its last lines:\nlooking"),
            std::string::npos)
      << failed;
  EXPECT_EQ(logged_, "lookinglookinglookinglooking");
}

TEST_F(PluginsTest, ArgumentsThatAreNotKnownAreLeftOutOnlyWhenAsked) {
  write("a/states/box.star", box);
  Plugins& plugins = open();
  PluginCall asked{.path = "states.box.is_pending",
                   .arguments = Value::dict({{"ret", Value::dict({{"result", false}})},
                                             {"pending_kwargs", Value::dict({})}})};
  EXPECT_NE(shown(plugins.call(asked, {})).find("unexpected keyword argument"), std::string::npos);
  asked.only_known = true;
  EXPECT_EQ(shown(plugins.call(asked, {})), "true");
}

TEST_F(PluginsTest, SecretsAreToldToTheCodeAndToNobodyElse) {
  write("a/states/box.star", R"star(
def same(ctx, a, b):
    return a == b

def leak(ctx, name):
    print("with " + ctx.acct["key"])
    if name == "fails":
        fail("no login as " + ctx.acct["key"])
    return {"comment": ["used " + ctx.acct["key"]], "new_state": {"key": ctx.acct["key"], "size": 1,
            "asked": call("exec.test.ping", ctx.acct["key"])}}
)star");
  open();
  const Value context = Value::dict({{"acct", Value::dict({{"key", Value::secret("s3cret")}})}});
  std::string asked;
  on_ask_ = [&](const Value& what) -> Result<Value> {
    asked = write_json(what.at("positional"));
    return Value(true);
  };
  EXPECT_EQ(
      call("states.box.leak", Value::dict({{"name", "a"}}), context),
      R"({"comment":["used ********"],"new_state":{"asked":true,"key":"********","size":1}})");
  EXPECT_EQ(asked, R"(["********"])");
  const std::string failed = call("states.box.leak", Value::dict({{"name", "fails"}}), context);
  EXPECT_NE(failed.find("no login as ********"), std::string::npos) << failed;
  EXPECT_EQ(failed.find("s3cret"), std::string::npos) << failed;
  EXPECT_EQ(logged_, "with ********with ********");
  EXPECT_EQ(call("states.box.same", Value::dict({{"a", Value::secret("s")}, {"b", "s"}})), "true");
}

TEST_F(PluginsTest, ModulesAskOneAnotherAndTheHost) {
  write("a/states/box.star", box);
  write(
      "b/exec/box.star",
      "def read(ctx, name, mode):\n    return [name, mode, ctx.acct, call(\"exec.test.ping\")]\n");
  open();
  on_ask_ = [](const Value& asked) -> Result<Value> { return asked.at("call"); };
  EXPECT_EQ(call("states.box.ask", Value::dict({{"name", "n"}}),
                 Value::dict({{"acct", Value::dict({{"key", 1}})}})),
            R"(["n",3,{"key":1},"exec.test.ping"])");
  on_ask_ = nullptr;
  EXPECT_NE(call("states.box.ask", Value::dict({{"name", "n"}}))
                .find("there is no function `exec.test.ping`"),
            std::string::npos);
}

TEST_F(PluginsTest, AReconcilerInStarlarkRunsTheLoop) {
  write("a/reconcile/patient.star", R"star(
def loop(hub, pending_plugin, name, apply_kwargs):
    reruns = 0
    while True:
        pending = [tag for tag, ret in hub.results().items() if hub.is_pending(ret)]
        if not pending or reruns == 5:
            return {"re_runs_count": reruns, "require_re_run": bool(pending)}
        hub.sleep(2)
        hub.apply(pending)
        reruns += 1
)star");
  Plugins& plugins = open();
  int64_t left = 3;
  std::string said;
  const auto running = [&] {
    return Value::dict({{"t1", Value::dict({{"left", left}})}, {"t2", Value::dict({{"left", 0}})}});
  };
  const Result<PluginAnswer> answer = plugins.call(
      {.path = "reconcile.patient.loop",
       .arguments = Value::dict(
           {{"pending_plugin", "strict"}, {"name", "run"}, {"apply_kwargs", Value::dict({})}}),
       .run = Value::dict({{"name", "run"}, {"running", running()}}),
       .on_ask = [&](const Value& asked) -> Result<Value> {
         if (const Value* ret = asked.find("is_pending"))
           return Value(ret->integer_at("left") > 0);
         said += write_json(asked) + "\n";
         left -= asked.find("apply") != nullptr ? 1 : 0;
         return Value::dict({{"running", running()}});
       }},
      {});
  EXPECT_EQ(shown(answer), R"({"re_runs_count":3,"require_re_run":false})");
  EXPECT_TRUE(
      said.starts_with("{\"sleep\":2.0}\n{\"apply\":{\"name\":\"run\",\"tags\":[\"t1\"]}}\n"))
      << said;
}

TEST_F(PluginsTest, CodeThatRunsAwayIsEnded) {
  write("a/states/box.star",
        "def spin(ctx):\n    while True:\n        pass\n\n"
        "def hang(ctx):\n    command.run([\"sleep\", \"100000\"])\n");
  Plugins& plugins = open();
  for (const char* path : {"states.box.spin", "states.box.hang"}) {
    const auto late = plugins.call({.path = path, .time_limit = 100ms}, {});
    EXPECT_FALSE(late) << path;
    std::stop_source stop;
    stop.request_stop();
    const auto stopped = plugins.call({.path = path}, stop.get_token());
    ASSERT_FALSE(stopped);
    EXPECT_TRUE(is_cancelled(stopped.error())) << to_string(stopped.error());
  }
}

TEST_F(PluginsTest, AProgramThatStaysMayAskAndSayNonsense) {
  write("a/states/tool.plugin", R"py(#!/usr/bin/env python3
import json, sys

for line in sys.stdin:
    request = json.loads(line)
    if request.get("describe"):
        names = ["ask", "odd"]
        print(json.dumps({"serves": "many", "modules": [5, {}, {"path": "states.tool", "functions":
            [5, {}] + [{"name": name} for name in names]}], "problems": [5]}), flush=True)
        continue
    if request["call"] == "states.tool.odd":
        print(json.dumps({"ask": 1}), flush=True)
    else:
        print(json.dumps({"ask": 1, "call": "exec.box.echo", "arguments": 5}), flush=True)
    print(json.dumps({"result": json.loads(sys.stdin.readline())}), flush=True)
)py",
        0755);
  write("a/exec/box.star", "def echo(ctx):\n    return ctx.test\n");
  open();
  EXPECT_EQ(call("states.tool.ask"), R"({"answer":1,"result":false})");
  on_ask_ = nullptr;
  EXPECT_EQ(call("states.tool.odd"), R"({"answer":1,"error":"there is no function ``"})");
}

TEST_F(PluginsTest, AProgramServesWhatItDescribes) {
  write("a/states/tool.plugin",
        "#!/bin/sh\nread line\ncase \"$line\" in\n"
        "*describe*) echo '{\"modules\": [{\"path\": \"states.tool\", \"functions\": "
        "[{\"name\": \"present\", \"parameters\": [{\"name\": \"size\", \"default\": 1}]}]}]}' ;;\n"
        "*wait*) echo '{\"log\": \"looking\"}'; echo '{\"not_ready\": \"later\"}' ;;\n"
        "*broken*) echo '{}' ;;\n"
        "*fails*) echo '{\"error\": \"told so\"}' ;;\n"
        "*) printf '{\"result\": %s}\\n' \"$line\" ;;\nesac\n",
        0755);
  write("a/states/dead.plugin", "#!/bin/sh\necho oh >&2; exit 3\n", 0755);
  write("a/states/plain.sh", "#!/bin/sh\ntouch ran\n", 0755);
  Plugins& plugins = open();
  ASSERT_EQ(plugins.problems().size(), 1u);
  EXPECT_NE(to_string(plugins.problems()[0])
                .find("dead.plugin: it exited with code 3; its last lines:\noh"),
            std::string::npos);
  EXPECT_EQ(
      call("states.tool.present", Value::dict({{"name", "a"}}), Value::dict({{"test", true}})),
      R"({"arguments":{"name":"a"},"call":"states.tool.present","context":{"test":true}})");
  EXPECT_EQ(call("states.tool.present", Value::dict({{"name", "wait"}})), "not ready: later");
  EXPECT_EQ(logged_, "looking");
  EXPECT_EQ(call("states.tool.present", Value::dict({{"name", "fails"}})),
            "`states.tool.present`: told so");
  EXPECT_NE(call("states.tool.present", Value::dict({{"name", "broken"}}))
                .find("returned no `result`, but {}"),
            std::string::npos);
}

/// The files that the manual shows: those of a block begin with a comment that names them.
std::map<std::string, std::string> files_of_manual() {
  std::map<std::string, std::string> files;
  const std::string page = read_file(FETTLE_SOURCE_DIR "/docs/state-modules.md").value();
  std::string* file = nullptr;
  for (const std::string_view line : split(page, '\n')) {
    if (line.starts_with("# ") && line.ends_with(".star"))
      file = &files[std::string(line.substr(2))];
    else if (line.starts_with("```"))
      file = nullptr;
    else if (file != nullptr)
      *file += cat(line, "\n");
  }
  return files;
}

TEST_F(PluginsTest, TheManualsModulesWork) {
  for (const auto& [name, text] : files_of_manual())
    write("a/" + name, text);
  open();
  const std::string file = (folder_->path() / "box").string();
  const Value arguments = Value::dict({{"name", file}, {"content", "c"}});
  EXPECT_EQ(
      call("states.box.present", arguments),
      R"({"changes":null,"comment":"written","new_state":{"content":"c"},"old_state":null,"result":true})");
  EXPECT_EQ(call("states.box.present", arguments),
            R"({"changes":{},"comment":"as it should be","result":true})");
  EXPECT_EQ(
      call("reconcile.wait.mine.get", Value::dict({{"run_count", 2}, {"wait_in_seconds", 3}})),
      "5");
  int applied = 0;
  const auto answer = plugins_->call(
      {.path = "reconcile.mine.loop",
       .arguments = Value::dict(
           {{"pending_plugin", "mine"}, {"name", "run"}, {"apply_kwargs", Value::dict({})}}),
       .run = Value::dict({{"running", Value::dict({{"t", Value::dict({{"result", false}})}})}}),
       .on_ask = [&](const Value& asked) -> Result<Value> {
         if (const Value* ret = asked.find("is_pending"))
           return TRY(plugins_->call({.path = "reconcile.pending.mine.is_pending",
                                      .arguments = Value::dict({{"ret", *ret}})},
                                     {}))
               .result;
         applied += asked.find("apply") != nullptr ? 1 : 0;
         return Value::dict(
             {{"running", Value::dict({{"t", Value::dict({{"result", applied == 2}})}})}});
       }},
      {});
  EXPECT_EQ(shown(answer), R"({"re_runs_count":2,"require_re_run":false})");
}

TEST_F(PluginsTest, TheFirstFolderCounts) {
  write("a/exec/one.star", "def f():\n    return \"a\"\n");
  write("b/exec/one.star", "def f():\n    return \"b\"\n");
  write("b/exec/two.star", "def f():\n    return \"b\"\n");
  open();
  EXPECT_EQ(call("exec.one.f"), "\"a\"");
  EXPECT_EQ(call("exec.two.f"), "\"b\"");
  EXPECT_EQ(call("exec.three.f"), "there is no function `exec.three.f`");
}

TEST_F(PluginsTest, LinksThatLeadNowhereOrInCirclesDisturbNobody) {
  write("a/exec/z.star", "def f():\n    return 1\n");
  std::filesystem::create_symlink("nowhere", folder_->path() / "a/exec/a.star");
  std::filesystem::create_symlink("..", folder_->path() / "a/exec/round");
  open();
  EXPECT_EQ(call("exec.z.f"), "1");
  EXPECT_TRUE(plugins_->problems().empty());
}

TEST_F(PluginsTest, FoldersWithoutPluginsStartNothing) {
  write("a/web.sls", "a: test.nop");
  EXPECT_TRUE(open().modules().empty());
  EXPECT_FALSE(file_exists(folder_->path() / "home"));
}

}  // namespace
}  // namespace fettle
