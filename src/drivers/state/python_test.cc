/// Plugins in Python as users of Idem have them, run by the real interpreter.

#include <atomic>
#include <thread>

#include "tests/fixtures/python_fixture.h"

namespace fettle {
namespace {

class Python : public PythonFixture {};

TEST_F(Python, SignaturesAreTold) {
  write("a/states/cloud/vm.py", R"py(
"""Machines."""
import json
from os.path import join

__contracts__ = ["resource"]
__func_alias__ = {"list_": "list"}
__reconcile_wait__ = {"exponential": {"wait_in_seconds": 2, "multiplier": 10}}
TREQ = {"present": {"require": ["cloud.net"]}, "unique": ["absent"]}

async def present(hub, ctx, name: str, size: int = 1, *, tags=(1, 2), **kwargs):
    """Is there."""

def absent(hub, ctx, name, resource_id=None):
    pass

def list_(hub, *names):
    pass

def _private(hub):
    pass
)py");
  open();
  const Value& vm = module("states.cloud.vm");
  EXPECT_EQ(vm.text_at("text"), "Machines.");
  EXPECT_EQ(write_json(vm.at("wait")), R"({"exponential":{"multiplier":10,"wait_in_seconds":2}})");
  EXPECT_EQ(write_json(vm.at("implied")),
            R"({"present":{"require":["cloud.net"]},"unique":["absent"]})");
  std::string functions;
  for (const Value& function : vm.at("functions").items())
    functions += write_json(function) + "\n";
  EXPECT_EQ(
      functions,
      R"({"async":false,"name":"absent","parameters":[{"kind":"any","name":"name"},{"default":null,"kind":"any","name":"resource_id"}],"text":""})"
      "\n"
      R"({"async":false,"name":"list","parameters":[{"kind":"rest","name":"names"}],"text":""})"
      "\n"
      R"({"async":true,"name":"present","parameters":[{"kind":"any","name":"name"},{"default":1,"kind":"any","name":"size"},{"default":[1,2],"kind":"named","name":"tags"},{"kind":"named_rest","name":"kwargs"}],"text":"Is there."})"
      "\n");
}

TEST_F(Python, TheHubFindsOtherPluginsToolsAndTheHost) {
  write("a/states/shop.py", R"py(
async def present(hub, ctx, name):
    got = await hub.exec.shop.get(ctx, name)
    late = await hub.exec.test.aping(ctx)
    return {"result": True, "comment": hub.tool.words.loud(got["ret"]["name"]),
            "new_state": [hub.exec.test.ping(ctx), late, hub["exec.shop"].get.name,
                          hub.OPT.idem.run_name, hub.lib.math.floor(2.5), "shop" in hub.states,
                          "nothing" in hub.exec],
            "ctx": [ctx.test, ctx["acct"].key, ctx.get("old_state")]}
)py");
  write("a/exec/shop.py",
        "async def get(hub, ctx, name):\n    return {'result': True, 'ret': {'name': name}}\n");
  write("b/tool/words.py",
        "def loud(hub, text):\n    hub.log.info('loud')\n    return text.upper()\n");
  open();
  EXPECT_EQ(
      call("states.shop.present", Value::dict({{"name", "a"}}),
           Value::dict({{"test", true}, {"acct", Value::dict({{"key", Value::secret("k")}})}})),
      R"({"comment":"A","ctx":[true,"k",null],"new_state":["host: exec.test.ping","host: exec.test.aping","get","web",2,true,false],"result":true})");
  EXPECT_EQ(logged_, "loud");
}

TEST_F(Python, VirtualNamesAliasesAndInits) {
  write("a/exec/first.py",
        "__virtualname__ = 'second'\n__func_alias__ = {'get_': 'get'}\n"
        "def __virtual__(hub):\n    return True\n"
        "def __init__(hub):\n    hub.exec.second.COUNT = 3\n"
        "def get_(hub):\n    return hub.exec.second.COUNT\n");
  write("a/exec/never.py", "def __virtual__(hub):\n    return False, 'no library'\n");
  write("a/exec/deep/init.py", "def get(hub):\n    return 'of init'\n");
  write("a/exec/bad.py", "import no_such_module\n");
  Plugins& plugins = open();
  EXPECT_EQ(call("exec.second.get"), "3");
  EXPECT_EQ(call("exec.deep.get"), "\"of init\"");
  std::string problems;
  for (const Error& problem : plugins.problems())
    problems += cat(Path(problem.where.file).filename().string(), ": ", problem.message, "\n");
  EXPECT_EQ(problems,
            "bad.py: ModuleNotFoundError: No module named 'no_such_module'\n"
            "never.py: not loaded: no library\n");
}

TEST_F(Python, AnExceptionIsAnErrorWithItsTrace) {
  write("a/states/bad.py",
        "def deep(x):\n    return 1 / x\n\ndef fails(hub, ctx, name):\n    return deep(0)\n\n"
        "def leaves(hub, ctx, name):\n    raise SystemExit(3)\n\n"
        "def odd(hub, ctx, name):\n    return {'x': float('nan')}\n");
  Plugins& plugins = open();
  const auto failed =
      plugins.call({.path = "states.bad.fails", .arguments = Value::dict({{"name", "a"}})}, {});
  ASSERT_FALSE(failed);
  EXPECT_EQ(to_string(failed.error()), "`states.bad.fails`: ZeroDivisionError: division by zero");
  EXPECT_NE(failed.error().excerpt.find("bad.py\", line 2, in deep\n    return 1 / x"),
            std::string::npos)
      << failed.error().excerpt;
  EXPECT_EQ(call("states.bad.leaves", Value::dict({{"name", "a"}})),
            "`states.bad.leaves`: SystemExit: 3");
  EXPECT_NE(call("states.bad.odd", Value::dict({{"name", "a"}})).find("ValueError"),
            std::string::npos);
  EXPECT_EQ(call("states.bad.fails", Value::dict({{"nom", "a"}})),
            "`states.bad.fails`: TypeError: fails() got an unexpected keyword argument 'nom'");
  EXPECT_NE(call("states.bad.fails", Value::dict({{"name", "a"}, {"more", 1}}))
                .find("unexpected keyword argument 'more'"),
            std::string::npos);
  EXPECT_NE(call("states.bad.fails", Value::dict({{"name", "a"}, {"more", 1}}), {}, true)
                .find("division by zero"),
            std::string::npos);
}

TEST_F(Python, ContractsStandAround) {
  write("a/states/thing.py", R"py(
__contracts__ = ["resource"]

def present(hub, ctx, name):
    return {"result": True, "comment": None, "old_state": {"a": 1, "b": {"c": 1, "d": 2}},
            "new_state": {"a": 1, "b": {"c": 3, "d": 2}, "e": 5}}

async def absent(hub, ctx, name):
    return {"comment": "gone"}
)py");
  write("a/exec/soft.py",
        "__contracts__ = ['soft_fail']\nasync def get(hub, ctx):\n    raise OSError('no route')\n");
  open();
  EXPECT_EQ(
      call("states.thing.present", Value::dict({{"name", "n"}})),
      R"({"changes":{"new":{"b":{"c":3},"e":5},"old":{"b":{"c":1}}},"comment":[],"name":"n","new_state":{"a":1,"b":{"c":3,"d":2},"e":5},"old_state":{"a":1,"b":{"c":1,"d":2}},"result":true})");
  EXPECT_NE(call("states.thing.absent", Value::dict({{"name", "n"}})).find("returned no `result`"),
            std::string::npos);
  EXPECT_EQ(call("exec.soft.get"),
            R"({"comment":["OSError: no route"],"result":false,"ret":null})");
}

TEST_F(Python, ContractsOfPluginsStandAroundThem) {
  write("a/exec/contracts/tool.py", R"py(
def __virtual__(hub):
    return True

async def pre_run(hub, ctx):
    ctx.kwargs["words"] = ctx.get_argument("words").split()

def pre_refuse(hub, ctx):
    return False, "not on " + ctx.get_arguments()["what"]

def post_run(hub, ctx):
    ctx.ret["by"] = ctx.ref
    return ctx.ret

def call_instead(hub, ctx):
    return {"result": True, "ret": ["instead", ctx.func(*ctx.args, **ctx.kwargs)]}
)py");
  write("a/exec/contracts/init.py", "def post(hub, ctx):\n    ctx.ret['seen'] = True\n");
  write("a/exec/toolmod.py", R"py(
__virtualname__ = "tool"

async def run(hub, ctx, words):
    return {"result": True, "ret": words}

def refuse(hub, ctx, what):
    return {}

def instead(hub, ctx):
    return 5

async def use(hub, ctx):
    return (await hub.exec.tool.run(ctx, words="a b")).ret
)py");
  write("a/exec/deep/recursive/x.py", "__contracts__ = ['nobody']\ndef f(hub):\n    return 1\n");
  Plugins& plugins = open();
  EXPECT_EQ(call("exec.tool.run", Value::dict({{"words", "c d"}})),
            R"({"by":"exec.tool","comment":[],"result":true,"ret":["c","d"],"seen":true})");
  EXPECT_EQ(call("exec.tool.refuse", Value::dict({{"what", "mondays"}})),
            "`exec.tool.refuse`: ContractError: exec.tool.refuse is refused by a contract: not on "
            "mondays");
  EXPECT_EQ(call("exec.tool.instead"),
            R"({"comment":[],"result":true,"ret":["instead",5],"seen":true})");
  EXPECT_NE(call("exec.tool.use").find("TypeError"), std::string::npos);  // a list is no dict
  ASSERT_EQ(plugins.problems().size(), 1u);
  EXPECT_EQ(plugins.problems()[0].message, "unknown contracts: nobody");
  EXPECT_EQ(call("exec.deep.recursive.x.f"), "1");
}

TEST_F(Python, AFileThatEndsThePythonConcernsItselfOnly) {
  write("a/states/quits.py", "import sys\n\nsys.exit('no library here')\n");
  write("a/exec/starts.py",
        "def __init__(hub):\n    raise SystemExit(3)\n\ndef ping(hub):\n    return 1\n");
  write("a/exec/good.py", "def ping(hub):\n    return 2\n");
  Plugins& plugins = open();
  std::string problems;
  for (const Error& problem : plugins.problems())
    problems += cat(Path(problem.where.file).filename().string(), ": ", problem.message, "\n");
  EXPECT_EQ(problems, "quits.py: SystemExit: no library here\nstarts.py: SystemExit: 3\n");
  EXPECT_EQ(call("exec.good.ping"), "2");
}

TEST_F(Python, AliasesMayBeMadeByAFunction) {
  write("a/exec/web.py", R"py(
import dict_tools.differ as differ
from dict_tools.data import NamespaceDict
from dict_tools.update import update
from dict_tools.utils import decode_dict

def __func_alias__(hub):
    def made(method):
        async def ask(ctx, url):
            return {"result": True, "ret": [method, url]}
        return ask
    return {"get": made("GET"), "put": made("PUT")}

async def both(hub, ctx):
    got, put = await hub.exec.web.get(ctx, "u"), await hub.exec.web.put(ctx, url="v")
    return NamespaceDict(got=got.ret, put=put["ret"], diff=differ.deep_diff({"a": 1, "b": 2}, {"a": 2}, ignore=["b"]),
                         merged=update({"a": {"b": 1}}, {"a": {"c": 2}}), text=decode_dict({b"k": [b"v"]}))
)py");
  open();
  EXPECT_EQ(call("exec.web.get", Value::dict({{"url", "u"}})),
            R"({"comment":[],"result":true,"ret":["GET","u"]})");
  EXPECT_EQ(
      call("exec.web.both"),
      R"({"diff":{"new":{"a":2},"old":{"a":1}},"got":["GET","u"],"merged":{"a":{"b":1,"c":2}},"put":["PUT","v"],"text":{"k":["v"]}})");
}

TEST_F(Python, CoroutinesRunSideBySide) {
  write("a/states/meet.py", R"py(
import asyncio
EVENT = None

async def first(hub, ctx, name):
    global EVENT
    EVENT = asyncio.Event()
    await hub.exec.test.aping(ctx)
    await EVENT.wait()
    return "first"

async def second(hub, ctx, name):
    EVENT.set()
    return "second"
)py");
  open();
  std::atomic<bool> has_begun = false;
  on_ask_ = [&](const Value&) -> Result<Value> {
    has_begun = true;
    has_begun.notify_all();
    return Value();
  };
  std::string first;
  {
    const std::jthread other(
        [&] { first = call("states.meet.first", Value::dict({{"name", "a"}})); });
    has_begun.wait(false);
    EXPECT_EQ(call("states.meet.second", Value::dict({{"name", "a"}})), "\"second\"");
  }
  EXPECT_EQ(first, "\"first\"");
}

TEST_F(Python, ACoroutineThatTakesTooLongIsCancelledAndTheOthersGoOn) {
  write("a/states/slow.py",
        "import asyncio\nCOUNT = 0\n"
        "async def hang(hub, ctx, name):\n    global COUNT\n    COUNT += 1\n    await "
        "asyncio.sleep(1000)\n"
        "def count(hub, ctx, name):\n    return COUNT\n");
  Plugins& plugins = open();
  const auto late = plugins.call(
      {.path = "states.slow.hang", .arguments = Value::dict({{"name", "a"}}), .time_limit = 200ms},
      {});
  ASSERT_FALSE(late);
  EXPECT_NE(to_string(late.error()).find("did not answer within 200ms"), std::string::npos);
  EXPECT_EQ(call("states.slow.count", Value::dict({{"name", "a"}})), "1");
}

TEST_F(Python, AProcessThatDiesFailsItsCallsAndTheNextOnesGetANewOne) {
  write("a/states/die.py",
        "import os\ndef now(hub, ctx, name):\n    print('dying words')\n    os._exit(7)\n"
        "def not_now(hub, ctx, name):\n    return 1\n");
  open();
  const Value name = Value::dict({{"name", "a"}});
  EXPECT_EQ(call("states.die.now", name),
            "`states.die.now`: it exited with code 7 and no answer; its last lines:\ndying words");
  EXPECT_EQ(call("states.die.not_now", name), "1");
}

TEST_F(Python, PluginsOfTheLoop) {
  write("a/reconcile/patient.py", R"py(
import asyncio
from typing import Any, Dict

async def loop(hub, pending_plugin: str, name: str, apply_kwargs: Dict[str, Any], max_pending_reruns: int = 600):
    count = 0
    while count < max_pending_reruns:
        running = hub.idem.RUNS[name]["running"]
        pending = [tag for tag, ret in running.items() if hub.reconcile.pending[pending_plugin].is_pending(ret=ret)]
        if not pending:
            break
        waits = [hub.reconcile.wait["static"].get(wait_in_seconds=0, run_count=count) for _ in pending]
        await asyncio.sleep(max(waits))
        count += 1
        await hub.idem.run.init.start(name, pending)
    return {"re_runs_count": count, "require_re_run": bool(pending)}
)py");
  write("a/reconcile/pending/strict.py",
        "def is_pending(hub, ret, **pending_kwargs):\n    return ret.get('left', 0) > 0\n");
  Plugins& plugins = open();
  int64_t left = 3;
  const auto running = [&] {
    return Value::dict({{"a", Value::dict({{"left", left}, {"result", left == 0}})},
                        {"b", Value::dict({{"left", 0}, {"result", true}})}});
  };
  std::string asked_for;
  const auto loop = [&](const char* pending, int64_t most) {
    left = 3;
    return shown(
        plugins.call({.path = "reconcile.patient.loop",
                      .arguments = Value::dict({{"pending_plugin", pending},
                                                {"name", "web"},
                                                {"max_pending_reruns", most},
                                                {"apply_kwargs", Value::dict({{"name", "web"}})}}),
                      .run = Value::dict({{"name", "web"}, {"running", running()}}),
                      .on_ask = [&](const Value& asked) -> Result<Value> {
                        --left;
                        asked_for = write_json(asked.at("apply"));
                        return Value::dict({{"ran", Value::list({"a"})}, {"running", running()}});
                      }},
                     {}));
  };
  EXPECT_EQ(loop("strict", 600), R"({"re_runs_count":3,"require_re_run":false})");
  EXPECT_EQ(asked_for, R"({"name":"web","tags":["a"]})");
  EXPECT_EQ(loop("default", 600), R"({"re_runs_count":3,"require_re_run":false})");
  EXPECT_EQ(loop("idem25", 2), R"({"re_runs_count":2,"require_re_run":true})");
}

TEST_F(Python, WhatALoopMergesIsTheResultAndARuleOfAUserReplacesOurs) {
  write("a/reconcile/merging.py", R"py(
import copy

async def loop(hub, pending_plugin, name, apply_kwargs):
    first = copy.deepcopy(hub.idem.RUNS[name]["running"])
    is_pending = hub.reconcile.pending[pending_plugin].is_pending
    waits = [getattr(hub.states[hub.idem.tools.tag_2_state(tag)], "__reconcile_wait__", None) for tag in first]
    takes = list(is_pending.signature.parameters)
    again = await hub.idem.run.init.start(name, list(first))
    for tag, ret in again.items():
        await hub.idem.event.put(profile="idem-run", body=ret)
        changes = hub.tool.idem.arg_utils.calculate_changes(
            first[tag]["new_state"], ret["new_state"], getattr(hub, ret["ref"]).signature.parameters)
        first[tag].update(ret, changes=changes)
    hub.idem.RUNS[name]["running"] = first
    return {"re_runs_count": 1, "waits": waits, "takes": takes, "pending": is_pending(ret={}),
            "most": hub.reconcile.init.DEFAULT_MAX_PENDING_RERUNS}
)py");
  write("a/reconcile/pending/default.py", "def is_pending(hub, ret):\n    return 'mine'\n");
  write("a/states/cloud/vm.py",
        "__reconcile_wait__ = {'static': {'wait_in_seconds': 1}}\n"
        "def present(hub, ctx, name):\n    return {}\n");
  Plugins& plugins = open();
  const auto ret = [](const char* ref, int64_t size) {
    return Value::dict({{"ref", ref}, {"new_state", Value::dict({{"size", size}})}});
  };
  const auto running = [&](int64_t size) {
    return Value::dict({{"cloud.vm_|-a_|-a_|-present", ret("states.cloud.vm.present", size)},
                        {"test_|-b_|-b_|-nop", ret("states.test.nop", 1)}});
  };
  const auto answer = plugins.call(
      {.path = "reconcile.merging.loop",
       .arguments = Value::dict(
           {{"pending_plugin", "default"}, {"name", "web"}, {"apply_kwargs", Value::dict({})}}),
       .run = Value::dict({{"name", "web"}, {"running", running(1)}}),
       .on_ask = [&](const Value& asked) -> Result<Value> {
         return Value::dict({{"ran", asked.at("apply").at("tags")}, {"running", running(2)}});
       }},
      {});
  EXPECT_EQ(
      shown(answer),
      R"({"most":600,"pending":"mine","re_runs_count":1,"takes":["hub","ret"],"waits":[{"static":{"wait_in_seconds":1}},null]})");
  ASSERT_TRUE(answer);
  EXPECT_EQ(write_json(answer->running.at("cloud.vm_|-a_|-a_|-present").at("changes")),
            R"({"new":{"size":2},"old":{"size":1}})");
  EXPECT_TRUE(plugins.problems().empty());
}

TEST_F(Python, WhatIsOddAndWhatIsNoJson) {
  write("a/states/odd.py", R"py(
import datetime, os, sys

def half(hub, ctx, name):
    return ["\ud800", "ä€😀", datetime.date(2026, 1, 2), {1, 2}, (3, 4), b"b", {5: 6, None: 7}]

def deep(hub, ctx, name):
    made = []
    for _ in range(100000):
        made = [made]
    return made

def circle(hub, ctx, name):
    made = {}
    made["made"] = made
    return made

def disturb(hub, ctx, name):
    os.write(1, b"no json\n")
    print("no json")
    return sys.stdin.read()
)py");
  open();
  const Value name = Value::dict({{"name", "a"}});
  EXPECT_EQ(call("states.odd.half", name),
            R"(["?","ä€😀","2026-01-02",[1,2],[3,4],"b",{"5":6,"null":7}])");
  EXPECT_NE(call("states.odd.deep", name).find("RecursionError"), std::string::npos);
  EXPECT_NE(call("states.odd.circle", name).find("Circular reference"), std::string::npos);
  EXPECT_EQ(call("states.odd.disturb", name), "\"\"");
}

TEST_F(Python, LogsAndThreadsOfPlugins) {
  write("a/exec/threads.py", R"py(
import threading

def __init__(hub):
    hub.pop.sub.add(dyne_name="tool")

def get(hub, ctx):
    hub.log.trace("too much")
    answers = []
    thread = threading.Thread(target=lambda: answers.append(hub.exec.test.ping(ctx)))
    thread.start()
    thread.join()
    threading.Thread(target=threading.Event().wait).start()
    hub.log.warning("asked %d", len(answers))
    return answers
)py");
  open();
  EXPECT_EQ(call("exec.threads.get"), R"(["host: exec.test.ping"])");
  EXPECT_EQ(logged_, "asked 1");
}

TEST_F(Python, ProvidersOfCredentials) {
  write("a/states/cloud/init.py", "ACCT = ['aws']\n");
  write("a/states/cloud/vm.py", "def present(hub, ctx, name):\n    return 1\n");
  write("a/states/own.py", "ACCT = ['a', 'b']\ndef present(hub, ctx, name):\n    return 1\n");
  open();
  EXPECT_EQ(write_json(module("states.cloud.vm").at("acct")), R"(["aws"])");
  EXPECT_EQ(write_json(module("states.own").at("acct")), R"(["a","b"])");
}

TEST_F(Python, AStateCanAskForPatience) {
  write("a/states/later.py",
        "from fettle_plugins import NotReady, Throttled\n"
        "def present(hub, ctx, name):\n    raise NotReady('no answer')\n"
        "def absent(hub, ctx, name):\n    raise Throttled('slow down')\n");
  open();
  EXPECT_EQ(call("states.later.present", Value::dict({{"name", "a"}})), "not ready: no answer");
  EXPECT_EQ(call("states.later.absent", Value::dict({{"name", "a"}})), "throttled: slow down");
}

TEST_F(Python, TheWorkingFolderIsNoPlaceForModulesAndTheEnvironmentStays) {
  write("a/exec/env.py",
        "import os, sys\n"
        "def get(hub):\n    return ['' in sys.path, os.environ.get('PYTHONPATH'), "
        "sys.modules['pop'].__doc__ if 'pop' in sys.modules else None]\n");
  open();
  const char* const path = std::getenv("PYTHONPATH");
  EXPECT_EQ(call("exec.env.get"),
            write_json(Value::list({false, path == nullptr ? Value() : Value(path), Value()})));
}

TEST_F(Python, UsersFoldersStayAsTheyAre) {
  write("a/states/one.py", "def f(hub, ctx, name):\n    return 1\n");
  open();
  EXPECT_EQ(call("states.one.f", Value::dict({{"name", "a"}})), "1");
  EXPECT_FALSE(file_exists(folder_->path() / "a/states/__pycache__"));
}

/// The seed's call, in a program of its own. What stands in for fettle shows what it was given.
TEST_F(Python, ABatchOfAProgram) {
  const Result<Path> package = unpack_python(folder_->path() / "home");
  ASSERT_TRUE(package);
  write("fettle", "#!/bin/sh\ncat > given\nprintf '{\"words\": \"%s\"}' \"$*\"\n");
  ASSERT_EQ(chmod((folder_->path() / "fettle").c_str(), 0755), 0);
  const auto run = [&](const std::string& parameters) {
    Invocation python{
        .arguments = {"python3", "-c",
                      "import pop.hub\nhub = pop.hub.Hub()\nhub.pop.sub.add(dyne_name='idem')\n"
                      "hub.pop.config.load(['idem'], cli='idem', parse_cli=False)\n"
                      "hub.pop.loop.create()\n"
                      "print(hub.pop.Loop.run_until_complete(hub.idem.state.batch(" +
                          parameters + ")))"},
        .environment = {{"PYTHONPATH", package->string()},
                        {"FETTLE", (folder_->path() / "fettle").string()}},
        .directory = folder_->path()};
    return run_process(python, {}).value();
  };
  EXPECT_EQ(
      run("states={'a': {'test.nop': []}}, name='n', runtime='serial', renderer='json', "
          "test=False, encrypted_profiles=b'x', acct_key='k', default_acct_profile='default', "
          "reconcile_plugin='basic', pending_plugin='default'")
          .output,
      "{'words': 'batch'}\n");
  EXPECT_EQ(
      write_json(read_json(read_file(folder_->path() / "given").value()).value()),
      R"({"acct_key":"k","default_acct_profile":"default","encrypted_profiles":"x","name":"n","pending_plugin":"default","reconcile_plugin":"basic","renderer":"json","runtime":"serial","states":{"a":{"test.nop":[]}},"test":false})");
  EXPECT_NE(run("states={}, nam='n'").errors.find("unexpected keyword argument 'nam'"),
            std::string::npos);
  write("fettle",
        "#!/bin/sh\ncat << 'end'\n"
        R"({"success": false, "error": {"message": "x\nb:2: y", "file": "b", "line": 1}})"
        "\nend\nexit 2\n");
  ASSERT_EQ(chmod((folder_->path() / "fettle").c_str(), 0755), 0);
  EXPECT_EQ(run("states={}").output, "['b:1: x', 'b:2: y']\n");
  write("fettle", "#!/bin/sh\necho 'no lease' >&2\nexit 2\n");
  ASSERT_EQ(chmod((folder_->path() / "fettle").c_str(), 0755), 0);
  EXPECT_NE(run("states={}").errors.find("RuntimeError: no lease"), std::string::npos);
}

}  // namespace
}  // namespace fettle
