/// Whole exports: a project on disk, compiled, and pushed to a real store.

#include "verbs/models/export_model.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "store/sqlite_store.h"
#include "tests/fixtures/memory_blobs.h"
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
  std::vector<std::string> warnings_;
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

TEST_F(ExportTest, AResourceThatIsDeclaredInPythonIsAnErrorThatNamesTheFile) {
  const Path shop = folder_->path() / "libs/shop";
  for (const char* part : {"model", "plugins"})
    ASSERT_TRUE(make_directories(shop / part));
  EXPECT_TRUE(write_file(folder_->path() / "project.yml", "name: e\nmodulepath: libs\n"));
  EXPECT_TRUE(write_file(shop / "module.yml", "name: shop\nversion: 1.0.0\nlicense: x\n"));
  EXPECT_TRUE(write_file(shop / "model/_init.cf",
                         "entity Box extends std::PurgeableResource:\n string name\nend\n"
                         "implement Box using std::none\n"));
  EXPECT_TRUE(write_file(shop / "plugins/__init__.py",
                         "@resource(\"shop::Box\", agent=\"agent\", id_attribute=\"name\")\n"
                         "class Box(PurgeableResource):\n    fields = (\"name\",)\n"));
  EXPECT_EQ(send_text("import shop\n"), "v1");
  const std::string said = send_text("import shop\nshop::Box(name=\"a\")\n");
  EXPECT_NE(said.find("shop::Box is declared in Python ("), std::string::npos) << said;
  EXPECT_NE(said.find("libs/shop/plugins/__init__.py"), std::string::npos) << said;
}

TEST_F(ExportTest, S26AResourceInTwoSets) {
  const std::string said =
      send_text(cat("x = ", thing_, "(name=\"1\")\nstd::ResourceSet(name=\"a\", resources=x)\n",
                    "std::ResourceSet(name=\"b\", resources=x)\n"));
  EXPECT_NE(said.find("can not be part of multiple ResourceSets: a"), std::string::npos) << said;
  EXPECT_NE(said.find("and b"), std::string::npos) << said;
}

TEST_F(ExportTest, S27AMemberThatIsNotExportedIsToldOf) {
  EXPECT_EQ(send_text(cat("entity Silent extends std::Resource:\nend\n",
                          "implement Silent using std::none\nstd::ResourceSet(name=\"a\", "
                          "resources=[Silent(), ",
                          thing_, "(name=\"1\")])\n")),
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
