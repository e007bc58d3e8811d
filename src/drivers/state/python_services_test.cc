/// What plugins in Python find on the hub: `hub.pop`, `hub.acct`, `hub.rend` and others.

#include "drivers/state/installed_packages.h"
#include "tests/fixtures/python_fixture.h"

namespace fettle {
namespace {

class PythonServices : public PythonFixture {
 protected:
  /// What the function `f` of a module with this text answers.
  std::string answer(const std::string& text, const Value& arguments = Value::dict({})) {
    write("a/exec/x.py", text);
    open();
    EXPECT_EQ(problems(), "");
    return call("exec.x.f", arguments);
  }
};

/// The functions of `bench/hub_calls`, as Idem 25.0.1 has answered them (`bench/ecosystems --write`).
TEST(HubCalls, AreAnsweredAsByIdem) {
  const Result<ProcessResult> run =
      run_process({.arguments = {find_program("python3").string(),
                                 FETTLE_SOURCE_DIR "/bench/ecosystems_calls.py", "fettle"},
                   .environment = {{"PYTHONDONTWRITEBYTECODE", "1"}, {"PYTHONNOUSERSITE", "1"}}},
                  {});
  ASSERT_TRUE(run && run->code == 0) << (run ? run->errors : to_string(run.error()));
  const std::string_view output = trim(run->output);
  const Result<Value> answers = read_json(output.substr(output.rfind('\n') + 1));
  ASSERT_TRUE(answers) << output;
  const std::string recorded =
      read_file(FETTLE_SOURCE_DIR "/tests/states/recorded/hub_calls.jsonl").value_or("");
  const std::vector<std::string_view> lines = split(trim(recorded), '\n');
  ASSERT_EQ(answers->items().size(), lines.size());
  ASSERT_GT(lines.size(), 40u);
  for (size_t i = 0; i < lines.size(); ++i) {
    const Value ours = answers->items()[i];
    // What is sealed or a template needs packages of Python, which may be missing: it says which.
    const std::string call = ours.items()[0].text().str();
    if ((call == "accounts.sealed" || call == "accounts.rendered") && ours.items()[1].is_text() &&
        ours.items()[1].text().view().starts_with("ImportError: "))
      EXPECT_NE(ours.items()[1].text().view().find("needs the Python package `"),
                std::string_view::npos)
          << write_json(ours);
    else
      EXPECT_EQ(write_json(ours), write_json(*read_json(lines[i])));
  }
}

TEST_F(PythonServices, PartsOfTheHubAreAddedAndExtended) {
  write("more/one.py", "def f(hub):\n    return 'one'\n");
  write("more/deep/two.py", "def f(hub):\n    return 'two'\n");
  write("more/init.py",
        "__sub_alias__ = ['also']\ndef __init__(hub):\n    hub.more.COUNT = 3\n"
        "def shutdown(hub):\n    hub.GONE = True\n    return ''\n");
  write("further/three.py", "def f(hub):\n    return 'three'\n");
  write("around/init.py", "def post(hub, ctx):\n    return ctx.ret + '!'\n");
  EXPECT_EQ(answer(cat("PLACE = '", folder_->path().string(), "'\n", R"py(
def f(hub):
    hub.pop.sub.add(static=PLACE + "/more", contracts_static=PLACE + "/around")
    found = [hub.more.one.f(), hub.more.deep.two.f(), hub.also.COUNT]
    hub.pop.sub.load_subdirs(hub.more, recurse=True)
    hub.pop.sub.extend("more", static=[PLACE + "/further"])
    found += [hub.more.three.f(), sorted(hub.more._loaded), sorted(hub.more._subs)]
    hub.pop.sub.add(subname="below", sub=hub.more, static=PLACE + "/further")
    hub.pop.sub.add(python_import="base64")
    found += [hub.more.below.three.f(), hub.base64.b64encode(b"a").decode()]
    found += [[part.__name__ for part in hub.more], [one.__name__ for one in hub.more.one]]
    found += [[sub.__name__ for sub in hub.pop.sub.iter_subs(hub.more)], hub.pop.sub.reload("more")]
    hub.pop.sub.remove("more")
    return found + [hasattr(hub, "more"), hub.GONE]
)py")),
            R"(["one!","two",3,"three!",["init","one","three"],["deep"],"three","YQ==",)"
            R"(["init","one","three"],["f"],["below","deep"],true,false,true])");
}

TEST_F(PythonServices, APartThatIsReadAgainOrReplacedHasItsContractsOnce) {
  write("more/one.py", "def f(hub):\n    return 'one'\n");
  write("more/contracts/init.py", "def post(hub, ctx):\n    return ctx.ret + '!'\n");
  write("other/one.py", "def f(hub):\n    return 'other'\n");
  EXPECT_EQ(answer(cat("PLACE = '", folder_->path().string(), "'\n", R"py(
def f(hub):
    hub.pop.sub.add(static=PLACE + "/more")
    found = [hub.more.one.f()]
    hub.pop.sub.reload("more")
    found.append(hub.more.one.f())
    hub.pop.sub.remove("more")
    hub.pop.sub.add(static=PLACE + "/other", subname="more")
    found.append(hub.more.one.f())
    hub.pop.sub.remove("tool")
    hub.pop.sub.add(dyne_name="tool")
    return [*found, "tool" in hub]
)py")),
            R"(["one!","one!","other",true])");
}

TEST_F(PythonServices, ACopyIsOfTheSameKind) {
  EXPECT_EQ(answer(R"py(
import copy
def g(hub):
    return {"result": False, "ret": None}
def f(hub):
    from fettle_plugins.maps import SafeNamespaceDict
    from dict_tools.data import SafeNamespaceDict as Theirs
    failed, account = copy.deepcopy(hub.exec.x.g()), copy.deepcopy(SafeNamespaceDict(a={"key": "k"}))
    return [bool(failed), failed.comment, repr(account), account.a["key"], Theirs is SafeNamespaceDict]
)py"),
            R"x([false,[],"SafeNamespaceDict(a)","k",true])x");
}

TEST_F(PythonServices, ClassesOfAPartAreOnItIfThatIsWanted) {
  write("more/one.py", "class Word:\n    pass\ndef f(hub):\n    return 'one'\n");
  write("further/two.py", "class Word:\n    pass\n");
  EXPECT_EQ(answer(cat("PLACE = '", folder_->path().string(), "'\n", R"py(
def f(hub):
    found = []
    for name, options in (("plain", {}), ("full", {"omit_class": False}), ("bare", {"omit_func": True})):
        hub.pop.sub.add(static=PLACE + "/more", subname=name, **options)
        hub.pop.sub.extend(name, static=PLACE + "/further")
        part = hub[name]
        found.append([hasattr(part.one, "Word"), hasattr(part.two, "Word"), hasattr(part.one, "f")])
        hub.pop.sub.reload(name)
        found.append(hasattr(hub[name].one, "Word"))
    return found
)py")),
            "[[false,false,true],false,[true,true,true],true,[false,false,false],false]");
}

TEST_F(PythonServices, PathsBelowADynamicPartAreResolvedWhenTheyAreCalled) {
  write("a/exec/api/init.py", R"py(
def __init__(hub):
    hub.pop.sub.dynamic(sub=hub.exec.api, subname="client", resolver=hub.tool.api.resolve, context=7)
)py");
  write("a/tool/api.py", R"py(
def resolve(hub, path, context):
    if path.endswith("nothing"):
        return None
    async def call(ctx, *args, **kwargs):
        return {"result": True, "ret": [path, context, args, kwargs, ctx.test]}
    return call
)py");
  write("a/exec/x.py", R"py(
async def f(hub, ctx):
    client = hub.exec.api.client
    found = await client.disk.list(ctx, 1, size=2)
    return {"result": found.result, "ret": [found.ret, found.ref, "nothing" in client,
                                            hub["exec.api.client.a.b"]._resolve() is not None]}
)py");
  open();
  EXPECT_EQ(problems(), "");
  EXPECT_EQ(call("exec.x.f"),
            R"({"comment":[],"result":true,"ret":[["client.disk.list",7,[1],{"size":2},false],)"
            R"("exec.api.client.disk.call",false,true]})");
  EXPECT_EQ(call("exec.api.client.vm.get", Value::dict({{"id", 3}})),
            R"({"comment":[],"result":true,"ret":["client.vm.get",7,[],{"id":3},false]})");
  EXPECT_EQ(call("exec.api.client.nothing"),
            "`exec.api.client.nothing`: AttributeError: nothing is found for the reference "
            "exec.api.client.nothing");
  EXPECT_FALSE(plugins_->has("exec.api.clients.vm"));
}

TEST_F(PythonServices, TheLoopHasHelpers) {
  EXPECT_EQ(answer(R"py(
import asyncio, threading

def slow(hub, x):
    return [x, threading.current_thread() is not threading.main_thread(), hub.exec.test.ping({"acct": {}})]

async def soon(hub, x):
    return x

async def f(hub):
    loop = hub.pop.loop
    found = [await loop.wrap(hub.exec.x.slow, x=1), await loop.unwrap(hub.exec.x.soon(2)), await loop.unwrap(3)]
    await loop.init_futures()
    future = loop.ensure_future("exec.x.soon", 4)
    await future
    await loop.await_futures()
    await loop.sleep(0)
    async def many(numbers):
        for number in numbers:
            yield number
    found += [future.result(), sorted([one async for one in loop.as_yielded([many([1, 2]), many([3])])])]
    found += [loop.CURRENT_LOOP is asyncio.get_running_loop(), hub.pop.Loop is loop.CURRENT_LOOP]
    done = asyncio.Event()
    hub.exec.x.DONE = lambda: loop.CURRENT_LOOP.call_soon_threadsafe(done.set)
    loop.call_soon("exec.x.DONE")
    await done.wait()
    return found
)py"),
            R"([[1,true,"host: exec.test.ping"],2,3,4,[1,2,3],true,true])");
}

TEST_F(PythonServices, ReferencesAndMaps) {
  EXPECT_EQ(
      answer(R"py(
def f(hub):
    hub.pop.ref.create("exec.x.NEW", 5)
    fixed, grows = hub.pop.data.imap({"a": {"b": 1}}), hub.pop.data.map()
    grows.a.b.c = 2
    try:
        fixed.a = 3
    except TypeError as error:
        told = str(error)
    data = {"a": [{"b": 4}]}
    return [hub.pop.ref.last("exec.x.NEW"), len(hub.pop.ref.path("exec.x")), fixed.a.b, grows, told,
            hub.pop.dicts.traverse(data, "a:0:b"), hub.pop.dicts.traverse(data, "a:7", "none"),
            hub.pop.dicts.update({"a": [1]}, {"a": [2]}), bool(grows.nothing), "nothing" in grows]
)py"),
      R"([5,3,1,{"a":{"b":{"c":2}}},"`a` cannot be set, as nothing of this map can",4,"none",{"a":[1,2]},false,false])");
}

TEST_F(PythonServices, WhatIsNotThereIsAnErrorThatNamesIt) {
  write("a/exec/x.py", R"py(
def a(hub):
    hub.idem.managed.context()
def b(hub):
    hub["exec.nothing"].get()
def c(hub):
    hub.pop.sub.add(subname="y", omit_vars=True)
def d(hub):
    return hub.OPT.nothing
def e(hub):
    hub.evbus.broker.get()
def f(hub):
    getattr(hub.tool, "nothing.at.all")
)py");
  open();
  const auto said = [this](const char* name) { return call(cat("exec.x.", name)); };
  EXPECT_EQ(said("a"),
            "`exec.x.a`: AttributeError: 'idem' has no attribute 'managed': this is "
            "fettle's; `fettle exec esm.show` shows what is remembered of states");
  EXPECT_EQ(said("b"), "`exec.x.b`: AttributeError: 'exec' has no attribute 'nothing'");
  EXPECT_EQ(said("c"), "`exec.x.c`: TypeError: `hub.pop.sub.add` does not have `omit_vars` here");
  EXPECT_EQ(said("d"), "`exec.x.d`: AttributeError: 'dict' object has no attribute 'nothing'");
  EXPECT_EQ(said("e"),
            "`exec.x.e`: AttributeError: 'evbus.broker' has no attribute 'get': events are lines "
            "of `fettle events`; `hub.idem.event.put` adds one");
  EXPECT_EQ(said("f"), "`exec.x.f`: AttributeError: 'tool' has no attribute 'nothing'");
}

TEST_F(PythonServices, ParametersHaveOtherNames) {
  write("a/states/vm.py", R"py(
def present(hub, ctx, name, id_: (str, "alias=id"), type_: "alias=type" = "small"):
    return {"result": True, "comment": [id_, type_]}
)py");
  write("a/exec/bad.py", "def f(hub, a: 'alias=b', b):\n    pass\n");
  open();
  EXPECT_EQ(
      problems(),
      "bad.py: SyntaxError: `b` is the name of several parameters of <function exec.bad.f>\n");
  EXPECT_EQ(write_json(module("states.vm").at("functions").items()[0].at("parameters").items()[1]),
            R"({"aliases":["id"],"kind":"any","name":"id_"})");
  EXPECT_EQ(
      call("states.vm.present", Value::dict({{"name", "a"}, {"id", "i"}, {"type_", "large"}})),
      R"({"comment":["i","large"],"result":true})");
}

TEST_F(PythonServices, DataclassesGetTheirDefaultsAndMissWhatIsRequired) {
  write("a/states/vm.py", R"py(
from dataclasses import field, make_dataclass
from typing import List

Disk = make_dataclass("Disk", [("size", int), ("kind", str, field(default="ssd")), ("note", str, field(default=None))])
Net = make_dataclass("Net", [("disk", Disk), ("port", int, field(default=80))])

def present(hub, ctx, name, net: Net = None, disks: List[Disk] = None):
    return {"result": True, "comment": "", "new_state": [net, disks]}
)py");
  open();
  const Value disk = Value::dict({{"size", 1}});
  EXPECT_EQ(call("states.vm.present", Value::dict({{"name", "a"},
                                                   {"net", Value::dict({{"disk", disk}})},
                                                   {"disks", Value::list({disk})}})),
            R"({"comment":"","new_state":[{"disk":{"kind":"ssd","size":1},"port":80},)"
            R"([{"kind":"ssd","size":1}]],"result":true})");
  EXPECT_EQ(
      call("states.vm.present",
           Value::dict({{"name", "a"}, {"disks", Value::list({Value::dict({})})}})),
      "`states.vm.present`: ValueError: states.vm.present is missing required argument(s): size");
}

TEST_F(PythonServices, FilesGoThroughRenderersAndValuesBecomeText) {
  write("file.json", "#!json\n{\"a\": [1, \"__PYTHON_NONE__\"]}\n");
  write("plain", "{\"a\": 1}");
  EXPECT_EQ(answer(cat("PLACE = '", folder_->path().string(), "'\n", R"py(
async def f(hub):
    rend = hub.rend.init
    block = {"fn": "x", "ln": 1, "bytes": b'{"b": "__PYTHON_NONE__"}', "pipe": [b"json", b"replacements"]}
    found = [await rend.parse(PLACE + "/plain", pipe="json"), await rend.parse_bytes(block)]
    for wrong in ({"pipe": "nothing"}, {}):
        try:
            await rend.parse(PLACE + "/plain", **wrong)
        except (LookupError, ValueError) as error:
            found.append(str(error).replace(PLACE, ""))
    return found + [hub.output.json.display({"a": 1}), hub.output.raw.display([1])]
)py")),
            R"([{"a":1},{"b":null},"there is no renderer `nothing`",)"
            R"("/plain has no pipe of renderers: give one, or write `#!jinja|yaml` on top",)"
            R"("{\n    \"a\": 1\n}","[1]"])");
}

TEST_F(PythonServices, ExecFunctionsAreCalledByTheirPaths) {
  write("a/exec/shop.py",
        "ACCT = ['shop']\ndef get(hub, ctx, name):\n"
        "    return {'result': True, 'ret': [name, ctx.acct.get('key')]}\n");
  on_ask_ = [](const Value& asked) -> Result<Value> {
    EXPECT_EQ(write_json(asked.at("profiles")), R"(["shop","acct-backends"])");
    return *read_json(R"({"shop": {"default": {"key": "k3y"}, "other": {"key": "0ther"}}})");
  };
  EXPECT_EQ(answer(R"py(
async def f(hub):
    one = await hub.idem.ex.run("shop.get", [], {"name": "a"})
    two = await hub.idem.ex.run("exec.shop.get", ["b"], {}, acct_profile="other")
    return [one.ret, two.ret, await hub.idem.ex.single("shop.get", "c") == {**one, "ret": ["c", "k3y"]}]
)py"),
            R"([["a","k3y"],["b","0ther"],true])");
}

TEST_F(PythonServices, AStateFindsItsRun) {
  write("a/states/own.py",
        "def f(hub, ctx, name):\n    run = hub.idem.RUNS[ctx.run_name]\n"
        "    return [run.name, run['sensitive'], run.running, hub.idem.RUN_NAME, hub.SUBPARSER]\n");
  open();
  EXPECT_EQ(
      call("states.own.f", Value::dict({{"name", "a"}}), Value::dict({{"run_name", "north"}})),
      R"(["north",{},{},"web","state"])");
}

TEST_F(PythonServices, EventsAreLines) {
  EXPECT_EQ(answer(R"py(
async def f(hub):
    await hub.idem.event.put(body={"size": 1}, profile="mine", tags={"a": 1})
    hub.idem.event.put_nowait(body={}, profile="idem-run")
    await hub.evbus.broker.put("other", {"message": 2, "tags": None, "run_name": "cli"})
)py"),
            "null");
  EXPECT_EQ(logged_, R"({"event":"mine","tags":{"a":1},"message":{"size":1}})"
                     R"({"event":"other","tags":{},"message":2})");
}

TEST_F(PythonServices, PluginsMakeProfilesOfCredentials) {
  write("a/acct/shop/init.py",
        "async def gather(hub, profiles):\n"
        "    return {name: {'token': 'made-of-' + one['key'], 'open': True}\n"
        "            for name, one in profiles.get('shop', {}).items()}\n");
  write("a/acct/shop/login.py",
        "def gather(hub, profiles):\n"
        "    assert set(profiles) <= {'shop', 'shop.login'}, profiles\n"
        "    return {'by_name': {'token': 'made-by-login'}} if 'shop.login' in profiles else {}\n");
  write("a/acct/backend/vault.py",
        "def unlock(hub, place):\n    return {'shop': {'kept': {'key': place + '-secret'}}}\n");
  write("a/states/shop.py", R"py(
import sys

def present(hub, ctx, name):
    print("with", ctx.acct.token, repr(ctx.acct))
    return {"result": True, "comment": "by " + ctx.acct.token, "new_state": {"t": ctx.acct.token, "o": ctx.acct.get("open")}}

def fails(hub, ctx, name):
    raise OSError(ctx.acct.token + " is refused")
)py");
  std::string asked_for;
  on_ask_ = [&](const Value& asked) -> Result<Value> {
    asked_for = write_json(asked.at("profiles"));
    return *read_json(
        R"({"shop": {"default": {"key": "k3y-of-default"}}, "shop.login": {"x": {}}, "acct-backends": {"vault": {"one": {"place": "attic"}}}})");
  };
  open();
  EXPECT_TRUE(module("states.shop").bool_at("gathers"));
  const auto of = [this](const char* profile, const char* function = "present") {
    return call(cat("states.shop.", function), Value::dict({{"name", "a"}}),
                Value::dict({{"acct_profile", profile}}));
  };
  EXPECT_EQ(of("default"),
            R"({"comment":"by ********","new_state":{"o":true,"t":"********"},"result":true})");
  EXPECT_EQ(asked_for, R"(["shop","acct-backends"])");
  EXPECT_EQ(logged_, "with ******** SafeNamespaceDict(key, open, token)");
  EXPECT_EQ(of("kept"),
            R"({"comment":"by ********","new_state":{"o":true,"t":"********"},"result":true})");
  EXPECT_EQ(of("by_name"),
            R"({"comment":"by ********","new_state":{"o":null,"t":"********"},"result":true})");
  EXPECT_EQ(of("default", "fails"), "`states.shop.fails`: OSError: ******** is refused");
  EXPECT_EQ(of("nobody"),
            "`states.shop.present`: ConnectionError: there is no profile `nobody`, only by_name, "
            "default, kept");
}

TEST_F(PythonServices, CryptoReadsWhatItWrote) {
  EXPECT_EQ(answer(cat("PLACE = '", folder_->path().string(), "'\n", R"py(
async def f(hub):
    try:
        import cryptography, msgpack
    except ImportError as error:
        try:
            await hub.crypto.init.generate_key("fernet")
            hub.crypto.init.dump({})
        except ImportError as error:
            return "needs the Python package" in str(error)
    crypto, found = hub.crypto.init, []
    for plugin in ("fernet", "aesgcm256"):
        key = await crypto.generate_key(plugin)
        with open(PLACE + "/sealed", "wb") as out:
            out.write(await crypto.encrypt(plugin, {"shop": {"default": {"key": "k"}}}, key))
        read = await crypto.decrypt_file(crypto_plugin=plugin, acct_file=PLACE + "/sealed", acct_key=key)
        found.append(read.shop["default"]["key"])
    return found == ["k", "k"]
)py")),
            "true");
}

TEST_F(PythonServices, AFileOfCredentialsIsReplacedAsAWhole) {
  write("sealed", "old");
  ASSERT_EQ(chmod((folder_->path() / "sealed").c_str(), 0644), 0);
  write("plain.json", "{}");
  EXPECT_EQ(answer(cat("PLACE = '", folder_->path().string(), "'\n", R"py(
import os
async def f(hub):
    crypto = hub.crypto.init
    async def encrypt(plugin, data, key):
        return b"sealed"
    crypto.encrypt = encrypt
    await crypto.encrypt_file("fernet", PLACE + "/plain.json", "key", PLACE + "/sealed", "json")
    with open(PLACE + "/sealed") as file:
        found = [file.read(), os.stat(PLACE + "/sealed").st_mode & 0o777]
    async def broken(plugin, data, key):
        return "no bytes"
    crypto.encrypt = broken
    try:
        await crypto.encrypt_file("fernet", PLACE + "/plain.json", "key", PLACE + "/sealed", "json")
    except TypeError:
        pass
    with open(PLACE + "/sealed") as file:
        return [*found, file.read(), [one for one in os.listdir(PLACE) if one.startswith(".")]]
)py")),
            R"(["sealed",384,"sealed",[]])");
}

TEST_F(PythonServices, WhoDeclaresNoProvidersMayGoWithoutCredentials) {
  write("a/acct/backend/vault.py", "def unlock(hub, **kwargs):\n    return {}\n");
  const char* const present = "def present(hub, ctx, name):\n    return dict(ctx.acct)\n";
  write("a/states/dice.py", present);
  write("a/states/shop.py", cat("ACCT = ['shop']\n", present));
  on_ask_ = [](const Value&) -> Result<Value> { return Value::dict({}); };
  open();
  const auto of = [this](const char* path) {
    return call(path, Value::dict({{"name", "a"}}), Value::dict({{"acct_profile", "default"}}));
  };
  EXPECT_EQ(of("states.dice.present"), "{}");
  EXPECT_EQ(of("states.shop.present"),
            "`states.shop.present`: ConnectionError: no profiles are found for shop");
}

TEST_F(PythonServices, AProfileThatACallNamesMustBeThere) {
  write("a/exec/shop.py",
        "def get(hub, ctx):\n    return {'result': True, 'ret': ctx.acct.get('key')}\n");
  on_ask_ = [](const Value&) -> Result<Value> {
    return *read_json(R"({"shop": {"small": {"key": 1}}})");
  };
  EXPECT_EQ(answer(R"py(
async def f(hub):
    found = [(await hub.idem.ex.run("shop.get")).ret]
    found.append((await hub.idem.ex.run("shop.get", acct_profile="small")).ret)
    try:
        await hub.idem.ex.run("shop.get", acct_profile="large")
    except ConnectionError as error:
        return [*found, str(error)]
)py"),
            R"([null,1,"there is no profile `large`, only small"])");
}

TEST_F(PythonServices, AMakerOfProfilesThatFailsFailsTheCall) {
  write("a/acct/shop/init.py",
        "import asyncio\nasync def gather(hub, profiles):\n"
        "    if 'hang' in profiles['shop']:\n        await asyncio.sleep(1000)\n"
        "    raise OSError('no route to ' + profiles['shop']['default']['key'])\n");
  write("a/states/shop.py", "def present(hub, ctx, name):\n    return 1\n");
  open();
  const auto profiles = [this](const char* text) {
    on_ask_ = [text](const Value&) -> Result<Value> { return *read_json(text); };
  };
  profiles(R"({"shop": {"default": {"key": "k3y-of-shop"}}})");
  EXPECT_EQ(call("states.shop.present", Value::dict({{"name", "a"}}),
                 Value::dict({{"acct_profile", "default"}})),
            "`states.shop.present`: OSError: no route to k3y-of-shop");
  profiles(R"({"shop": {"hang": {}}})");
  const auto late = plugins_->call({.path = "states.shop.present",
                                    .arguments = Value::dict({{"name", "a"}}),
                                    .context = Value::dict({{"acct_profile", "default"}}),
                                    .time_limit = 300ms,
                                    .on_ask = on_ask_},
                                   {});
  ASSERT_FALSE(late);
  EXPECT_NE(to_string(late.error()).find("did not answer within 300ms"), std::string::npos);
}

/// A package as pip would have installed it, in a folder of the search path.
class InstalledPackages : public PythonServices {
 protected:
  void SetUp() override {
    const char* const path = std::getenv("PYTHONPATH");
    former_ = path == nullptr ? "" : path;
    setenv("PYTHONPATH", (folder_->path() / "site").c_str(), 1);
    looks_for_packages_ = opens_packages_ = true;
  }
  void TearDown() override {
    if (former_.empty())
      unsetenv("PYTHONPATH");
    else
      setenv("PYTHONPATH", former_.c_str(), 1);
  }

 private:
  std::string former_;
};

TEST_F(InstalledPackages, AreFoundByTheirConf) {
  write("site/shop_plugins/conf.py",
        "CONFIG = {'limit': {'default': 7, 'dyne': 'idem', 'help': ''}}\n"
        "DYNE = {'states': ['states'], 'exec': ['inside.exec'], 'grains': ['grains']}\n");
  write("site/shop_plugins/states/shop/item.py", R"py(
def present(hub, ctx, name):
    hub.pop.sub.add(dyne_name="grains")
    return {"result": True, "comment": [hub.exec.shop.get(), hub.OPT.idem.limit, hub.grains.one.get()]}
)py");
  write("site/shop_plugins/inside/exec/shop.py", "def get(hub):\n    return 'got'\n");
  write("site/shop_plugins/grains/one.py", "def get(hub):\n    return 'grain'\n");
  write("site/shop_plugins/states/shop/broken.py", "import no_such_module\n");
  write("site/shop_plugins/states/shop/mine.py", "def f(hub):\n    return 'theirs'\n");
  write("site/other/conf.py", "DYNE = 1 / 0\n");
  write("site/none/conf.py", "x = 1 / 0\n");
  write("a/states/shop/mine.py", "def f(hub):\n    return 'mine'\n");
  open();
  EXPECT_EQ(call("states.shop.item.present", Value::dict({{"name", "a"}})),
            R"({"comment":["got",7,"grain"],"result":true})");
  EXPECT_EQ(call("states.shop.mine.f"), "\"mine\"");
  EXPECT_EQ(problems(), "conf.py: ZeroDivisionError: division by zero\n");
  ASSERT_EQ(plugins_->hidden_problems().size(), 1u);
  EXPECT_EQ(plugins_->hidden_problems()[0].message,
            "ModuleNotFoundError: No module named 'no_such_module'");
}

TEST_F(InstalledPackages, AProgramTakesThemWithoutTheirBrokenFiles) {
  write("site/shop_plugins/conf.py", "DYNE = {'exec': ['exec']}\n");
  write("site/shop_plugins/exec/shop.py", "def get(hub):\n    return 'got'\n");
  write("site/shop_plugins/exec/broken.py", "import no_such_module\n");
  write("mine/exec/own.py", "def f(hub):\n    return hub.exec.shop.get()\n");
  write("wrong/exec/own.py", "import no_such_module\n");
  EXPECT_EQ(answer(cat("PLACE = '", folder_->path().string(), "'\n", R"py(
import pop.hub
def f(hub):
    mine = pop.hub.Hub()
    mine.load_plugins(PLACE + "/mine")
    try:
        pop.hub.Hub().load_plugins(PLACE + "/wrong")
    except RuntimeError as error:
        return [mine.exec.own.f(), str(error).rpartition("/")[2]]
)py")),
            R"(["got","own.py: ModuleNotFoundError: No module named 'no_such_module'"])");
}

TEST_F(InstalledPackages, AreLoadedWhenSomethingIsMissing) {
  write("site/shop_plugins/conf.py", "DYNE = {'exec': ['exec'], 'acct': ['acct']}\n");
  write("site/shop_plugins/exec/shop.py",
        "async def __init__(hub):\n    hub.exec.shop.READY = 3\n"
        "def get(hub):\n    return hub.exec.shop.READY\n");
  write("site/shop_plugins/acct/shop/init.py",
        "def gather(hub, profiles):\n    return {'default': {'token': 'made'}}\n");
  write("a/exec/x.py",
        "import sys\n"
        "def seen(hub):\n    return [one for one in sys.modules if 'shop' in one]\n"
        "def f(hub):\n    return hub.exec.shop.get()\n"
        "def none(hub):\n    return hub.exec.nothing\n");
  write("a/states/own.py",
        "ACCT = ['shop']\ndef f(hub, ctx, name):\n    return {'comment': dict(ctx.acct)}\n");
  opens_packages_ = false;
  open();
  EXPECT_FALSE(plugins_->has("exec.shop.get"));
  EXPECT_EQ(call("exec.x.seen"), "[]");
  EXPECT_EQ(call("exec.x.f"), "3");
  EXPECT_NE(call("exec.x.none").find("'exec' has no attribute 'nothing'"), std::string::npos);
  open();
  on_ask_ = [](const Value&) -> Result<Value> { return Value::dict({}); };
  EXPECT_EQ(call("states.own.f", Value::dict({{"name", "a"}}),
                 Value::dict({{"acct_profile", "default"}})),
            R"({"comment":{"token":"********"}})");  // what a plugin makes is a secret, too
  open();
  EXPECT_TRUE(*plugins_->open_packages({}));
  EXPECT_FALSE(*plugins_->open_packages({}));
  EXPECT_EQ(call("exec.shop.get"), "3");
}

TEST_F(InstalledPackages, DoNotReplaceWhatShips) {
  write("site/shop_plugins/conf.py", "DYNE = {'states': ['states']}\n");
  write("site/shop_plugins/states/test.py", "def nop(hub, ctx, name):\n    return 'theirs'\n");
  write("site/shop_plugins/states/more.py", "def nop(hub, ctx, name):\n    return 'theirs'\n");
  open();
  EXPECT_FALSE(plugins_->has("states.test.nop"));
  EXPECT_EQ(call("states.more.nop", Value::dict({{"name", "a"}})), "\"theirs\"");
}

TEST_F(InstalledPackages, OneThatEndsThePythonConcernsItselfOnly) {
  write("site/quits/conf.py", "DYNE = {}\nraise SystemExit(3)\n");
  write("site/shop_plugins/conf.py", "DYNE = {'exec': ['exec'], 'odd': 'no list'}\n");
  write("site/shop_plugins/exec/init.py",
        "def __sub_virtual__(hub):\n    return False, 'not on this machine'\n");
  write("site/shop_plugins/exec/shop.py", "def get(hub):\n    return 'got'\n");
  write("site/third/conf.py", "DYNE = {'exec': ['exec']}\n");
  write("site/third/exec/third.py",
        "async def __init__(hub):\n    hub.exec.third.READY = 3\n"
        "def get(hub):\n    return hub.exec.third.READY\n");
  open();
  EXPECT_EQ(problems(), "conf.py: SystemExit: 3\n");
  EXPECT_EQ(plugins_->hidden_problems().at(0).message,
            "its folder is not loaded: not on this machine");
  EXPECT_FALSE(plugins_->has("exec.shop.get"));
  EXPECT_EQ(call("exec.third.get"), "3");
}

TEST_F(InstalledPackages, AreTheReasonToStartPython) {
  EXPECT_FALSE(has_installed_packages("no-such-python"));
  write("site/shop_plugins/__init__.py", "");
  write("site/idem/conf.py", "DYNE = {'states': ['states']}\n");
  EXPECT_FALSE(has_installed_packages("no-such-python"));
  write("site/shop_plugins/conf.py", "DYNE = {'states': ['states']}\n");
  EXPECT_TRUE(has_installed_packages("no-such-python"));
}

TEST_F(InstalledPackages, OnesThatAreInstalledInPlaceAreFound) {
  write("work/shop_plugins/conf.py", "DYNE = {'exec': ['exec']}\n");
  write("work/shop_plugins/exec/shop.py", "def get(hub):\n    return 'got'\n");
  write("site/editable.pth", cat("import site\n", (folder_->path() / "work").string(), "\n"));
  EXPECT_TRUE(has_installed_packages("no-such-python"));
  open();
  EXPECT_EQ(call("exec.shop.get"), "\"got\"");
}

/// What ours lacks is taken from the packages of Idem's authors; what ours has, is ours.
TEST_F(InstalledPackages, OriginalsFillTheGaps) {
  write("site/rend/conf.py", "DYNE = {'output': ['output'], 'rend': ['rend']}\n");
  write("site/rend/output/table_out.py",
        "__virtualname__ = 'table'\ndef display(hub, data):\n    return 'a table'\n");
  write("site/rend/output/json_out.py",
        "__virtualname__ = 'json'\ndef display(hub, data):\n    return 'theirs'\n");
  write("site/pop/extra.py", "WORD = 'theirs'\n");
  write("site/pop/contract.py", "WORD = 'theirs'\n");
  write("site/pop/__init__.py", "");
  EXPECT_EQ(answer(R"py(
def f(hub):
    import pop.contract, pop.extra
    is_ours = isinstance(hub.exec.x.f, pop.contract.Contracted)
    return [hub.output.table.display({}), hub.output.json.display(1), pop.extra.WORD, is_ours]
)py"),
            R"(["a table","1","theirs",true])");
}

}  // namespace
}  // namespace fettle
