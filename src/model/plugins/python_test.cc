/// Plugins in Python as users of Inmanta have them, run by the real interpreter.

#include "model/plugins/python.h"

#include <chrono>

#include "tests/fixtures/model_project.h"

namespace fettle::model {
namespace {

class PythonPlugins : public ModelProject {
 protected:
  PythonPlugins() { shows_warnings_ = true; }
  /// A module of the first layout. Every file of plugins imports what these need.
  void module(const std::string& name, const std::string& plugins, const std::string& model = "") {
    write(cat("libs/", name, "/module.yml"), cat("name: ", name, "\nversion: 1.0.0\nlicense: x\n"));
    write(cat("libs/", name, "/model/_init.cf"), model);
    write(cat("libs/", name, "/plugins/__init__.py"), cat(head, plugins));
  }
  static constexpr const char* head =
      "import os, sys, time\n"
      "from typing import Annotated, Any, Literal, Mapping, Optional, Sequence, Union\n"
      "from inmanta.plugins import Context, ModelType, PluginException, deprecated, plugin\n";
};

TEST_F(PythonPlugins, ValuesGoThereAndBackAsTheyAre) {
  module("m",
         "@plugin\ndef same(value: 'any') -> 'any':\n    return value\n"
         "@plugin\ndef kind(value: 'any') -> 'string':\n    return type(value).__name__\n"
         "@plugin\ndef keys(value: 'dict') -> 'list':\n    return list(value)\n"
         "@plugin\ndef order() -> 'dict':\n    return {'b': 1, 'a': [2, {'~i': 3}]}\n");
  EXPECT_EQ(compiled("import m\n"
                     "values = [1, 1.5, true, \"ä\", 12345678901234567890123]\n"
                     "std::print([m::same(x) == x for x in values])\n"
                     "std::print(m::same(null) == null)\n"
                     "std::print([m::kind(1), m::kind(1.5), m::kind(true), m::kind(null)])\n"
                     "std::print(m::keys({\"z\": 1, \"a\": 2}))\n"
                     "std::print(m::order())\n"
                     "std::print(m::same({\"z\": [1, {\"y\": 2}], \"a\": {}}))\n"),
            "True\n['int', 'float', 'bool', 'NoneType']\n['z', 'a']\n"
            "{'b': 1, 'a': [2, {'~i': 3}]}\n{'z': [1, {'y': 2}], 'a': {}}\n"
            "[True, True, True, True, True]\n");
}

TEST_F(PythonPlugins, SubmodulesKnowThoseOfTheirModuleByBareNames) {
  module("m", "@plugin\ndef loud(a: 'string') -> 'string':\n    return a + '!'\n");
  write("libs/m/model/sub.cf",
        "entity E:\n  string x\nend\nimplementation i for E:\n  self.x = loud(\"a\")\nend\n"
        "implement E using i\n");
  write("libs/m/model/sub/below.cf", "x = loud(\"b\")\n");
  EXPECT_EQ(compiled("import m\nimport m::sub\nimport m::sub::below\n"
                     "e = m::sub::E()\nstd::print([e.x, m::sub::below::x])\n"),
            "['a!', 'b!']\n");
  expect_in(compiled("import m\nstd::print(loud(\"c\"))\n"), "could not find type loud");
}

TEST_F(PythonPlugins, ParametersAreThoseOfPython) {
  module("m",
         "@plugin\ndef f(a: 'int', b: 'string[]' = ['x'], *rest: int, k: bool = False, **more: "
         "'string') -> 'list':\n    return [a, list(b), list(rest), k, sorted(more)]\n"
         "@plugin('renamed')\ndef _other(context: Context, a: 'int') -> 'string':\n"
         "    return f'{context.plugin.full_name} {a}'\n"
         "@plugin\ndef bare(x):\n    pass\n"
         "class T:\n    pass\n"
         "@plugin\ndef odd(x: 3):\n    pass\n"
         "@plugin\ndef nowhere(x: 'm::Nothing'):\n    pass\n");
  const auto said = [&](const std::string& expression) {
    return compiled(cat("import m\nstd::print(", expression, ")"));
  };
  EXPECT_EQ(said("m::f(1)"), "[1, ['x'], [], False, []]\n");
  EXPECT_EQ(said("m::f(1, [\"a\"], 2, 3, k=true, z=\"1\", y=\"2\")"),
            "[1, ['a'], [2, 3], True, ['y', 'z']]\n");
  EXPECT_EQ(said("m::renamed(4)"), "m::renamed 4\n");
  expect_in(said("m::f()"), "m::f() missing 1 required positional argument: 'a'");
  expect_in(said("m::f(1, a=2)"), "m::f() got multiple values for argument 'a'");
  expect_in(said("m::renamed(1, 2)"), "m::renamed() takes 1 positional arguments but 2 were given");
  expect_in(said("m::bare(1)"),
            "All arguments of plugin 'm::bare' should be annotated: 'x' has no annotation");
  expect_in(said("m::odd(1)"),
            "Bad annotation in plugin m::odd for x, expected str or python type");
  expect_in(said("m::nowhere(1)"), "could not find type m::Nothing in namespace m");
}

TEST_F(PythonPlugins, TypesAreCheckedAsAnnotationsOfModelsAndOfPythonSay) {
  module("m",
         "import dataclasses, enum\n"
         "@plugin\ndef models(a: 'm::port', b: 'm::Host[]', c: 'string?' = None) -> 'int':\n"
         "    return len(b)\n"
         "@plugin\ndef union(a: int | None, b: 'Union[int, str]' = 1) -> Optional[str]:\n"
         "    return None\n"
         "@plugin\ndef listed(a: Sequence[str], b: Mapping[str, int] = {}) -> list[str]:\n"
         "    return list(a)\n"
         "@plugin\ndef chosen(a: Literal['x', 'y']) -> 'string':\n    return a\n"
         "@plugin\ndef marked(a: Annotated[Any, ModelType['m::Host']]) -> 'string':\n"
         "    return a.name\n"
         "@plugin\ndef wrong() -> int:\n    return 'no'\n"
         "@plugin\ndef sets(a: set[str]):\n    pass\n",
         "typedef port as int matching self > 0\n"
         "entity Host:\n  string name\nend\nimplement Host using std::none\n");
  const auto said = [&](const std::string& expression) {
    return compiled(cat("import m\nh = m::Host(name=\"h\")\nstd::print(", expression, ")"));
  };
  EXPECT_EQ(said("m::models(1, [h, h], null)"), "2\n");
  expect_in(said("m::models(0, [h])"),
            "Value 0 for argument a of plugin m::models has incompatible type. Expected type: "
            "m::port");
  expect_in(said("m::models(1, [1])"), "Expected type: m::Host[]");
  EXPECT_EQ(said("m::union(null)"), "None\n");
  expect_in(said("m::union(\"a\")"), "Expected type: int?");
  EXPECT_EQ(said("m::listed([\"a\"], {\"b\": 1})"), "['a']\n");
  expect_in(said("m::listed([1])"), "Expected type: string[]");
  expect_in(said("m::listed([], {\"b\": \"c\"})"), "Expected type: dict[string, int]");
  EXPECT_EQ(said("m::chosen(\"y\")"), "y\n");
  expect_in(said("m::chosen(\"z\")"), "Expected type: Literal[\"x\", \"y\"]");
  EXPECT_EQ(said("m::marked(h)"), "h\n");
  expect_in(said("m::marked(1)"), "Expected type: m::Host");
  expect_in(said("m::wrong()"),
            "Return value no of plugin m::wrong has incompatible type. Expected type: int");
  expect_in(said("m::sets([])"), "set is not supported on the plugin boundary");
}

constexpr const char* shop =
    "entity Host:\n  string name\n  string? note = null\n  dict tags = {}\n  string late\nend\n"
    "implement Host using std::none\n"
    "Host.peers [0:] -- Host\nHost.boss [0:1] -- Host\n";

TEST_F(PythonPlugins, InstancesAreReadWhenTheyAreAskedFor) {
  module("m",
         "from inmanta.ast import OptionalValueException\n"
         "from inmanta.execute.proxy import DynamicProxy\n"
         "@plugin\ndef names(h: 'm::Host') -> 'list':\n"
         "    return [h.name, h.note, h.tags['a'], [p.name for p in h.peers]]\n"
         "@plugin\ndef late(h: 'm::Host') -> 'string':\n    return 'got ' + h.late\n"
         "@plugin\ndef boss(h: 'm::Host') -> 'string':\n"
         "    try:\n        return h.boss.name\n"
         "    except OptionalValueException:\n        return 'nobody'\n"
         "@plugin\ndef first(h: 'm::Host') -> 'm::Host':\n    return h.peers[0]\n"
         "@plugin\ndef same(a: 'm::Host', b: 'm::Host') -> 'list':\n"
         "    return [a == b, len({a, b}), isinstance(a, DynamicProxy), str(a._type())]\n"
         "@plugin\ndef lacks(h: 'm::Host') -> 'list':\n"
         "    return [hasattr(h, 'nothing'), getattr(h, 'nothing', 1), h.nothing]\n",
         shop);
  const std::string model =
      "import m\na = m::Host(name=\"a\", tags={\"a\": 1}, peers=[b, c])\nb = m::Host(name=\"b\")\n"
      "c = m::Host(name=\"c\", boss=a)\n"
      "b.late = \"l\"\na.late = m::late(b)\nc.late = m::late(a)\n";
  EXPECT_EQ(compiled(cat(model, "std::print(m::names(a))\n")), "['a', null, 1, ['b', 'c']]\n");
  EXPECT_EQ(compiled(cat(model, "std::print(c.late)\n")), "got got l\n");
  EXPECT_EQ(compiled(cat(model, "std::print([m::boss(a), m::boss(c)])\n")), "['nobody', 'a']\n");
  EXPECT_EQ(compiled(cat(model, "x = m::first(a)\nstd::print(x.name)\n")), "b\n");
  EXPECT_EQ(compiled(cat(model, "std::print(m::same(a, a))\nstd::print(m::same(a, b))\n")),
            "[True, 1, True, 'm::Host']\n[False, 2, True, 'm::Host']\n");
  expect_in(compiled(cat(model, "x = m::lacks(a)\n")), "AttributeError: (None, 'nothing')");
}

TEST_F(PythonPlugins, DataclassesStandForEntities) {
  module("m",
         "import dataclasses\n"
         "@dataclasses.dataclass(frozen=True)\nclass Route:\n    to: str\n    cost: int = 1\n"
         "@dataclasses.dataclass\nclass Nowhere:\n    x: int\n"
         "@plugin\ndef shorter(r: Route, more: 'm::Route[]' = []) -> Route:\n"
         "    assert isinstance(r, Route)\n    return Route(r.to, r.cost - 1)\n"
         "@plugin\ndef routes(l: list[Route]) -> list[Route]:\n"
         "    return [Route(one.to + '!') for one in l]\n"
         "@plugin\ndef nowhere() -> 'any':\n    return Nowhere(1)\n",
         "entity Route extends std::Dataclass:\n  string to\n  int cost = 1\nend\n"
         "implement Route using std::none\n");
  EXPECT_EQ(compiled("import m\nr = m::shorter(m::Route(to=\"a\", cost=5))\n"
                     "std::print(\"{{r.to}} {{r.cost}}\")\n"
                     "s = m::routes([r, r])\n"
                     "std::print([x.to for x in s])\n"),
            "a 4\n['a!', 'a!']\n");
  expect_in(compiled("import m\nx = m::nowhere()"),
            "there is no entity of that name that extends std::Dataclass");
}

TEST_F(PythonPlugins, FailuresSayWhatWasWrongAndWhere) {
  module("m",
         "@plugin\ndef crash(x: 'int') -> 'int':\n    return deep(x)\n"
         "def deep(x):\n    return 1 // x\n"
         "@plugin\ndef refuse():\n    raise PluginException('in my own words')\n"
         "@plugin\ndef leaves():\n    sys.exit(3)\n"
         "@plugin\ndef nothing() -> 'any':\n    return object()\n"
         "@plugin\ndef nan() -> 'float':\n    return float('nan')\n"
         "@plugin\ndef number_keys() -> 'dict':\n    return {1: 2}\n"
         "@plugin\ndef circle() -> 'any':\n    x = []\n    x.append(x)\n    return x\n"
         "@plugin\ndef writes(l: 'list', d: 'dict', e: 'string'):\n"
         "    if e == 'list':\n        l.append(1)\n"
         "    elif e == 'item':\n        d['a'] = 1\n"
         "@plugin\ndef sets(h: 'm::Host'):\n    h.name = 'other'\n",
         shop);
  const auto said = [&](const std::string& expression) {
    return compiled(cat("import m\nh = m::Host(name=\"a\", late=\"\")\nx = ", expression));
  };
  const std::string crashed = said("m::crash(0)");
  expect_in(crashed, "Exception in plugin m::crash");
  expect_in(crashed, "ZeroDivisionError: integer division or modulo by zero");
  expect_in(crashed, "libs/m/plugins/__init__.py\", line 8, in deep");
  expect_in(crashed, "main.cf:3");
  expect_in(said("m::refuse()"), "PluginException in plugin m::refuse\nin my own words");
  expect_in(said("m::leaves()"), "SystemExit: 3");
  expect_in(said("m::nothing()"), "object is not a type of values of a model");
  expect_in(said("m::nan()"), "nan is not a value of a model");
  expect_in(said("m::number_keys()"),
            "dict keys should be strings, got 1 of type <class 'int'> with dict value 2");
  expect_in(said("m::circle()"), "RecursionError");
  expect_in(said("m::writes([], {}, \"list\")"), "append");
  expect_in(said("m::writes([], {}, \"item\")"), "Readonly object");
  expect_in(said("m::sets(h)"), "Readonly object");
}

TEST_F(PythonPlugins, ThoseThatMisbehaveFailAlone) {
  module("m",
         "@plugin\ndef good(x: 'int') -> 'int':\n    return x\n"
         "@plugin\ndef dies() -> 'int':\n    print('last words')\n    os._exit(7)\n"
         "@plugin\ndef killed() -> 'int':\n    os.kill(os.getpid(), 9)\n"
         "@plugin\ndef hangs() -> 'int':\n    time.sleep(1000)\n"
         "@plugin\ndef forks() -> 'int':\n"
         "    child = os.fork()\n    if child:\n        os.waitpid(child, 0)\n    return 5\n"
         "@plugin\ndef prints() -> 'string':\n"
         "    print('seen')\n    os.write(1, b'{\"results\": []}\\n')\n"
         "    return sys.stdin.read()\n"
         "@plugin\ndef calls_back(x: 'int') -> 'int':\n    return good(x) + 1\n");
  options_.plugin_time_limit = 1s;
  const auto said = [&](const std::string& name) {
    return compiled(cat("import m\nfor i in [1, 2, 3]:\n  std::print(m::good(i))\nend\nx = m::",
                        name, "\nstd::print(x)"));
  };
  const std::string died = said("dies()"), killed = said("killed()"), hung = said("hangs()");
  expect_in(died, "Exception in plugin m::dies");
  expect_in(died, "it exited with code 7 and no answer; its last lines:\nlast words");
  expect_in(killed, "Exception in plugin m::killed");
  expect_in(killed, "it was killed by signal 9");
  expect_in(hung, "Exception in plugin m::hangs");
  expect_in(hung, "it did not answer within 1s");
  EXPECT_EQ(said("forks()"), "1\n2\n3\n5\n");
  EXPECT_EQ(said("prints()"), "seen\n1\n2\n3\n\n");
  EXPECT_EQ(said("calls_back(1)"), "1\n2\n3\n2\n");
}

TEST_F(PythonPlugins, SharedDeepAndHalfValuesAreErrorsOfTheirCalls) {
  module("m",
         "@plugin\ndef take(x: 'any') -> 'int':\n    return 1\n"
         "@plugin\ndef share() -> 'any':\n    return [[0] * 100_000] * 1000\n"
         "@plugin\ndef half() -> 'string':\n    return 'a\\ud800b'\n"
         "@plugin\ndef half_words():\n    raise PluginException('a\\ud800b')\n");
  // Passes a dict in which each level holds the one below it so many times.
  const auto nested = [&](int levels, int times) {
    std::string model = "import m\nstd::print(m::take(1))\nd0 = {}\n";
    for (int i = 0; i < levels; ++i)
      model += cat("d", i + 1, " = {\"a\": d", i, times == 1 ? "" : cat(", \"b\": d", i), "}\n");
    return compiled(cat(model, "x = m::take(d", levels, ")\n"));
  };
  const std::string deep = nested(990, 1);
  expect_in(deep, "1\nerror: Exception in plugin m::take");
  expect_in(deep, "a value is nested too deeply for Python");
  expect_in(nested(40, 2), "a value is larger than 64 MiB");
  expect_in(compiled("import m\nx = m::share()\n"), "a value has more than 4000000 parts");
  expect_in(compiled("import m\nx = m::half()\n"), "UnicodeEncodeError");
  expect_in(compiled("import m\nx = m::half_words()\n"), "a?b");
}

TEST_F(PythonPlugins, OldOnesAndThoseOfOtherCompilersAreToldOf) {
  module("m",
         "@deprecated(replaced_by='m::new')\n@plugin\ndef old() -> 'int':\n    return 1\n"
         "@plugin(commands=['no-such-command'])\ndef needs():\n    pass\n"
         "@plugin(emits_statements=True)\ndef emits(c: Context):\n    c.emit_expression(1)\n"
         "@plugin(emits_statements=True)\ndef sets(c: Context, n: 'int'):\n"
         "    c.result.set_value(n + 1, None)\n    return 7\n"
         "@plugin(emits_statements=True)\ndef twice(c: Context):\n"
         "    c.result.set_value(1)\n    c.result.set_value(2)\n"
         "@plugin(emits_statements=True)\ndef nothing(c: Context):\n    return 1\n"
         "@plugin\ndef other(c: Context):\n    c.result.set_value(1)\n"
         "@plugin\ndef client(c: Context):\n    c.get_client()\n"
         "@plugin\ndef data(c: Context) -> 'string':\n    return c.get_data_dir()\n");
  EXPECT_EQ(compiled("import m\nstd::print(m::old())"),
            "1\nwarning: Plugin 'm::old' is deprecated. It should be replaced by 'm::new'.\n");
  expect_in(compiled("import m\nx = m::needs()"),
            "needs requires no-such-command to be available in $PATH");
  expect_in(compiled("import m\nx = m::emits()"),
            "Context.emit_expression is not possible in fettle");
  EXPECT_EQ(compiled("import m\nstd::print(m::sets(1))\nstd::print(m::sets(2))"), "2\n3\n");
  expect_in(compiled("import m\nx = m::twice()"), "value set twice: 1 and 2");
  expect_in(compiled("import m\nx = m::nothing()"),
            "nothing is declared with emits_statements, so it gives no value but by");
  expect_in(compiled("import m\nx = m::other()"), "only `@plugin(emits_statements=True)`");
  expect_in(compiled("import m\nx = m::client()"),
            "Context.get_client is not possible in fettle: there is no server of Inmanta");
  EXPECT_EQ(compiled("import m\nstd::print(m::data())"), "data/m\n");
  EXPECT_TRUE(file_exists(folder_.path() / "data/m"));
}

TEST_F(PythonPlugins, AModuleHasPartsAndUsesOtherModules) {
  module("base", "@plugin\ndef one() -> 'int':\n    return 1\n");
  module("m",
         "import inmanta_plugins.base\nfrom inmanta_plugins.m import words\n"
         "@plugin\ndef two() -> 'int':\n    return inmanta_plugins.base.one() + words.ONE\n");
  write("libs/m/plugins/words.py", cat(head,
                                       "ONE = 1\n"
                                       "@plugin\ndef word() -> 'string':\n    return 'w'\n"));
  write("libs/m/model/words.cf", "");
  EXPECT_EQ(
      compiled("import m\nimport m::words\nstd::print(m::two())\nstd::print(m::words::word())"),
      "2\nw\n");
  EXPECT_FALSE(file_exists(folder_.path() / "libs/m/plugins/__pycache__"));
}

TEST_F(PythonPlugins, WhatEndsACompileRunsThen) {
  module("m",
         "import logging\nfrom inmanta.compiler import finalizer\n"
         "from inmanta_plugins.std import is_unknown\n"
         "@finalizer\ndef end():\n    open('ended', 'w').close()\n"
         "@plugin\ndef f() -> 'bool':\n    logging.getLogger('x').warning('careful')\n"
         "    return is_unknown(1)\n");
  EXPECT_EQ(compiled("import m\nstd::print(m::f())"), "WARNING: careful\nFalse\n");
  EXPECT_TRUE(file_exists(folder_.path() / "ended"));
}

TEST_F(PythonPlugins, PathsIntoDictsAreThoseOfInmanta) {
  module("m",
         "import copy\nfrom inmanta.util import dict_path\n"
         "@plugin\ndef get(d: 'any', path: 'string') -> 'any':\n"
         "    return dict_path.to_path(path).get_element(d)\n"
         "@plugin\ndef put(path: 'string') -> 'dict':\n"
         "    made = {'l': [{'k': 'a'}]}\n"
         "    dict_path.to_path(path).set_element(made, 1)\n    return made\n"
         "@plugin\ndef all(d: 'any', path: 'string') -> 'list':\n"
         "    return [str(one) for one in dict_path.to_wild_path(path).resolve_wild_cards(d)]\n");
  EXPECT_EQ(compiled("import m\n"
                     "std::print(m::put(\"x.y\"))\nstd::print(m::put(\"l[k=a].n\"))\n"
                     "std::print(m::put(\"l[k=b\\\\.c].n\"))\n"),
            "{'l': [{'k': 'a'}], 'x': {'y': 1}}\n{'l': [{'k': 'a', 'n': 1}]}\n"
            "{'l': [{'k': 'a'}, {'k': 'b.c', 'n': 1}]}\n");
  EXPECT_EQ(compiled("import m\nd = {\"a\": {\"b\": 1, \"x.y\": 2}}\n"
                     "std::print(m::get(d, \"a.b\"))\nstd::print(m::all(d, \"a.*\"))\n"),
            "1\n['a.b', 'a.x\\\\.y']\n");
  expect_in(compiled("import m\nx = m::get({}, \"a.*\")"),
            "The Wildcard ('*') can not be used in DictPath's");
}

TEST_F(PythonPlugins, WhatCannotBeLoadedSaysWhatIsMissing) {
  module("m", "import no_such_package.part\n@plugin\ndef f() -> 'int':\n    return 1\n");
  const std::string said = compiled("import m\nx = m::f()");
  expect_in(said,
            "the Python of module m cannot be loaded: ModuleNotFoundError: No module named "
            "'no_such_package'");
  expect_in(said, "`fettle project install`");
  expect_in(said, "python3 -m pip install no_such_package");
  module("n", "from inmanta.util import no_such_name\n");
  expect_in(compiled("import n\nx = n::f()"),
            "cannot import name 'no_such_name' from 'inmanta.util'");
  module("o", "def broken(:\n");
  expect_in(compiled("import o\nx = o::f()"), "SyntaxError");
  EXPECT_EQ(compiled("import m\nstd::print(1)"), "1\n");  // nobody calls it
}

TEST_F(PythonPlugins, AnInstalledModuleIsFoundInTheEnvironmentOfTheProject) {
  write(".env/lib/python3.11/site-packages/inmanta_plugins/shop/__init__.py",
        cat(head, "import helper\n@plugin\ndef f() -> 'string':\n    return helper.NAME\n"));
  write(".env/lib/python3.11/site-packages/inmanta_plugins/shop/model/_init.cf", "");
  write(".env/lib/python3.11/site-packages/helper.py", "NAME = 'installed'\n");
  EXPECT_EQ(compiled("import shop\nstd::print(shop::f())"), "installed\n");
  module("shop", "@plugin\ndef f() -> 'string':\n    return 'of libs'\n");
  const std::string both = compiled("import shop\nstd::print(shop::f())");
  expect_in(both, "installed\n");
  expect_in(
      both,
      "warning: Module shop is installed as a V1 module and a V2 module: V1 will be ignored.");
}

TEST_F(PythonPlugins, TheRealPackageHasWhatOursLacks) {
  write(".env/lib/python3.11/site-packages/inmanta/__init__.py", "");
  write(".env/lib/python3.11/site-packages/inmanta/util/__init__.py",
        "def rare():\n    return 7\n");
  write(".env/lib/python3.11/site-packages/inmanta/seldom.py",
        "from inmanta.plugins import plugin\nEIGHT = 8\n");
  module("m",
         "from inmanta.util import rare, hash_file\nfrom inmanta.seldom import EIGHT\n"
         "@plugin\ndef f() -> 'list':\n    return [rare(), EIGHT, hash_file(b'')[:4]]\n");
  EXPECT_EQ(compiled("import m\nstd::print(m::f())"), "[7, 8, 'da39']\n");
}

TEST_F(PythonPlugins, ManyCallsTravelTogether) {
  module("m",
         "COUNT = 0\n@plugin\ndef twice(x: 'int') -> 'int':\n    return 2 * x\n"
         "@plugin\ndef name(h: 'm::Host') -> 'string':\n    return h.name\n",
         shop);
  std::string model = "import m\nnumbers = std::sequence(10000)\n";
  model += "doubled = [m::twice(x) for x in numbers]\nstd::print(std::count(doubled))\n";
  model +=
      "hosts = [m::Host(name=\"{{x}}\", late=\"\") for x in std::sequence(1000)]\n"
      "names = [m::name(h) for h in hosts]\nstd::print(std::at(names, 999))\n";
  EXPECT_EQ(compiled(model), "10000\n999\n");
}

TEST_F(PythonPlugins, ATaskMayWaitForCallsAndForValuesAtOnce) {
  module("m",
         "@plugin\ndef twice(x: 'int') -> 'int':\n    return 2 * x\n"
         "@plugin\ndef word() -> 'string':\n    return 'w'\n"
         "@plugin\ndef late(h: 'm::Host') -> 'string':\n    return 'got ' + h.late\n"
         "@plugin\ndef refuse() -> 'int':\n    raise PluginException('in my own words')\n",
         shop);
  const std::string model = "import m\nh = m::Host(name=\"h\")\n";
  EXPECT_EQ(compiled(cat(model,
                         "std::print([m::twice(1), h.late, m::late(h), m::twice(2)])\n"
                         "h.late = m::word()\n")),
            "[2, 'w', 'got w', 4]\n");
  // A task that waits for what never comes still tells that its call failed.
  expect_in(compiled(cat(model, "std::print([m::refuse(), h.late])\n")), "in my own words");
}

TEST_F(PythonPlugins, OtherPluginsRunBesideCallsThatWait) {
  module("m", "@plugin\ndef twice(x: 'int') -> 'int':\n    return 2 * x\n");
  for (const char* name : {"s", "e"}) {
    write(cat("libs/", name, "/module.yml"), cat("name: ", name, "\nversion: 1.0.0\nlicense: x\n"));
    write(cat("libs/", name, "/model/_init.cf"), "");
  }
  write("libs/s/plugins/s.star", "def first(all: \"list\") -> \"any\":\n    return all[0]\n");
  write("libs/e/plugins/run",
        "#!/bin/sh\nwhile read line; do case $line in\n"
        "*describe*) echo '{\"plugins\": {\"three\": \"() -> int\"}}' ;;\n"
        "*) echo '{\"result\": 3}' ;;\nesac; done\n",
        0755);
  EXPECT_EQ(compiled("import m\nimport s\nimport e\n"
                     "u = std::get_env(\"FETTLE_NO_SUCH_VARIABLE\")\n"
                     "std::print([m::twice(1), std::is_unknown(s::first([u])), e::three()])\n"),
            "[2, True, 3]\n");
}

TEST_F(PythonPlugins, WithoutPythonNoProcessIsStarted) {
  write("project.yml", "name: test\nmodulepath: libs\n");
  write("main.cf", "std::print(1)\n");
  const Project project = project_of((folder_.path() / "main.cf").string()).value();
  CompileOptions options;
  options.home = folder_.path() / "home";
  EXPECT_TRUE(compile(project, options).errors.empty());
  EXPECT_FALSE(file_exists(options.home));
}

TEST_F(PythonPlugins, WhatAModulePrintsWhenItIsLoadedIsShown) {
  module("m", "print('loaded')\n@plugin\ndef one() -> 'int':\n    return 1\n");
  EXPECT_EQ(compiled("import m\nstd::print(m::one())\n"), "loaded\n1\n");
}

TEST_F(PythonPlugins, CastsStartNoProcess) {
  module("m", "@plugin\ndef one() -> 'int':\n    return 1\n", "x = int(\"5\")\ny = string(x)\n");
  EXPECT_EQ(compiled("import m\nstd::print(m::x + int(\"1\"))\n"), "6\n");
  EXPECT_FALSE(file_exists(folder_.path() / "home"));
}

TEST_F(PythonPlugins, ConditionsOfTypesCallThem) {
  module("ip", "@plugin\ndef is_valid(a: 'string') -> 'bool':\n    return a.count('.') == 3\n",
         "typedef address as string matching ip::is_valid(self)\n"
         "entity Host:\n  address at\nend\nimplement Host using std::none\n");
  EXPECT_EQ(compiled("import ip\nh = ip::Host(at=\"1.2.3.4\")\nstd::print(h.at)"), "1.2.3.4\n");
  expect_in(compiled("import ip\nh = ip::Host(at=\"nowhere\")"),
            "Invalid value 'nowhere', does not match constraint");
}

TEST_F(PythonPlugins, FilesOfTheProjectAreItsOwn) {
  write("plugins/own.py", cat(head, "@plugin\ndef own() -> 'string':\n    return os.getcwd()\n"));
  expect_in(compiled("std::print(own())"), folder_.path().string());
}

}  // namespace
}  // namespace fettle::model
