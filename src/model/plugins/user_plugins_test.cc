/// Plugins beside `main.cf`: Starlark and executables; templates of a module.

#include <atomic>
#include <thread>

#include "tests/fixtures/model_project.h"

namespace fettle::model {
namespace {

class UserPlugins : public ModelProject {};

TEST_F(UserPlugins, StarlarkTakesAndGivesTypedValues) {
  write("plugins/names.star",
        "def greet(name: \"string\", times: int = 2, *rest: \"string\", **named: \"int\") -> str:\n"
        "    return \" \".join([name] * times + list(rest) + sorted(named.keys()))\n"
        "def wrong() -> \"int\":\n    return \"a\"\n"
        "def refuse():\n    fail(\"my own words\")\n"
        "def crash():\n    return 1 // 0\n"
        "def same(e: \"__config__::A\") -> \"__config__::A\":\n    return e\n"
        "def name_of(e: \"__config__::A\") -> \"string\":\n    return e.name\n"
        "def doubled(l: list[int]) -> list[int]:\n    return [x * 2 for x in l]\n");
  const std::string head =
      "entity A:\n  string name\nend\nimplement A using std::none\na = A(name=\"x\")\nb = "
      "A(name=\"y\")\n";
  EXPECT_EQ(compiled("std::print(greet(\"a\"))\nstd::print(greet(\"a\", 1, \"b\", z=1))\n"
                     "std::print(doubled([1, 2]))"),
            "a a\na b z\n[2, 4]\n");
  EXPECT_EQ(compiled(head + "std::print(name_of(b))\nc = same(b)\nstd::print(c == b)"),
            "y\nTrue\n");
  expect_in(compiled("x = wrong()"),
            "Return value a of plugin __config__::wrong has incompatible type. Expected type: int");
  expect_in(compiled("x = greet(1)"),
            "Value 1 for argument name of plugin __config__::greet has incompatible type. Expected "
            "type: string");
  expect_in(compiled("x = refuse()"), "PluginException in plugin __config__::refuse\nmy own words");
  expect_in(compiled("x = crash()"), "Exception in plugin __config__::crash");
  expect_in(compiled("x = crash()"), "division by zero");
}

constexpr const char* values =
    "u = std::get_env(\"FETTLE_NO_SUCH_VARIABLE\")\n"
    "entity A:\n  string name\n  string secret\n  string[] words = []\n  string? late = null\nend\n"
    "implement A using std::none\n"
    "a = A(name=\"n\", secret=u, words=[\"w\", u])\n"
    "r = A(name=\"r\", secret=std::create_environment_reference(\"X\"))\n";

TEST_F(UserPlugins, AnUnknownThatAPluginReadsMakesItsResultUnknown) {
  write("plugins/p.star",
        "def name(a: \"__config__::A\") -> \"string\":\n    return a.name\n"
        "def secret(a: \"__config__::A\") -> \"string\":\n    return \"password \" + a.secret\n"
        "def words(a: \"__config__::A\") -> \"string\":\n    return str(a.words)\n"
        "def shown(l: \"list\") -> \"string\":\n    return str(l)\n"
        "def inner(d: \"dict\") -> \"string\":\n    return str(d)\n"
        "def same(a: \"__config__::A\") -> \"__config__::A\":\n    return a\n");
  EXPECT_EQ(compiled(cat(values,
                         "std::print(name(a))\n"
                         "std::print(std::is_unknown(secret(a)))\n"
                         "std::print(std::is_unknown(words(a)))\n"
                         "std::print(std::is_unknown(shown([1, u])))\n"
                         "std::print(std::is_unknown(inner({\"a\": [{\"b\": u}]})))\n"
                         "std::print(same(a) == a)\n"
                         "std::print(name(r))\n")),
            "True\nTrue\nn\nTrue\nTrue\nTrue\nr\n");
  expect_in(compiled(cat(values, "x = secret(r)")), "secret is a reference");
  write("plugins/p.star",
        "def get(a: \"__config__::A\", n: \"string\") -> \"string\":\n    return getattr(a, n, "
        "\"\")\n");
  EXPECT_EQ(compiled(cat(values, "std::print(std::is_unknown(get(a, \"secret\")))\n")), "True\n");
}

/// Of a list or a dict, too, only what is read matters; Inmanta 20.1 says the same of each.
TEST_F(UserPlugins, AnUnknownPartThatAPluginDoesNotReadDoesNotMatter) {
  write("plugins/parts.star",
        "def first(x: \"any\") -> \"any\":\n    return x[0]\n"
        "def second(x: \"any\") -> \"any\":\n    return x[1]\n"
        "def size(x: \"any\") -> \"any\":\n    return len(x)\n"
        "def at(x: \"any\", key: \"string\") -> \"any\":\n    return x[key]\n"
        "def has(x: \"any\", key: \"string\") -> \"any\":\n    return key in x\n"
        "def same(x: \"any\") -> \"any\":\n    return x\n"
        "def pair(x: \"any\") -> \"any\":\n    return {\"k\": x}\n"
        "def tag(x: \"any\", i: \"int\") -> \"any\":\n    return x.tags[i]\n"
        "def text(x: \"any\") -> \"any\":\n    return \"%s\" % x[1]\n"
        "def choice(x: \"any\") -> \"any\":\n    return 1 if x[1] else 2\n"
        "def equal(x: \"any\") -> \"any\":\n    return x[1] == \"1\"\n"
        "def is_none(x: \"any\") -> \"any\":\n    return x[1] == None\n"
        "def kind(x: \"any\") -> \"any\":\n    return type(x[1])\n"
        "def sum(x: \"any\") -> \"any\":\n    return x[1] + \"a\"\n"
        "def found(x: \"any\") -> \"any\":\n    return \"z\" in x\n"
        "def key(x: \"any\") -> \"any\":\n    return {x[1]: 1}\n"
        "def anew(x: \"any\") -> \"any\":\n    return [e for e in x]\n"
        "def broken(x: \"any\") -> \"any\":\n    return x[7]\n");
  const std::string head =
      "entity A:\n  string[] tags\nend\nimplement A using std::none\n"
      "u = std::get_env(\"FETTLE_NO_SUCH_VARIABLE\")\nr = "
      "std::create_environment_reference(\"X\")\n"
      "l = [\"1\", u]\nd = {\"k\": \"v\", \"u\": u}\na = A(tags=[\"t\", u])\nm = [\"1\", r]\n";
  const auto printed = [&](const std::string& call) {
    return compiled(cat(head, "std::print(", call, ")\n"));
  };
  for (const auto& [call, value] :
       std::vector<std::pair<const char*, const char*>>{{"first(l)", "1"},
                                                        {"size(l)", "2"},
                                                        {"size(d)", "2"},
                                                        {"at(d, \"k\")", "v"},
                                                        {"has(d, \"u\")", "True"},
                                                        {"tag(a, 0)", "t"},
                                                        {"first(m)", "1"},
                                                        {"size(m)", "2"},
                                                        {"first(at(pair(l), \"k\"))", "1"},
                                                        {"first(same(l))", "1"}})
    EXPECT_EQ(printed(call), cat(value, "\n")) << call;
  for (const char* call :
       {"second(l)", "at(d, \"u\")", "tag(a, 1)", "text(l)", "choice(l)", "equal(l)", "is_none(l)",
        "kind(l)", "sum(l)", "found(l)", "key(l)", "anew(l)", "second(same(l))"})
    EXPECT_EQ(printed(cat("std::is_unknown(", call, ")")), "True\n") << call;
  for (const char* call : {"second(m)", "equal(m)", "choice(m)", "text(m)"})
    expect_in(printed(call), "a value is a reference");
  expect_in(printed("broken(l)"), "index 7 out of range");
}

TEST_F(UserPlugins, AnAttributeThatAPluginDoesNotReadNeedNotBeThereYet) {
  write("plugins/p.star",
        "def name(a: \"__config__::B\") -> \"string\":\n    return a.name + \"!\"\n"
        "def late(a: \"__config__::B\") -> \"string\":\n    return a.late + \"?\"\n");
  EXPECT_EQ(compiled("entity B:\n  string name\n  string late\nend\nimplement B using std::none\n"
                     "b = B(name=\"b\")\nb.late = name(b)\nstd::print(late(b))\n"),
            "b!?\n");
}

TEST_F(UserPlugins, AModuleOfTheActiveVirtualEnvironmentIsFound) {
  write("venv/lib/python3.13/site-packages/inmanta_plugins/ssh/model/_init.cf", "y = 5\n");
  ASSERT_EQ(setenv("VIRTUAL_ENV", (folder_.path() / "venv").c_str(), 1), 0);
  EXPECT_EQ(compiled("import ssh\nstd::print(ssh::y)\n"), "5\n");
  ASSERT_EQ(unsetenv("VIRTUAL_ENV"), 0);
  expect_in(compiled("import ssh\n"), "Could not find module ssh");
}

TEST_F(UserPlugins, AnExecutableReadsAllThatItIsGiven) {
  write("plugins/p",
        "#!/usr/bin/env python3\nimport json, sys\nfor line in sys.stdin:\n"
        "  call = json.loads(line)\n"
        "  if 'describe' in call:\n"
        "    answer = {'plugins': {'show': '(value: any) -> string', 'wrong': '() -> any'}}\n"
        "  elif call['call'] == 'wrong':\n    answer = {'result': {'__instance__': 99}}\n"
        "  else:\n    answer = {'result': json.dumps(call['arguments']['value'])}\n"
        "  print(json.dumps(answer), flush=True)\n",
        0755);
  EXPECT_EQ(compiled(cat(values,
                         "std::print(show([1, null]))\n"
                         "std::print(std::is_unknown(show([1, {\"a\": u}])))\n"
                         "std::print(std::is_unknown(show(a)))\n")),
            "[1, null]\nTrue\nTrue\n");
  expect_in(compiled("x = wrong()"), "there is no instance with `__instance__` 99");
}

TEST_F(UserPlugins, AConditionThatMissesSomethingIsNotMetAndNobodyWakesIt) {
  write("plugins/p.star",
        "def either(x: \"__config__::known\" | \"string\") -> \"string\":\n    return x\n");
  const std::string entity =
      "entity A:\n  string name\n  string word\nend\nindex A(name)\nimplement A using std::none\n";
  EXPECT_EQ(compiled(cat(entity,
                         "typedef known as string matching self == A[name=self]\n"
                         "std::print(either(\"x\"))\n"
                         "for i in std::sequence(300):\n  A(name=\"n{{ i }}\", word=\"w\")\nend\n"
                         "A(name=\"x\", word=\"x\")\n")),
            "x\n");
}

TEST_F(UserPlugins, AFileThatCannotBeReadFailsTheCallWithItsPlace) {
  write("plugins/bad.star", "def f():\n    return (\n");
  const std::string seen = compiled("x = f()");
  expect_in(seen, "bad.star:");
  expect_in(seen, "PluginException in plugin __config__::f");
}

TEST_F(UserPlugins, ExecutablesSpeakJsonLines) {
  write("plugins/tool",
        "#!/bin/sh\nread line\ncase \"$line\" in\n"
        "*describe*) echo '{\"plugins\": {\"add\": \"(a: int, b: int = 1) -> int\", \"junk\": "
        "\"()\", \"crash\": \"()\", \"other\": \"()\", "
        "\"die\": \"()\", \"text\": \"() -> int\", \"say\": \"()\"}}' ;;\n"
        "*'\"add\"'*) echo '{\"result\": 42}' ;;\n"
        "*'\"junk\"'*) echo 'no json' ;;\n"
        "*'\"die\"'*) echo 'last words' >&2; exit 3 ;;\n"
        "*'\"crash\"'*) echo 'dying words' >&2; kill -SEGV $$ ;;\n"
        "*'\"other\"'*) echo 'working' >&2; echo '{\"answer\": 1}' ;;\n"
        "*'\"text\"'*) echo '{\"result\": \"a\"}' ;;\n"
        "*'\"say\"'*) echo '{\"error\": \"told so\"}' ;;\nesac\n",
        0755);
  EXPECT_EQ(compiled("std::print(add(41))"), "42\n");
  expect_in(compiled("x = add(\"a\")"), "Value 'a' for argument a of plugin __config__::add");
  expect_in(compiled("x = junk()"), "is not a line with a JSON object; its last lines:\nno json");
  expect_in(compiled("x = die()"), "exited with code 3; its last lines:\nlast words");
  expect_in(compiled("x = crash()"), "was killed by signal 11; its last lines:\ndying words");
  expect_in(compiled("x = other()"), "answered no `result`, but {\"answer\":1}");
  expect_in(compiled("x = text()"),
            "Return value a of plugin __config__::text has incompatible type");
  expect_in(compiled("x = say()"), "PluginException in plugin __config__::say\ntold so");
}

TEST_F(UserPlugins, SignaturesOfExecutablesHaveKeywordsAndAnyConstant) {
  write("plugins/tool",
        "#!/bin/sh\nread line\ncase \"$line\" in\n"
        "*describe*) echo \"{\\\"plugins\\\": {\\\"named\\\": \\\"(*, a: int, b: float = 1.5, "
        "c: string = 'x', d: int = -2, **more: any) -> string\\\", \\\"all\\\": "
        "\\\"(first: int, *rest: int, last: bool = true) -> string\\\"}}\" ;;\n"
        "*) printf '%s' \"$line\" | sed 's/\"/./g; s/.*/{\"result\": \"&\"}/' ;;\nesac\n",
        0755);
  EXPECT_EQ(compiled("std::print(named(a=1, e=2))"),
            "{.arguments.:{.a.:1,.b.:1.5,.c.:.x.,.d.:-2,.more.:{.e.:2}},.call.:.named.}\n");
  EXPECT_EQ(compiled("std::print(all(1, 2, 3))"),
            "{.arguments.:{.first.:1,.last.:true,.rest.:[2,3]},.call.:.all.}\n");
  expect_in(compiled("x = named(1)"), "named");
}

TEST_F(UserPlugins, AnExecutableThatStaysAnswersManyCalls) {
  write("plugins/tool",
        "#!/bin/sh\ncount=0\nwhile read line; do count=$((count + 1))\ncase \"$line\" in\n"
        "*describe*) echo '{\"serves\": \"many\", \"plugins\": {\"count\": \"(of: int) -> int\"}}' "
        ";;\n"
        "*) echo \"{\\\"result\\\": $count}\" ;;\nesac\ndone\n",
        0755);
  EXPECT_EQ(compiled("std::print([count(1), count(2), count(3)])"), "[1, 2, 3]\n");
}

TEST_F(UserPlugins, WhatAnExecutableAllocatesIsRemembered) {
  write("plugins/pool",
        "#!/bin/sh\nread line\ncase \"$line\" in\n"
        "*describe*) echo '{\"plugins\": {\"take\": \"() -> int\", \"look\": \"() -> int\"}}' ;;\n"
        "*'\"take\"'*) echo '{\"result\": 7, \"allocated\": true}' ;;\n"
        "*'\"look\"'*) echo '{\"result\": 8, \"allocated\": false}' ;;\nesac\n",
        0755);
  write("project.yml", "name: test\nmodulepath: libs\n");
  write("main.cf",
        "entity A:\n  int taken\n  int seen\nend\nimplement A using numbers\n"
        "implementation numbers for A:\n  self.taken = take()\n  self.seen = look()\nend\n"
        "A()\na = A()\n");
  const CompileResult made = compile(project_of((folder_.path() / "main.cf").string()).value(), {});
  ASSERT_TRUE(made.errors.empty()) << to_string(made.errors.front());
  const std::span<const Allocation> allocations = made.model->allocations();
  ASSERT_EQ(allocations.size(), 2u);
  EXPECT_EQ(allocations[0].value.integer, 7);
  EXPECT_EQ(allocations[1].value.integer, 7);
  EXPECT_NE(allocations[0].by, allocations[1].by);
}

TEST_F(UserPlugins, AnExecutableThatHangsIsEndedWithItsLastLines) {
  write("plugins/tool", "#!/bin/sh\necho 'last words' >&2\nexec sleep 100000\n", 0755);
  // However slow the machine is, some limit lets the words arrive.
  std::string seen;
  for (options_.plugin_time_limit = 250ms;
       options_.plugin_time_limit < 60s && seen.find("last words") == seen.npos;
       options_.plugin_time_limit *= 2) {
    seen = compiled("x = f()");
    expect_in(seen, "PluginException in plugin __config__::f");
    expect_in(seen, "did not end within");
  }
  expect_in(seen, "last words");
}

TEST_F(UserPlugins, TheEnvironmentIsTheOneGivenElseTheProjects) {
  const std::string model = "std::print(std::environment())\nstd::print(std::environment_name())";
  EXPECT_EQ(compiled(model), "test\ntest\n");
  options_.environment = "other";
  EXPECT_EQ(compiled(model), "other\nother\n");
}

TEST_F(UserPlugins, ALockedFileHasOneWriterAtATime) {
  write("plugins/count.star",
        "def next() -> int:\n    lock(\"n\")\n    n = int(read_text(\"n\", \"0\")) + 1\n"
        "    write_text(\"n\", str(n))\n    return n\n"
        "def twice():\n    lock(\"n\")\n    lock(\"n\")\n    lock(\"m\")\n"
        "def outside():\n    lock(\"../n\")\n");
  write("project.yml", "name: test\nmodulepath: libs\n");
  std::string model;
  for (int i = 0; i < 20; ++i)
    model += cat("x", i, " = next()\n");
  write("main.cf", model);
  const Project project = project_of((folder_.path() / "main.cf").string()).value();
  std::vector<std::jthread> compiles(4);
  std::atomic<size_t> errors = 0;
  for (std::jthread& one : compiles)
    one = std::jthread([&] { errors += compile(project, {}).errors.size(); });
  for (std::jthread& one : compiles)
    one.join();
  EXPECT_EQ(errors, 0u);
  EXPECT_EQ(read_file(folder_.path() / "n").value(), "80");
  expect_in(compiled("x = twice()"), "a call of a plugin locks one file");
  expect_in(compiled("x = outside()"), "leaves the folder of the project");
}

TEST_F(UserPlugins, AFolderWithoutItsDescriptionIsNoModule) {
  write("libs/bare/model/_init.cf", "");
  expect_in(compiled("import bare"), "the module has no `");
  expect_in(compiled("import bare"), "/libs/bare/module.yml`");
}

TEST_F(UserPlugins, TemplatesSeeTheCallersVariablesAndPluginsAsFilters) {
  write("libs/web/module.yml", "name: web\nversion: 1.0\nlicense: x\n");
  write("libs/web/model/_init.cf",
        "entity Site:\n  string name\n  string? text = null\nend\n"
        "implementation render for Site:\n  port = 80\n  "
        "std::print(std::template(\"./site.j2\"))\nend\n"
        "implement Site using render\n");
  write("libs/web/templates/site.j2",
        "{{ name }}:{{ port }} {{ self.name | upper }} {{ ['a', 'b'] | std.count }}\n");
  EXPECT_EQ(compiled("import web\nweb::Site(name=\"x\")"), "x:80 X 2\n");
  EXPECT_EQ(compiled("import web\nstd::print(std::template(\"web/site.j2\", name=\"n\", port=1, "
                     "self={\"name\": \"s\"}))"),
            "n:1 S 2\n");
  expect_in(compiled("import web\nstd::print(std::template(\"web/site.j2\", name=\"n\"))"),
            "'port' is undefined (web/site.j2:1)");
}

// Each cause keeps its own statement; the line of the template stands with the filter.
TEST_F(UserPlugins, AFilterThatRefusesAValueSaysWhyBelow) {
  write("libs/web/module.yml", "name: web\nversion: 1.0.0\nlicense: none\n");
  write("libs/web/model/_init.cf", "typedef port as int matching self > 0\n");
  write("libs/web/plugins/ports.star", "def open(p: \"web::port\") -> int:\n    return p\n");
  write("libs/web/templates/site.j2", "listen {{ 0 | web.open }}\n");
  expect_in(compiled("import web\nstd::print(std::template(\"web/site.j2\"))"),
            "caused by:\n"
            "  Value 0 for argument p of plugin web::open has incompatible type. Expected type: "
            "web::port (web/site.j2:1)\n"
            "  caused by:\n"
            "    Invalid value 0, does not match constraint `(self > 0)` (reported in web::port (");
}

TEST_F(UserPlugins, TheExamplesReadServicesAndAllocateNumbers) {
  write("plugins/services.star",
        read_file(FETTLE_SOURCE_DIR "/examples/plugins/plugins/services.star").value());
  write("n.yml", "networks: [{id: 0}, {id: 1}]");
  write("twice.yml", "networks: [{id: 0}, {id: 1}, {id: 0}]");
  EXPECT_EQ(compiled("std::print(std::count(read_from_yaml(\"n.yml\")))\n"
                     "std::print(read_from_yaml(\"n.yml\", [1]))"),
            "2\n[{'id': 1}]\n");
  expect_in(compiled("x = read_from_yaml(\"twice.yml\")"),
            "network 0 is defined twice in twice.yml");
  expect_in(compiled("x = read_from_yaml(\"../n.yml\")"), "leaves the folder of the project");
  EXPECT_EQ(compiled("std::print(allocate(\"p\", \"a\"))"), "0\n");
  EXPECT_EQ(compiled("std::print(allocate(\"p\", \"b\"))"), "1\n");
  EXPECT_EQ(compiled("std::print(allocate(\"p\", \"a\"))\nstd::print(allocate(\"q\", \"b\"))"),
            "0\n0\n");
}

TEST_F(UserPlugins, PasswordsAreKept) {
  EXPECT_EQ(compiled("x = std::generate_password(\"id\", 12)\nstd::print(std::length(x))"), "12\n");
  EXPECT_EQ(compiled("std::print(std::password(\"id\") == std::generate_password(\"id\"))"),
            "True\n");
  expect_in(compiled("x = std::password(\"other\")"), "Password other does not exist");
}

}  // namespace
}  // namespace fettle::model
