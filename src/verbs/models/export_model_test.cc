/// Whole exports: a project on disk, compiled, and pushed to a real store.

#include "verbs/models/export_model.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "store/sqlite_store.h"
#include "tests/fixtures/memory_blobs.h"
#include "value/json.h"
#include "workplace/settings.h"

namespace fettle {
namespace {

class ExportTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = open_sqlite_store(":memory:");
    ASSERT_TRUE(opened.has_value()) << to_string(opened.error());
    store_ = std::move(*opened);
    place_.store = store_.get();
    place_.clock = [] { return Time(); };
    place_.random = [this] { return ++random_; };
    place_.interrupt = &interrupt_;
    place_.blobs = &blobs_;
    folder_ = std::make_unique<TemporaryDirectory>(*TemporaryDirectory::make());
  }

  std::string send(ExportRequest request) {
    model::CompileOptions options;
    options.warn = [this](const Error& warning) { warnings_.push_back(warning.message); };
    options.print = [this](std::string_view line) { printed_.emplace_back(line); };
    const Result<ExportReport> report = export_to_store(place_, std::move(request), options);
    if (!report)
      return to_string(report.error());
    if (!report->errors.empty())
      return report->errors.front().message;
    return cat("v", report->pushed.number);
  }

  /// Writes a main file over declarations of a `Thing` in sets, and exports it.
  std::string send_text(const std::string& text, ExportRequest request = {}) {
    const Path main = folder_->path() / "main.cf";
    EXPECT_TRUE(write_file(main, cat("import std::testing\n", text)).has_value());
    request.main_file = main.string();
    request.environment = "e";
    return send(std::move(request));
  }

  std::vector<std::string> ids(const Name& environment) {
    std::vector<std::string> found;
    const Result<WholeVersion> whole = read_version(place_, environment, std::nullopt);
    for (const WholeItem& one : whole->items)
      found.push_back(cat(one.set, " ", one.item.id, " ", to_text(one.item.attributes)));
    return found;
  }

  static constexpr const char* thing_ = "std::testing::NullResource";
  static ExportRequest partial(std::vector<std::string> removed = {}, bool soft = false) {
    ExportRequest request;
    request.is_partial = true;
    request.removed_sets = std::move(removed);
    request.soft_delete = soft;
    return request;
  }

  std::unique_ptr<Store> store_;
  std::unique_ptr<TemporaryDirectory> folder_;
  Workplace place_;
  Interrupt interrupt_;
  MemoryBlobs blobs_;
  uint64_t random_ = 0;
  std::vector<std::string> warnings_, printed_;
};

const std::string networks = FETTLE_SOURCE_DIR "/examples/networks/";

TEST_F(ExportTest, S29TheNetworksExampleIsWhatOneCompileOfEverythingGives) {
  ExportRequest request;
  request.main_file = networks + "main.cf";
  ASSERT_EQ(send(request), "v1");
  EXPECT_EQ(ids("networks").size(), 5001u);
  request.main_file = networks + "partial.cf";
  request.is_partial = true;
  ASSERT_EQ(send(request), "v2");
  const Result<std::vector<ItemDifference>> found = diff_versions(place_, "networks", 1, 2);
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ((*found)[i].type, ItemDifference::Type::removed);
    EXPECT_EQ((*found)[i].id, cat("__config__::Host[host_agent,full_number=0-", i + 1, "]"));
  }
  request.main_file = networks + "comparable.cf";
  request.is_partial = false;
  request.environment = "comparable";
  ASSERT_EQ(send(request), "v1");
  EXPECT_EQ(ids("networks"), ids("comparable"));
  EXPECT_TRUE(check_version(place_, "networks", std::nullopt)->empty());
  EXPECT_TRUE(warnings_.empty()) << warnings_.front();
}

/// The models of the example with attributes named `id`, as models of Inmanta's users have them.
TEST_F(ExportTest, S29TheSameModelsThatCountById) {
  ASSERT_TRUE(make_directories(folder_->path() / "resources").has_value());
  const auto copy = [&](const std::string& name) {
    const std::string text = read_file(networks + name).value();
    const bool is_model = name.ends_with(".cf");
    const Path to = folder_->path() / name;
    EXPECT_TRUE(write_file(to, is_model ? replace_all(text, "number", "id") : text).has_value());
    return to.string();
  };
  copy("resources/hosts.star");
  ExportRequest request;
  request.environment = "ids";
  request.main_file = copy("main.cf");
  ASSERT_EQ(send(request), "v1");
  EXPECT_EQ(ids("ids").size(), 5001u);
  request.main_file = copy("partial.cf");
  request.is_partial = true;
  ASSERT_EQ(send(request), "v2");
  EXPECT_EQ(diff_versions(place_, "ids", 1, 2)->size(), 4u);
  request.main_file = copy("comparable.cf");
  request.is_partial = false;
  request.environment = "comparable";
  ASSERT_EQ(send(request), "v1");
  EXPECT_EQ(ids("ids"), ids("comparable"));
  EXPECT_TRUE(warnings_.empty()) << warnings_.front();
}

TEST_F(ExportTest, S25SoftDeleteKeepsWhatIsExported) {
  const std::string both =
      cat("std::ResourceSet(name=\"a\", resources=", thing_,
          "(name=\"1\"))\nstd::ResourceSet(name=\"b\", resources=", thing_, "(name=\"2\"))\n");
  const std::string one = cat("std::ResourceSet(name=\"a\", resources=", thing_, "(name=\"1\"))\n");
  ASSERT_EQ(send_text(both), "v1");
  EXPECT_NE(send_text(one, partial({"a", "b"})).find("removed resource sets"), std::string::npos);
  EXPECT_EQ(send_text(one, partial({"a", "b"}, true)), "v2");
  ASSERT_EQ(ids("e").size(), 1u);
  EXPECT_TRUE(ids("e")[0].starts_with("a std::testing::NullResource[internal,name=1]"));
  ExportRequest full;
  full.removed_sets = {"a"};
  EXPECT_EQ(send_text(one, full), "Cannot remove resource sets when a full compile was done");
}

TEST_F(ExportTest, ASetThatIsGoneIsDeletedAlreadyWhateverOthersAreCalled) {
  const std::string one =
      cat("std::ResourceSet(name=\"net-a\", resources=", thing_, "(name=\"1\"))\n");
  ASSERT_EQ(send_text(one), "v1");
  EXPECT_EQ(send_text("", partial({"net-b"})), "v2");
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_NE(warnings_[0].find("has no set `net-b` to delete"), std::string::npos) << warnings_[0];
  EXPECT_EQ(ids("e").size(), 1u);
}

TEST_F(ExportTest, APartialExportDoesNotChangeTheCodeOfOthersUnlessToldSo) {
  const auto handler = [&](const std::string& more) {
    const std::string text =
        cat("def read(r): return None\ndef create(r): pass\n"
            "def update(r, c): pass\ndef delete(r): pass\n",
            more);
    EXPECT_TRUE(make_directories(folder_->path() / "handlers"));
    EXPECT_TRUE(make_directories(folder_->path() / "resources"));
    EXPECT_TRUE(write_file(folder_->path() / "handlers/box.star", text));
    EXPECT_TRUE(write_file(folder_->path() / "resources/box.star",
                           "resource(entity = \"Box\", id_attribute = \"name\", agent = "
                           "\"agent\", fields = [\"name\"], handler = \"box\")\n"));
  };
  const std::string box =
      "entity Box extends std::Resource:\n string name\n string agent = \"a\"\nend\n"
      "implement Box using std::none\nindex Box(name)\n"
      "std::ResourceSet(name=\"a\", resources=Box(name=\"b\"))\n";
  handler("");
  ASSERT_EQ(send_text(box), "v1");
  EXPECT_EQ(send_text(box, partial()), "v2");
  handler("# other\n");
  EXPECT_NE(send_text(box, partial()).find("version mismatch for modules: __config__::Box"),
            std::string::npos);
  ExportRequest told = partial();
  told.may_change_code = true;
  EXPECT_EQ(send_text(box, told), "v3");
  EXPECT_EQ(send_text(box, partial()), "v4");
}

TEST_F(ExportTest, AResourceWithoutADeclaredTypeIsAnErrorUnlessAllowed) {
  const std::string silent =
      "entity Silent extends std::Resource:\nend\nimplement Silent using std::none\nSilent()\n";
  const std::string said = send_text(silent);
  EXPECT_TRUE(
      said.starts_with("1 resource is of a type that is not declared, so nothing would "
                       "deploy it (__config__::Silent); "))
      << said;
  EXPECT_TRUE(said.ends_with("`--allow-undeclared`")) << said;
  EXPECT_TRUE(store_->versions().heads("e")->empty());
  ExportRequest allowed;
  allowed.allows_undeclared = true;
  EXPECT_EQ(send_text(silent, allowed), "v1");
}

class PythonExportTest : public ExportTest {
 protected:
  void SetUp() override {
    ExportTest::SetUp();
    for (const char* part : {"model", "plugins"})
      ASSERT_TRUE(make_directories(shop() / part));
    EXPECT_TRUE(write_file(folder_->path() / "project.yml", "name: e\nmodulepath: libs\n"));
    EXPECT_TRUE(write_file(shop() / "module.yml", "name: shop\nversion: 1.0.0\nlicense: x\n"));
    EXPECT_TRUE(write_file(shop() / "model/_init.cf", R"(
entity Box extends std::PurgeableResource:
    string name
    int size = 1
    string? text = null
    dict extra = {}
end
implement Box using std::none
index Box(name)
Box.parts [0:] -- Part.box [0:1]
entity Part:
    string name
end
implement Part using std::none
)"));
  }
  Path shop() const { return folder_->path() / "libs/shop"; }

  /// Exports with classes of resources, behind the imports.
  std::string send_python(const std::string& python, const std::string& text,
                          ExportRequest request = {}) {
    EXPECT_TRUE(write_file(shop() / "plugins/__init__.py",
                           cat("from inmanta.resources import *\n"
                               "from inmanta.agent.handler import *\n"
                               "from inmanta.export import dependency_manager\n",
                               python)));
    return send_text(cat("import shop\n", text), std::move(request));
  }
  std::string fields(size_t i) {
    const Result<WholeVersion> whole = read_version(place_, "e", std::nullopt);
    return i < whole->items.size() ? to_text(whole->items[i].item.attributes) : "-";
  }
  std::string needs(size_t i) {
    std::string text;
    const Result<WholeVersion> whole = read_version(place_, "e", std::nullopt);
    for (const Name& need : whole->items.at(i).item.needs)
      text += cat(need, " ");
    return text;
  }

  static constexpr const char* box_ = R"(
@resource("shop::Box", agent="name", id_attribute="name")
class Box(PurgeableResource):
    fields = ("name", "size", "text", "parts", "extra")
    map = {"text": lambda exporter, box: (box.text or "none").upper()}

    @staticmethod
    def get_parts(exporter, box):
        return [part.name + "/" + part.box.name for part in box.parts]

    @staticmethod
    def get_size(exporter, box):
        if box.size < 0:
            raise IgnoreResourceException()
        if box.size == 99:
            raise ValueError("too large")
        return box.size
)";
};

TEST_F(PythonExportTest, SerializersReadTheModel) {
  ASSERT_EQ(send_python(box_, R"(
a = shop::Box(name="a", text="x", parts=[shop::Part(name="p"), shop::Part(name="q")],
              extra={"z": [1, 2.5], "b": null})
shop::Box(name="b", size=-1)
shop::Box(name="c", requires=a)
)"),
            "v1");
  ASSERT_EQ(ids("e").size(), 2u);
  EXPECT_EQ(*read_json(fields(0)), *read_json(R"({
    "name": "a", "size": 1, "text": "X", "parts": ["p/a", "q/a"], "extra": {"z": [1, 2.5], "b": null},
    "purged": false, "purge_on_delete": false, "send_event": true, "receive_events": true,
    "report_only": false, "references": [], "mutators": []})"));
  EXPECT_EQ(needs(1), "shop::Box[a,name=a] ");
}

TEST_F(PythonExportTest, ReferencesOfModulesAreExported) {
  const char* const joined = R"(
from inmanta.plugins import plugin
from inmanta.references import Reference, reference
@reference("shop::Joined")
class Joined(Reference[str]):
    def __init__(self, first, second):
        super().__init__()
        self.first, self.second = first, second
    def resolve(self, logger):
        return self.resolve_other(self.first, logger) + self.second
@plugin
def joined(first: str | Reference[str], second: str) -> Joined:
    return Joined(first, second)
)";
  const char* const model = R"(
shop::Box(name="a", text=shop::joined(std::create_environment_reference("NAME"), "!"))
)";
  const char* const box = R"(
@resource("shop::Box", agent="name", id_attribute="name")
class Box(PurgeableResource):
    fields = ("name", "text")
)";
  const auto made = [&] {
    const Result<Value> all = read_json(fields(0));
    return cat(write_json(all->at("text")), " ", write_json(all->at("references")), " ",
               write_json(all->at("mutators")));
  };
  ASSERT_EQ(send_python(cat(joined, box), model), "v1");
  const std::string by_python = made();
  EXPECT_NE(by_python.find("\"type\":\"shop::Joined\""), by_python.npos) << by_python;
  EXPECT_NE(by_python.find("\"type\":\"std::Environment\""), by_python.npos) << by_python;
  EXPECT_TRUE(by_python.starts_with("null ")) << by_python;
  ASSERT_TRUE(make_directories(folder_->path() / "resources"));
  ASSERT_TRUE(write_file(folder_->path() / "resources/box.star",
                         "resource(entity = \"shop::Box\", id_attribute = \"name\", agent = "
                         "\"name\", fields = [\"name\", \"text\"])\n"));
  ASSERT_EQ(send_python(joined, model), "v2");
  EXPECT_EQ(made(), by_python);
}

TEST_F(PythonExportTest, WhatIsUnknownIsUndefinedOrLeftOut) {
  ASSERT_EQ(send_python(box_, R"(
u = std::getfact(shop::Box(name="a"), "fact")
shop::Box(name=u)
shop::Box(name="c", text=u)
)"),
            "v1");
  const Result<WholeVersion> whole = read_version(place_, "e", std::nullopt);
  ASSERT_EQ(whole->items.size(), 2u);
  EXPECT_FALSE(whole->items[0].item.is_undefined);
  EXPECT_TRUE(whole->items[1].item.is_undefined);
}

TEST_F(PythonExportTest, ReferencesOfTheModelHaveTheIdsOfTheOriginal) {
  ASSERT_EQ(send_python(R"(
@resource("shop::Box", agent="name", id_attribute="name")
class Box(PurgeableResource):
    fields = ("name", "text", "extra")
)",
                        R"(
home = std::create_environment_reference("HOME")
shop::Box(name="x", text=home, extra={"a'b": [{"c": home}]})
)"),
            "v1");
  const Value x = *read_json(fields(0));
  EXPECT_TRUE(x.at("text").is_null());
  EXPECT_EQ(x.at("extra"), *read_json(R"({"a'b": [{"c": null}]})"));
  EXPECT_EQ(x.at("references"), *read_json(R"([{"type": "std::Environment", "args": [
      {"type": "literal", "name": "name", "value": "HOME"}],
      "id": "1db97cff-304a-3f5c-990a-f38282edb126"}])"));
  std::vector<std::string> places;
  for (const Value& mutator : x.at("mutators").items()) {
    EXPECT_EQ(mutator.text_at("type"), "core::Replace");
    EXPECT_EQ(mutator.at("args").items()[1].text_at("id"), "1db97cff-304a-3f5c-990a-f38282edb126");
    places.emplace_back(mutator.at("args").items()[2].text_at("value"));
  }
  std::ranges::sort(places);
  EXPECT_EQ(places, (std::vector<std::string>{"extra.'a\\'b'[0].'c'", "text"}));
}

TEST_F(PythonExportTest, AManagerOfDependenciesChangesNeeds) {
  const std::string managed = cat(box_, R"(
@dependency_manager
def order(model, resources):
    for box in model["shop::Box"].get_all_instances():
        assert box.name in ("a", "b")
    assert "shop::Nothing" not in model
    a = next(one for one in resources.values() if one.name == "a")
    b = next(one for one in resources.values() if one.name == "b")
    a.requires.add(str(b.id))
)");
  ASSERT_EQ(send_python(managed, "shop::Box(name=\"a\")\nshop::Box(name=\"b\")\n"), "v1");
  EXPECT_EQ(needs(0), "shop::Box[b,name=b] ");
  const std::string said = send_python(cat(box_, R"(
@dependency_manager
def order(model, resources):
    for one in resources.values():
        one.requires.add("shop::Box[z,name=z]")
)"),
                                       "shop::Box(name=\"a\")\n");
  EXPECT_EQ(
      said,
      "a dependency manager lets shop::Box[a,name=a] require shop::Box[z,name=z], which is no "
      "resource of the model");
}

/// As in Inmanta, functions of `@export` are called if the settings have their names.
TEST_F(PythonExportTest, FunctionsOfExportAreCalledByName) {
  const std::string functions = cat(box_, R"(
from inmanta.export import export

@export("list", "shop::Box", "shop::Part")
def write_list(exporter, types):
    print(sorted(box.name for box in types["shop::Box"]), len(types["shop::Part"]),
          "shop::Part" in exporter.types)

@export("all")
def count(exporter):
    print(len(exporter._resources))
)");
  const std::string model = "shop::Box(name=\"a\")\nshop::Box(name=\"b\")\n";
  EXPECT_EQ(send_python(functions, model), "v1");
  EXPECT_EQ(printed_, std::vector<std::string>{});
  ASSERT_EQ(setenv("INMANTA_CONFIG_EXPORT", "list, all", 1), 0);
  EXPECT_EQ(send_python(functions, model).substr(0, 1), "v");
  EXPECT_EQ(printed_, (std::vector<std::string>{"['a', 'b'] 0 True", "2"}));
  ASSERT_EQ(setenv("INMANTA_CONFIG_EXPORT", "nothing", 1), 0);
  const std::string said = send_python(functions, model);
  ASSERT_EQ(unsetenv("INMANTA_CONFIG_EXPORT"), 0);
  EXPECT_NE(said.find("Export function nothing does not exist."), std::string::npos) << said;
}

TEST_F(PythonExportTest, AManagerThatMayBeInABrokenModuleEndsTheExport) {
  ASSERT_TRUE(write_file(shop() / "plugins/orders.py",
                         "from inmanta.export import dependency_manager\n"
                         "import nothing_of_that_name\n@dependency_manager\n"
                         "def order(model, resources): pass\n"));
  const std::string said = send_python(box_, "shop::Box(name=\"a\")\n");
  for (const char* part : {"the Python of module shop cannot be loaded", "nothing_of_that_name"})
    EXPECT_NE(said.find(part), std::string::npos) << said;
}

TEST_F(PythonExportTest, WhatIsPrintedIsShownBeforeAFailure) {
  const std::string said = send_python(
      cat(box_, "def broken(e, b):\n    print('looking')\n    1 / 0\nBox.get_text = broken\n"),
      "shop::Box(name=\"a\")\n");
  EXPECT_NE(said.find("ZeroDivisionError"), std::string::npos) << said;
  EXPECT_EQ(printed_, std::vector<std::string>{"looking"});
}

TEST_F(PythonExportTest, WhatFailsIsNamedWithItsPlaceAndNothingIsStored) {
  std::string said = send_python(box_, "shop::Box(name=\"a\", size=99)\n");
  for (const char* part :
       {"exporting the shop::Box of ", "main.cf:3:1", "Failed to get attribute 'size'",
        "ValueError: too large", "in get_size"})
    EXPECT_NE(said.find(part), std::string::npos) << said;
  said = send_python(
      "import nothing_of_that_name\n@resource(\"shop::Box\", \"name\", \"name\")\n"
      "class Box(Resource): pass\n",
      "shop::Box(name=\"a\")\n");
  for (const char* part : {"the resources of type shop::Box cannot be exported: ",
                           "the Python of module shop cannot be loaded", "nothing_of_that_name"})
    EXPECT_NE(said.find(part), std::string::npos) << said;
  said = send_python(
      "@resource(\"shop::Box\", \"name\", \"name\")\n"
      "class Box(Resource):\n    fields = (\"id\",)\n",
      "shop::Box(name=\"a\")\n");
  EXPECT_NE(said.find("Resource id is a reserved keyword"), std::string::npos) << said;
  said =
      send_python(cat(box_, "import os\nBox.get_text = staticmethod(lambda e, b: os._exit(3))\n"),
                  "shop::Box(name=\"a\")\n");
  EXPECT_NE(said.find("exited with code 3"), std::string::npos) << said;
  EXPECT_TRUE(store_->versions().heads("e")->empty());
}

TEST_F(PythonExportTest, ADeclarationInStarlarkWinsAndStartsNoPython) {
  ASSERT_TRUE(make_directories(shop() / "resources"));
  ASSERT_TRUE(write_file(shop() / "resources/box.star",
                         "resource(entity = \"Box\", id_attribute = \"name\", agent = \"name\", "
                         "fields = [\"name\"])\n"));
  EXPECT_EQ(send_python(cat(box_, "raise Exception(\"it runs\")\n"), "shop::Box(name=\"a\")\n"),
            "v1");
  EXPECT_EQ(fields(0).find("size"), std::string::npos);
}

TEST_F(PythonExportTest, AVersionKeepsTheCodeOfItsHandlersAndContents) {
  const std::string python = cat(box_, R"(
Box.get_text = staticmethod(lambda exporter, box: exporter.upload_file("content of " + box.name))

@provider("shop::Box")
class Handler(CRUDHandler):
    pass
)");
  ASSERT_EQ(send_python(python, "shop::Box(name=\"a\")\n"), "v1");
  const Result<WholeVersion> whole = read_version(place_, "e", std::nullopt);
  const Value& handler = whole->head.detail.at("handlers").at("shop::Box");
  EXPECT_FALSE(handler.text_at("interpreter").empty());
  const std::string code = *read_blob(blobs_, handler.text_at("code"), 1 << 20);
  EXPECT_NE(read_json(code)->at("modules").text_at("shop/__init__.py").find("content of"),
            std::string_view::npos);
  const std::string sha1(read_json(fields(0))->text_at("text"));
  const Value& files = whole->head.detail.at("files");
  EXPECT_EQ(*read_blob(blobs_, files.text_at(sha1), 1 << 20), "content of a");
  // A partial export with other code is refused.
  ExportRequest partial;
  partial.is_partial = true;
  EXPECT_NE(send_python(cat(python, "# other\n"), "shop::Box(name=\"a\")\n", partial)
                .find("version mismatch for modules: shop::Box"),
            std::string::npos);
}

TEST_F(ExportTest, S26AResourceInTwoSets) {
  const std::string said =
      send_text(cat("x = ", thing_, "(name=\"1\")\nstd::ResourceSet(name=\"a\", resources=x)\n",
                    "std::ResourceSet(name=\"b\", resources=x)\n"));
  EXPECT_NE(said.find("can not be part of multiple ResourceSets: a"), std::string::npos) << said;
  EXPECT_NE(said.find("and b"), std::string::npos) << said;
}

TEST_F(ExportTest, S27AMemberThatIsNotExportedIsToldOf) {
  ExportRequest allowed;
  allowed.allows_undeclared = true;
  EXPECT_EQ(send_text(cat("entity Silent extends std::Resource:\nend\n",
                          "implement Silent using std::none\nstd::ResourceSet(name=\"a\", "
                          "resources=[Silent(), ",
                          thing_, "(name=\"1\")])\n"),
                      allowed),
            "v1");
  ASSERT_FALSE(warnings_.empty());
  EXPECT_NE(join(warnings_, "\n").find("of type __config__::Silent in ResourceSets (`a`)"),
            std::string::npos)
      << join(warnings_, "\n");
  EXPECT_EQ(ids("e").size(), 1u);
}

TEST_F(ExportTest, S28AnEmptySetDeletesItself) {
  ASSERT_EQ(send_text(cat("std::ResourceSet(name=\"a\", resources=", thing_,
                          "(name=\"1\"))\nstd::ResourceSet(name=\"b\", resources=", thing_,
                          "(name=\"2\"))\n")),
            "v1");
  EXPECT_EQ(send_text("std::ResourceSet(name=\"a\")\n", partial()), "v2");
  EXPECT_EQ(ids("e").size(), 1u);
}

TEST_F(ExportTest, ASetOfWhichNothingIsExportedIsAnErrorInAPartial) {
  ASSERT_EQ(send_text(cat(thing_, "(name=\"1\")\n")), "v1");
  const std::string hollow =
      cat("std::ResourceSet(name=\"a\", resources=", thing_, "(name=\"2\", managed=false))\n");
  const std::string refused = send_text(hollow, partial());
  EXPECT_TRUE(
      refused.starts_with("the set `a` has members, but none of them is exported; only a set "
                          "without members is deleted automatically ("))
      << refused;
  EXPECT_TRUE(refused.ends_with("main.cf:2:1)")) << refused;
  EXPECT_EQ(send_text(hollow), "v2");
}

TEST_F(ExportTest, AFailedCompileLeavesTheStoreAsItIs) {
  ASSERT_EQ(send_text(cat(thing_, "(name=\"1\")\n")), "v1");
  EXPECT_NE(send_text("x = y\n").find("y"), std::string::npos);
  EXPECT_EQ(store_->versions().heads("e")->size(), 1u);
}

TEST_F(ExportTest, ACheckFindsDependenciesBetweenSets) {
  const std::string crossed = cat("a = ", thing_, "(name=\"a\", requires=b)\nb = ", thing_,
                                  "(name=\"b\")\nstd::ResourceSet(name=\"one\", resources=a)\n"
                                  "std::ResourceSet(name=\"two\", resources=b)\n");
  ASSERT_EQ(send_text(crossed), "v1");
  const Result<std::vector<Finding>> found = check_version(place_, "e", std::nullopt);
  ASSERT_TRUE(found.has_value()) << to_string(found.error());
  const auto edge = std::ranges::find(*found, "dependency between sets", &Finding::rule);
  ASSERT_NE(edge, found->end());
  EXPECT_EQ(edge->set, "one");
  EXPECT_NE(edge->text.find("name=b] of set `two`"), std::string::npos) << edge->text;
  EXPECT_TRUE(edge->where.ends_with("main.cf:2:5")) << edge->where;
  EXPECT_NE(send_text(crossed, partial()).find("not suitable for partial compiles"),
            std::string::npos);
}

TEST_F(ExportTest, WithoutABaseAPartialExportMakesNoEnvironment) {
  EXPECT_EQ(send_text(cat(thing_, "(name=\"1\")\n"), partial()),
            "A partial export requires a base model but no versions have been exported yet.");
  EXPECT_TRUE(store_->environments()->empty());
}

/// Each error names the sets, the resources and the lines of the model, and changes nothing.
TEST_F(ExportTest, WhatIsRefusedNamesItsPlacesAndLeavesTheStoreAsItIs) {
  const auto set = [](const char* name, const char* members) {
    return cat("std::ResourceSet(name=\"", name, "\", resources=", members, ")\n");
  };
  const auto thing = [](const char* variable, const char* more) {
    return cat(variable, " = ", thing_, "(name=\"", variable, "\"", more, ")\n");
  };
  ASSERT_EQ(send_text(thing("a", "") + thing("b", "") + thing("s", "") + set("one", "a") +
                      set("two", "b")),
            "v1");
  const std::vector<std::string> before = ids("e");
  ASSERT_TRUE(write_file(folder_->path() / "project.yml",
                         "name: e\nmodulepath: libs\nenvironment_settings:\n"
                         "  auto_deploy: false\n")
                  .has_value());
  struct Row {
    std::string text;
    std::vector<std::string> said;
  };
  const std::vector<Row> rows{
      {thing("a", "") + set("three", "a"), {"name=a] moved from one to three", "main.cf:2:5"}},
      {thing("s", "") + set("three", "s"),
       {"Trying to move", "name=s] from no resource set to resource set three", "main.cf:2:5"}},
      {thing("s", ", value=\"other\"") + thing("a", "") + set("one", "a"),
       {"name=s]) without a resource set cannot be updated", "main.cf:2:5"}},
      {thing("a", ", requires=b") + thing("b", "") + set("one", "a") + set("two", "b"),
       {"name=a] and ", "name=b], but", "sets `one` and `two`", "main.cf:2:5 and ", "main.cf:3:5"}},
      {thing("a", ", requires=c") + thing("c", ", requires=a") + set("one", "[a, c]"),
       {"Dependency cycle: ", "name=a] -> ", "main.cf:2:5", "main.cf:3:5"}},
      {thing("a", "") + set("one", "a") + set("three", "a"),
       {"name=a]' can not be part of multiple ResourceSets: one (", "main.cf:3:1", "main.cf:4:1"}},
      {thing("a", "") + "a.value = 1\n", {"Could not set attribute `value`"}}};
  for (const Row& row : rows) {
    const std::string refused = send_text(row.text, partial());
    for (const std::string& piece : row.said)
      EXPECT_NE(refused.find(piece), refused.npos) << piece << "\n" << refused;
    EXPECT_EQ(ids("e"), before);
    EXPECT_EQ(store_->versions().heads("e")->size(), 1u);
    EXPECT_EQ(*setting(place_, "e", "auto_deploy"), "true");
  }
}

TEST_F(ExportTest, SettingsOfTheProjectAreThoseOfTheEnvironment) {
  ASSERT_TRUE(write_file(folder_->path() / "project.yml",
                         "name: e\nmodulepath: libs\nenvironment_settings:\n  auto_deploy: false\n"
                         "  nonsense: 1\n")
                  .has_value());
  ASSERT_EQ(send_text(cat(thing_, "(name=\"1\")\n")), "v1");
  EXPECT_EQ(*setting(place_, "e", "auto_deploy"), "false");
  EXPECT_FALSE(store_->versions().heads("e")->front().released.has_value());
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_TRUE(warnings_[0].starts_with("there is no setting `nonsense`"));
}

TEST_F(ExportTest, ContradictionsOfSharedInstancesNameBothSets) {
  const auto model = [](int id, const char* level) {
    return cat(R"(
entity Service:
    int id
end
index Service(id)
entity Shared:
    string name
    int level
end
index Shared(name)
implement Shared using std::none
implementation refine for Service:
    std::ResourceSet(name="s{{ self.id }}", resources=std::testing::NullResource(name="{{ self.id }}"))
    Shared(name="all", level=)",
               level, ")\nend\nimplement Service using refine\nService(id=", id, ")\n");
  };
  ASSERT_EQ(send_text(model(1, "1")), "v1");
  ASSERT_EQ(send_text(model(2, "1"), partial()), "v2");
  const std::string refused = send_text(model(2, "5"), partial());
  EXPECT_TRUE(
      refused.starts_with("Could not combine set `s2` with set `s1`: "
                          "__config__::Shared(name='all') has level = 5 in set `s2` ("))
      << refused;
  EXPECT_NE(refused.find("and level = 1 in set `s1` ("), std::string::npos) << refused;
  ASSERT_EQ(send_text("x = 1\n", partial({"s1"})), "v3");
  ASSERT_EQ(send_text(model(2, "5"), partial()), "v4") << "the sole contributor may change it";
}

}  // namespace
}  // namespace fettle
