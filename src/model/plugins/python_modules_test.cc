/// What public modules of Inmanta use beside plain plugins: aliases of types, references of their own,
/// entities, templates, and the places of files.

#include "base/process.h"
#include "tests/fixtures/model_project.h"

namespace fettle::model {
namespace {

class PythonModules : public ModelProject {
 protected:
  /// A module `m` of the first layout.
  void module(const std::string& plugins, const std::string& model = "") {
    write("libs/m/module.yml", "name: m\nversion: 1.0.0\nlicense: x\n");
    write("libs/m/model/_init.cf", model);
    write("libs/m/plugins/__init__.py",
          cat("import typing\nfrom inmanta.plugins import *\n", plugins));
  }
};

/// The names of `inmanta` that public modules use, in 128 files, without the real package.
TEST(InmantaNames, ArePresentWithoutTheOriginal) {
  const ProcessResult run =
      *run_process({.arguments = {find_program("python3").string(), "-S", "-c", R"py(
import importlib, sys
sys.path.insert(0, sys.argv[1])
missing, count = [], 0
for line in open(sys.argv[2]):
    count += 1
    path, *name = line.split()
    try:
        if name:
            made = importlib.import_module(path)
            hasattr(made, name[0]) or importlib.import_module(f"{path}.{name[0]}")
        else:
            first, *steps = path.split(".")
            made, so_far = importlib.import_module(first), first
            for step in steps:
                so_far += "." + step
                made = getattr(made, step) if hasattr(made, step) else importlib.import_module(so_far)
    except Exception as error:
        missing.append(f"{line.strip()}: {error}")
print(count, *missing, sep="\n")
)py",
                                  FETTLE_SOURCE_DIR "/python",
                                  FETTLE_SOURCE_DIR "/tests/model/recorded/inmanta_names.txt"},
                    .environment = {{"PYTHONDONTWRITEBYTECODE", "1"}}},
                   {});
  EXPECT_EQ(run.output, "120\n") << run.errors;
}

TEST_F(PythonModules, AliasesOfTypesAreFollowed) {
  // `type` is a statement since Python 3.12; older ones have no such alias.
  module(
      "import sys\n"
      "if sys.version_info >= (3, 12):\n"
      "    exec('type Host = typing.Annotated[object, ModelType[\"m::Host\"]]\\n'\n"
      "         'type Many[T] = list[T]\\ntype Hosts = list[Host]')\n"
      "else:\n"
      "    Host = typing.Annotated[typing.Any, ModelType['m::Host']]\n"
      "    Many, Hosts = typing.List, typing.List[Host]\n"
      "@plugin\ndef name(host: Host) -> str:\n    return host.name\n"
      "@plugin\ndef names(hosts: Hosts) -> Many[str]:\n    return [one.name for one in hosts]\n",
      "entity Host:\n  string name\nend\nimplement Host using std::none\n");
  EXPECT_EQ(
      compiled("import m\nh = m::Host(name=\"h\")\nstd::print([m::name(h), m::names([h])])\n"),
      "['h', 'h']\n");
  expect_in(compiled("import m\nx = m::name(1)\n"), "Expected type: m::Host");
}

constexpr const char* reference_classes = R"(
from inmanta.references import Reference, reference
@reference("m::Joined")
class Joined(Reference[str]):
    def __init__(self, first: str | Reference[str], second: str | Reference[str]):
        super().__init__()
        self.first, self.second = first, second
    def resolve(self, logger):
        return self.resolve_other(self.first, logger) + self.resolve_other(self.second, logger)
@plugin
def joined(first: str | Reference[str], second: str | Reference[str]) -> Joined:
    return Joined(first, second)
@plugin
def number() -> Reference[int]:
    return Joined("a", "b")
@plugin
def resolved(value: str | Reference[str]) -> str:
    return value.resolve(None) if isinstance(value, Reference) else value
@plugin
def first(value: str | Reference[str]) -> str | Reference[str]:
    return value.first
@plugin
def length(value: str) -> int:
    return len(value)
)";

TEST_F(PythonModules, ReferencesOfTheirOwnClassesAreValues) {
  module(reference_classes,
         "entity Box:\n  string text\n  int number = 0\nend\nimplement Box using std::none\n");
  const std::string model =
      "import m\nname = std::create_environment_reference(\"FETTLE_TEST_NAME\")\n"
      "r = m::joined(name, \"!\")\n";
  EXPECT_EQ(compiled(cat(model,
                         "std::print(r)\n"
                         "std::print([r == m::joined(name, \"!\"), r == m::joined(name, \"?\")])\n"
                         "std::print(m::first(r) == name)\n"
                         "std::print(m::resolved(m::joined(m::joined(\"a\", \"b\"), \"c\")))\n"
                         "b = m::Box(text=r)\nb.text = m::joined(name, \"!\")\n")),
            "<inmanta_plugins.m.Joined object>\n[True, False]\nTrue\nabc\n");
  expect_in(compiled(cat(model, "x = m::length(r)\n")), "is a reference");
  expect_in(compiled(cat(model, "x = m::Box(text=\"\", number=r)\n")), "Reference[int]");
  expect_in(compiled(cat(model, "x = m::number()\n")), "Expected type: Reference[int]");
}

TEST_F(PythonModules, UnknownsAndReferencesStayWhatTheyAre) {
  module(
      "from inmanta.execute.util import Unknown\n"
      "@plugin\ndef plain(a: 'any') -> 'any':\n    return 'never'\n"
      "@plugin\ndef inner(a: 'list') -> 'any':\n    return a[0]\n"
      "@plugin\ndef count(a: 'list') -> 'int':\n    return len(a)\n"
      "@plugin(allow_unknown=True)\ndef takes(a: 'any') -> 'string':\n"
      "    return 'unknown' if isinstance(a, Unknown) else 'known'\n"
      "@plugin\ndef passed(a: 'Reference[string] | string') -> 'Reference[string] | string':\n"
      "    return a\n");
  const std::string model =
      "import m\nu = std::get_env(\"FETTLE_NO_SUCH_VARIABLE\")\n"
      "r = std::create_environment_reference(\"X\")\n";
  EXPECT_EQ(compiled(cat(model,
                         "std::print([std::is_unknown(m::plain(u)), "
                         "std::is_unknown(m::inner([u, 1])), m::count([u, 1]), m::takes(u), "
                         "m::takes(1), m::passed(r) == r])\n")),
            "[True, True, 2, 'unknown', 'known', True]\n");
  expect_in(compiled(cat(model, "x = m::count(r)\n")), "is a reference");
  expect_in(compiled(cat(model, "x = m::inner([r])\n")), "unexpected reference");
}

TEST_F(PythonModules, EntitiesTellTheirAttributesAndIndexes) {
  module(R"(
from inmanta.ast.attribute import RelationAttribute
@plugin
def look(item: "m::Item") -> list:
    entity = item._type()
    owner = entity.get_attribute("owner")
    assert isinstance(owner, RelationAttribute) and owner.end.entity is owner.type
    return [
        entity.get_full_name(), [str(one) for one in entity.parent_entities],
        sorted(entity.attributes), sorted(entity.get_all_attribute_names()),
        entity.get_indices(), [owner.end.name, str(owner.type), owner.end.is_multi()],
        [owner.is_optional(), owner.is_multi()],
        [entity.get_attribute("sizes").is_multi(), entity.get_attribute("note").is_optional()],
        entity.get_attribute("nothing") is None,
    ]
)",
         "entity Named:\n  string name\nend\n"
         "entity Item extends Named:\n  int[] sizes = []\n  string? note = null\nend\n"
         "entity Owner:\nend\nimplement Item using std::none\nimplement Owner using std::none\n"
         "Item.owner [1] -- Owner.items [0:]\nindex Item(owner, name)\n");
  EXPECT_EQ(compiled("import m\nstd::print(m::look(m::Item(name=\"a\", owner=m::Owner())))\n"),
            "['m::Item', ['m::Named'], ['note', 'owner', 'sizes'], "
            "['name', 'note', 'owner', 'provides', 'requires', 'sizes'], [['name', 'owner']], "
            "['items', 'm::Owner', True], [False, False], [True, True], True]\n");
}

TEST_F(PythonModules, FilesAreThoseOfTheProjectAndOfModules) {
  module(R"(
from inmanta.module import Project
from inmanta_plugins.std import get_file_content
@plugin
def text(ctx: Context, path: str) -> str:
    return get_file_content(ctx, "files", path)
@plugin
def names() -> list[str]:
    return sorted(Project.get().modules)
)",
         "here = text(\"./a.txt\")\n");
  write("libs/m/files/a.txt", "of the module");
  write("files/a.txt", "of the project");
  EXPECT_EQ(
      compiled("import m\nstd::print([m::text(\"/a.txt\"), m::text(\"m/a.txt\"), m::here])\n"),
      "['of the project', 'of the module', 'of the module']\n");
  EXPECT_EQ(compiled("import m\nstd::print(m::names())\n"), "['m']\n");
  expect_in(compiled("import m\nx = m::text(\"n/a.txt\")\n"),
            "Module n does not exist for path n/a.txt");
}

TEST_F(PythonModules, PluginsCallOthersAsFilters) {
  module(R"(
from inmanta_plugins.std import JinjaDynamicProxy
@plugin
def loud(ctx: Context, text: str) -> str:
    return text.upper()
@plugin
def render(ctx: Context, host: "m::Host") -> list:
    filters = ctx.get_compiler().get_plugins()
    called = filters["m::loud"]
    assert called._context == 0
    args = CheckedArgs(args=[ctx, "abc"], kwargs={}, unknowns=False)
    seen = JinjaDynamicProxy.return_value(host)
    return [
        called.call_in_context(args, ctx.resolver, ctx.queue, None), called(ctx, "def"),
        seen.name, [one.name for one in seen.parts], type(seen.parts).__name__,
        ctx.owner.namespace.get_full_name(),
    ]
@plugin
def resolve(ctx: Context) -> str:
    return ctx.resolver.lookup("x")
@plugin
def show(host: "m::Host") -> str:
    seen = JinjaDynamicProxy.return_value(host)
    return str(seen.note) + seen.name
)",
         "entity Host:\n  string name\n  string? note = null\nend\nimplement Host using std::none\n"
         "Host.parts [0:] -- Host\nHost.next [0:1] -- Host\n");
  EXPECT_EQ(compiled("import m\nh = m::Host(name=\"h\", parts=m::Host(name=\"p\"))\n"
                     "std::print(m::render(h))\n"),
            "['ABC', 'DEF', 'h', ['p'], 'JinjaSequenceProxy', '__config__']\n");
  expect_in(compiled("import m\nx = m::resolve()\n"),
            "Context.resolver.lookup is not possible in fettle");
  expect_in(
      compiled("import m\nx = m::show(m::Host(name=std::create_environment_reference(\"X\")))\n"),
      "unexpected reference");
}

TEST_F(PythonModules, FinalizersAreCalledAtTheEndOfTheCompile) {
  module(R"(
from inmanta.compiler import finalizer
asked = []
@plugin
def ask(what: str) -> str:
    asked.append(what)
    return what
@finalizer
def tell():
    print("asked: " + " ".join(sorted(asked)))
    if "nothing" in asked:
        raise ValueError("nothing was asked")
)");
  EXPECT_EQ(compiled("import m\nx = m::ask(\"a\")\ny = m::ask(\"b\")\n"), "asked: a b\n");
  EXPECT_EQ(compiled("import m\nx = m::ask(\"nothing\")\n"),
            "asked: nothing\nerror: Finalizer failed: nothing was asked\n");
  EXPECT_EQ(compiled("import m\n"), "");
}

TEST_F(PythonModules, ModulesThatImportAnotherAreLoadedWithIt) {
  module("known = []\n@plugin\ndef names() -> list[str]:\n    return sorted(known)\n");
  write("libs/n/module.yml", "name: n\nversion: 1.0.0\nlicense: x\n");
  write("libs/n/model/_init.cf", "");
  write("libs/n/plugins/__init__.py", "from inmanta_plugins import m\nm.known.append('n')\n");
  EXPECT_EQ(compiled("import m\nimport n\nstd::print(m::names())\n"), "['n']\n");
  EXPECT_EQ(compiled("import m\nstd::print(m::names())\n"), "[]\n");
}

TEST_F(PythonModules, PatternsThatLookAroundAreMatched) {
  write("libs/unused", "");
  const auto fits = [&](const std::string& pattern, const std::string& text) {
    return compiled(cat("std::print(std::validate_type(\"pydantic.constr\", \"", text,
                        "\", {\"regex\": r\"", pattern, "\"}))\n"));
  };
  EXPECT_EQ(fits("^(?!-)[a-z-]+(?<!-)$", "a-b"), "True\n");
  EXPECT_EQ(fits("^(?!-)[a-z-]+(?<!-)$", "-a"), "False\n");
  EXPECT_EQ(fits("^(?!-)[a-z-]+(?<!-)$", "a-"), "False\n");
  expect_in(fits("(?!", "a"), "re.PatternError: missing ), unterminated subpattern");
  expect_in(fits("(", "a"), "re.PatternError: missing ): (");
}

}  // namespace
}  // namespace fettle::model
