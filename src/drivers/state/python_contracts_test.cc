/// Contracts of plugins in Python, and the states that `auto_state` makes.

#include "tests/fixtures/python_fixture.h"

namespace fettle {
namespace {

class PythonContracts : public PythonFixture {};

TEST_F(PythonContracts, RecursiveOnesStandAroundAllBelow) {
  write("a/states/shop/tag.py",
        "__contracts__ = ['stamp']\ndef f(hub):\n    return ['f']\n"
        "async def g(hub):\n    return ['g']\n");
  write("a/states/shop/recursive_contracts/stamp.py",
        "def post(hub, ctx):\n    return [*ctx.ret, 'stamped']\n");
  write("a/states/shop/down/deep.py", "__contracts__ = 'stamp'\ndef f(hub):\n    return []\n");
  write("a/states/shop/down/plain.py", "def f(hub):\n    return []\n");
  write("a/exec/deep/recursive_contracts/init.py",
        "def post(hub, ctx):\n    return {'result': True, 'ret': [ctx.ref, ctx.__name__]}\n");
  write("a/exec/deep/down/x.py", "def f(hub):\n    return 1\n");
  write("a/exec/other/x.py", "def f(hub):\n    return 1\n");
  open();
  EXPECT_EQ(problems(), "");
  EXPECT_EQ(call("states.shop.tag.f"), R"(["f","stamped"])");
  EXPECT_EQ(call("states.shop.tag.g"), R"(["g","stamped"])");
  EXPECT_EQ(call("states.shop.down.deep.f"), R"(["stamped"])");
  EXPECT_EQ(call("states.shop.down.plain.f"), "[]");
  EXPECT_EQ(call("exec.deep.down.x.f"), R"({"result":true,"ret":["exec.deep.down.x","f"]})");
  EXPECT_EQ(call("exec.other.x.f"), "1");
}

TEST_F(PythonContracts, AModuleThatCannotBeDescribedConcernsItselfOnly) {
  write("a/states/contracts/c.py", "TREQ = {'f': {}}\nTREQ['f'] = TREQ\n");
  write("a/states/round.py",
        "__contracts__ = ['c']\nTREQ = {'f': {}}\nTREQ['f'] = TREQ\ndef f(hub):\n    return 1\n");
  write("a/states/shop.py", "def f(hub):\n    return 1\n");
  open();
  EXPECT_TRUE(problems().starts_with("round.py: RecursionError: ")) << problems();
  EXPECT_FALSE(plugins_->has("states.round.f"));
  EXPECT_EQ(call("states.shop.f"), "1");
}

TEST_F(PythonContracts, TheOrderIsThatOfPop) {
  const auto contract = [](const char* name) {
    return cat("def pre(hub, ctx):\n    ctx.kwargs['log'].append('pre ", name,
               "')\ndef post(hub, ctx):\n    ctx.ret.append('post ", name,
               "')\ndef pre_f(hub, ctx):\n    ctx.kwargs['log'].append('pre_f ", name, "')\n");
  };
  write("a/states/shop/contracts/x.py", contract("x"));
  write("a/states/shop/contracts/init.py", contract("init"));
  write("a/states/shop/contracts/last.py", cat("__order__ = -1\n", contract("last")));
  write("a/states/shop/contracts/first.py", cat("__order__ = 1\n", contract("first")));
  write("a/states/recursive_contracts/init.py", contract("above"));
  write("a/states/shop/x.py",
        "__contracts__ = ['last', 'first']\ndef f(hub, log):\n    return log + ['f']\n");
  open();
  EXPECT_EQ(call("states.shop.x.f", Value::dict({{"log", Value::list({})}})),
            R"(["pre_f first","pre first","pre_f x","pre x","pre_f init","pre init",)"
            R"("pre_f above","pre above","pre_f last","pre last","f",)"
            R"("post last","post above","post init","post x","post first"])");
}

TEST_F(PythonContracts, OnlyTheFirstCallCounts) {
  write("a/exec/contracts/one.py",
        "def call_f(hub, ctx):\n    return {'result': True, 'ret': [ctx.func(*ctx.args), 'one']}\n"
        "def call(hub, ctx):\n    return {'result': True, 'ret': 'never'}\n");
  write("a/exec/contracts/init.py",
        "def call(hub, ctx):\n    return {'result': True, 'ret': 'never'}\n");
  write("a/exec/one.py", "def f(hub):\n    return 'f'\n");
  open();
  EXPECT_EQ(call("exec.one.f"), R"({"comment":[],"result":true,"ret":["f","one"]})");
}

TEST_F(PythonContracts, SignaturesAreChecked) {
  write("a/states/contracts/kept.py",
        "def sig_present(hub, ctx, name: str, *args, **kwargs):\n    ...\n"
        "async def sig_look(hub, ctx):\n    ...\n");
  write("a/states/good.py",
        "__contracts__ = ['kept']\ndef present(hub, ctx, name: str, size=1):\n    return 1\n"
        "async def look(hub, ctx):\n    return 2\n");
  write("a/states/bad.py",
        "__contracts__ = ['kept']\ndef present(hub, ctx, title, size=1):\n    return 1\n"
        "def look(hub, ctx, more):\n    return 2\n");
  write("a/states/none.py",
        "__contracts__ = ['kept']\ndef present(hub, ctx, name: str):\n    pass\n");
  open();
  EXPECT_EQ(problems(),
            "bad.py: ContractSigException: `present`: its parameter 3 must be `name`, not `title`; "
            "`look`: it must be `async`; `look`: it must not take `more`\n"
            "none.py: ContractSigException: the function `look` is missing\n");
  EXPECT_EQ(call("states.good.look"), "2");
  EXPECT_EQ(call("states.bad.present"), "there is no function `states.bad.present`");
}

TEST_F(PythonContracts, ARefusalHasTheNameThatPluginsCatch) {
  write("a/exec/contracts/x.py", "def pre_f(hub, ctx):\n    return False, 'closed'\n");
  write("a/exec/x.py", R"py(
import pop.exc

def f(hub):
    return 1

def tries(hub):
    try:
        hub.exec.x.f()
    except pop.exc.PreContractFailed as error:
        return str(error)
)py");
  open();
  EXPECT_EQ(call("exec.x.tries"), "\"exec.x.f is refused by a contract: closed\"");
}

TEST_F(PythonContracts, WhatAnAsynchronousGeneratorYieldsPasses) {
  write("a/exec/contracts/x.py",
        "SEEN = []\ndef pre(hub, ctx):\n    SEEN.append(ctx.__name__)\n"
        "def post_many(hub, ctx):\n    SEEN.append(ctx.ret)\n");
  write("a/exec/x.py", R"py(
async def many(hub):
    for number in range(3):
        yield number

async def all(hub):
    found = [one async for one in hub.exec.x.many()]
    return {"result": True, "ret": found}
)py");
  open();
  EXPECT_EQ(call("exec.x.all"), R"({"comment":[],"result":true,"ret":[0,1,2]})");
}

TEST_F(PythonContracts, ImpliedNeedsOfContractsAreThoseOfTheModule) {
  write("a/states/contracts/needs.py",
        "TREQ = {'present': {'require': ['net.present']}, 'unique': ['absent']}\n");
  write("a/states/vm.py",
        "__contracts__ = ['needs']\nTREQ = {'present': {'require': ['disk.present']}}\n"
        "def present(hub, ctx, name):\n    pass\n");
  open();
  EXPECT_EQ(write_json(module("states.vm").at("implied")),
            R"({"present":{"require":["disk.present","net.present"]},"unique":["absent"]})");
}

TEST_F(PythonContracts, AResourceDescribesItselfAsStates) {
  write("a/states/vm.py",
        "__contracts__ = ['resource']\nasync def describe(hub, ctx):\n"
        "    return {'a': {'vm.present': {'name': 'a'}}}\n");
  open();
  EXPECT_EQ(call("states.vm.describe"),
            "`states.vm.describe`: TypeError: states.vm.describe: `vm.present` of `a` must be a "
            "list of dicts of arguments");
}

TEST_F(PythonContracts, SoftFailLetsPatiencePass) {
  write("a/states/vm.py",
        "from fettle_plugins import NotReady\n__contracts__ = ['soft_fail']\n"
        "async def late(hub, ctx, name):\n    raise NotReady('soon')\n"
        "def bad(hub, ctx, name):\n    raise OSError('no disk')\n");
  open();
  EXPECT_EQ(call("states.vm.late", Value::dict({{"name", "a"}})), "not ready: soon");
  EXPECT_EQ(call("states.vm.bad", Value::dict({{"name", "a"}})),
            R"({"changes":{},"comment":["OSError: no disk"],"name":"a","new_state":null,)"
            R"("old_state":null,"result":false})");
}

constexpr const char* disk = R"py(
__contracts__ = ["auto_state", "soft_fail"]
DISKS = {}

async def get(hub, ctx, name, resource_id=None):
    if resource_id == "broken":
        return {"result": False, "ret": None}
    return {"result": True, "ret": DISKS.get(resource_id), "comment": []}

async def list_(hub, ctx):
    return {"result": True, "ret": list(DISKS.values()), "comment": []}

async def create(hub, ctx, name, size: int, kind: str = "ssd", resource_id=None):
    """Makes a disk."""
    if size > 100:
        raise ValueError("too large")
    DISKS["d-" + name] = {"name": name, "size": size, "kind": kind, "resource_id": "d-" + name}
    return {"result": True, "ret": dict(DISKS["d-" + name]), "comment": ["made"]}

async def update(hub, ctx, name, resource_id, size=None, kind=None):
    assert ctx.old_state["size"] == DISKS[resource_id]["size"]
    DISKS[resource_id].update(size=size)
    return {"result": True, "ret": None, "comment": ["resized"]}

def delete(hub, ctx, name, resource_id):
    del DISKS[resource_id]
    return {"result": True, "ret": None, "comment": ["deleted"]}

__func_alias__ = {"list_": "list"}
)py";

/// What the states do beside Idem is compared by `bench/ecosystems`.
TEST_F(PythonContracts, AutoStateMakesStatesOfAnExecModule) {
  write("a/exec/disk.py", disk);
  open();
  const auto present = [&](int64_t size, const Value& id, bool is_test = false) {
    const Result<PluginAnswer> answer = plugins_->call(
        {.path = "states.disk.present",
         .arguments = Value::dict({{"name", "a"}, {"size", size}, {"resource_id", id}}),
         .context = Value::dict({{"test", is_test}})},
        {});
    EXPECT_TRUE(answer) << to_string(answer.error());
    const Value& ret = answer->result;
    return cat(write_json(ret.at("result")), write_json(ret.at("comment")),
               write_json(ret.at("changes")), write_json(ret.at("rerun_data")));
  };
  EXPECT_EQ(
      present(5, {}, true),
      R"(true["Would create 'disk:a'"]{"new":{"name":"a","resource_id":null,"size":5},"old":{}}null)");
  // A wanted id that nobody knew differs from the one that there is now, in Idem, too.
  EXPECT_EQ(
      present(5, {}),
      R"(true["Created 'disk:a'","Updated 'disk:a'"]{"new":{"kind":"ssd","name":"a","resource_id":"d-a","size":5},"old":{}}null)");
  EXPECT_EQ(present(5, "d-a"), R"(true["'disk:a' already exists"]{}null)");
  EXPECT_EQ(
      present(7, "d-a"),
      R"(true["'disk:a' already exists","Updated 'disk:a'"]{"new":{"size":7},"old":{"size":5}}null)");
  EXPECT_EQ(
      present(9, "d-a", true),
      R"(true["'disk:a' already exists","Would update 'disk:a'"]{"new":{"size":9},"old":{"kind":"ssd","size":7}}null)");
  EXPECT_EQ(present(500, {}), R"(false["ValueError: too large","ValueError: too large"]{}null)");
  EXPECT_EQ(
      call("states.disk.describe"),
      R"({"d-a":{"disk.present":[{"name":"a"},{"size":7},{"kind":"ssd"},{"resource_id":"d-a"}]}})");
  const Value known = Value::dict({{"old_state", Value::dict({{"resource_id", "d-a"}})}});
  const auto absent = [&] {
    return call("states.disk.absent", Value::dict({{"name", "a"}}), known);
  };
  std::string said = absent();
  EXPECT_NE(said.find(R"("comment":["Deleted 'disk:a'"])"), said.npos) << said;
  said = absent();
  EXPECT_NE(said.find(R"("comment":["'disk:a' already absent"])"), said.npos) << said;
}

TEST_F(PythonContracts, AutoStateIsDescribedByCreate) {
  write("a/exec/disk.py", disk);
  open();
  std::string parameters;
  for (const Value& function : module("states.disk").at("functions").items())
    if (function.text_at("name") == "present") {
      for (const Value& parameter : function.at("parameters").items())
        parameters += cat(parameter.text_at("name"), parameter.find("default") ? "? " : " ");
      EXPECT_EQ(write_json(function.at("remembers")), R"(["resource_id"])");
    }
  EXPECT_EQ(parameters, "name resource_id? size kind? ");
  EXPECT_TRUE(module("states.disk").bool_at("can_look"));
}

TEST_F(PythonContracts, AutoStateIsAStateOfItsOwn) {
  write("a/exec/disk.py", disk);
  write("a/exec/other.py", R"py(
async def through(hub, ctx):
    made = await hub.exec.auto.create(ctx, "disk", name="b", size=3)
    found = await hub.exec.auto.get(ctx, "disk", "d-b", name="b")
    state = await hub.states.auto_state.present(ctx, "b", "d-b", exec_mod_ref="disk", size=3)
    return {"result": bool(made), "ret": [made.ref, found.ret["size"], state["comment"]]}
)py");
  open();
  EXPECT_EQ(
      call("exec.other.through"),
      R"({"comment":[],"result":true,"ret":["exec.disk.create",3,["'disk:b' already exists"]]})");
}

TEST_F(PythonContracts, AGetThatFailsMeansThatNothingIsThere) {
  write("a/exec/disk.py", disk);
  open();
  const std::string said = call(
      "states.disk.present", Value::dict({{"name", "a"}, {"size", 1}, {"resource_id", "broken"}}));
  EXPECT_NE(said.find("Created 'disk:a'"), said.npos) << said;
}

TEST_F(PythonContracts, AnExecModuleThatLacksAFunctionIsNoState) {
  write("a/exec/half.py", "__contracts__ = ['auto_state']\ndef get(hub, ctx):\n    pass\n");
  open();
  EXPECT_EQ(problems(),
            "half.py: AttributeError: exec.half uses auto_state but lacks create, update, "
            "delete\n");
}

}  // namespace
}  // namespace fettle
