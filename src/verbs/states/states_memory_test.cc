/// What states remember from run to run, and what of it a function is told.

#include "store/sqlite.h"
#include "store/sqlite_store.h"
#include "tests/fixtures/states_fixture.h"
#include "verbs/environments/explain.h"
#include "verbs/states/state_keys.h"

namespace fettle {
namespace {

class StatesMemoryTest : public StatesTest {};

TEST_F(StatesMemoryTest, MemoryCompletesWhatAFileLeavesOut) {
  put_state(R"(
def present(ctx, name, resource_id = None, size = 7):
    return {"result": True, "comment": "size=%s id=%s" % (size, resource_id), "old_state": ctx.old_state,
            "new_state": {"resource_id": "i-1", "size": size}, "changes": None}

def absent(ctx, name, resource_id = None):
    return {"result": True, "comment": "gone %s" % resource_id, "changes": {}}
)");
  EXPECT_EQ(comment(apply("a: {s.present: [{size: 9}]}\n"), "a"), R"("size=9 id=None")");
  executor_.restart();
  StatesReport report = apply("a: {s.present: []}\n");
  EXPECT_EQ(comment(report, "a"), R"("size=9 id=i-1")");
  EXPECT_EQ(changes(report, "a"), "{}");
  executor_.restart();
  EXPECT_EQ(comment(apply("a: {s.present: [{size: null}]}\n"), "a"), R"("size=9 id=i-1")");
  executor_.restart();
  EXPECT_EQ(comment(apply("a: {s.absent: []}\n"), "a"), R"("gone i-1")");
}

TEST_F(StatesMemoryTest, ARequiredArgumentThatMemoryHasMayBeLeftOut) {
  put_state(R"(
def present(ctx, name, size, color = "red"):
    return {"result": True, "comment": "size=%s" % size, "new_state": {"size": size}, "changes": {}}
)");
  const auto missing = [this](const char* text) {
    const StatesReport report = apply(text);
    return report.errors.empty() ? "" : report.errors[0].message;
  };
  EXPECT_EQ(missing("a: {s.present: []}\n"),
            "states.s.present is missing required argument(s): size");
  EXPECT_EQ(comment(apply("a: {s.present: [{size: 9}]}\n"), "a"), R"("size=9")");
  executor_.restart();
  EXPECT_EQ(comment(apply("a: {s.present: []}\n"), "a"), R"("size=9")");
  EXPECT_EQ(missing("b: {s.present: []}\n"),
            "states.s.present is missing required argument(s): size");
}

TEST_F(StatesMemoryTest, WhatIsIgnoredIsNullWhateverIsRemembered) {
  put_state(R"(
def present(ctx, name, resource_id = None, size = 7, tags = None):
    return {"result": True, "comment": "size=%s tags=%s" % (size, tags), "old_state": ctx.old_state,
            "new_state": {"resource_id": "i-1", "size": size or 4, "tags": tags}, "changes": None}
)");
  const std::string ignored = "{ignore_changes: [size, 'tags:a']}";
  EXPECT_EQ(
      comment(apply(cat("a: {s.present: [{size: 9}, {tags: {a: 1, b: 2}}, ", ignored, "]}")), "a"),
      R"("size=9 tags={\"a\": 1, \"b\": 2}")");
  executor_.restart();
  EXPECT_EQ(
      comment(apply(cat("a: {s.present: [{size: 2}, {tags: {a: 3, b: 4}}, ", ignored, "]}")), "a"),
      R"("size=None tags={\"a\": None, \"b\": 4}")");
  executor_.restart();
  EXPECT_EQ(comment(apply(cat("a: {s.present: [", ignored, "]}")), "a"),
            R"("size=None tags={\"a\": None, \"b\": 4}")");
  // A resource that is there by its ID alone.
  EXPECT_EQ(comment(apply(cat("b: {s.present: [{resource_id: i-2}, ", ignored, "]}")), "b"),
            R"("size=None tags=None")");
}

TEST_F(StatesMemoryTest, AModuleMayBeRememberedNever) {
  put_state(R"(
SKIP_ESM = True

def present(ctx, name, size = 7):
    return {"result": True, "comment": "size=%s" % size, "new_state": {"size": size}, "changes": {}}
)");
  EXPECT_EQ(comment(apply("a: {s.present: [{size: 9}]}\n"), "a"), R"("size=9")");
  executor_.restart();
  EXPECT_EQ(comment(apply("a: {s.present: []}\n"), "a"), R"("size=7")");
}

TEST_F(StatesMemoryTest, WhatAnUnsettledCallChangedIsNotForgotten) {
  put_state(R"(
def run(ctx, name):
    if not files.exists(name):
        files.write(name, "x")
        return {"result": False, "comment": "made, not up", "old_state": None, "new_state": {"v": 1}, "changes": None}
    return {"result": True, "comment": "up", "old_state": {"v": 1}, "new_state": {"v": 1}, "changes": None}
)");
  for (const char* loop : {"fettle", "basic"}) {
    request_.reconciler = loop;
    environment_ = loop;
    const StatesReport report = apply(
        cat("a: {s.run: [{name: ", at(loop), "}]}\n", "b: {test.nop: [{onchanges: [{s: a}]}]}\n"));
    EXPECT_EQ(word(report, "a"), "True") << loop;
    EXPECT_EQ(changes(report, "a"), R"({"new":{"v":1},"old":{}})") << loop;
    EXPECT_EQ(word(report, "b"), "True") << loop;
    executor_.restart();
  }
}

TEST_F(StatesMemoryTest, OnlyWhatIsThereIsShownAsMemory) {
  static_cast<void>(
      apply("a: test.nop\nb: {test.present: [{new_state: {x: 1}}]}\n"
            "c: {test.present: [{result: false}, {new_state: {y: 2}}, {force_save: true}]}\n"));
  RunFunctions functions(place_, {.run_name = "cli", .environment = "e"});
  ASSERT_TRUE(functions.open());
  EXPECT_EQ(write_json(functions.exec_function({.path = "esm.show"})->at("ret")),
            R"({"test_|-b_|-b_|-":{"x":1},"test_|-c_|-c_|-":{"y":2}})");
}

TEST_F(StatesMemoryTest, MemoryOfAnotherVersionIsRefused) {
  const auto remember = [&](const char* version) {
    return remember_states(place_, "m",
                           *read_json(cat(R"({"__esm_metadata__": {"version": )", version,
                                          R"(}, "test_|-a_|-a_|-": {"x": 1}})")),
                           true);
  };
  EXPECT_EQ(*remember("[2, 0, 0]"), 1u);
  const Result<size_t> newer = remember("\"99.0.0\"");
  ASSERT_FALSE(newer.has_value());
  EXPECT_EQ(newer.error().message, "this memory has version 99.0.0; versions up to 2 can be read");
}

constexpr std::string_view told_state = R"(
def present(ctx, name, resource_id = None):
    return {"result": True, "comment": "%s %s" % (name, resource_id), "old_state": ctx.old_state,
            "new_state": {"resource_id": resource_id}, "changes": {}}
)";

/// The comments of an ID, which may have several names.
std::string comments_of(const StatesReport& report, std::string_view id) {
  std::vector<std::string> told;
  for (const StateResult& result : report.results)
    if (result.entry.text_at("__id__") == id)
      told.emplace_back(to_text(result.entry.at("comment")));
  return join(told, "; ");
}

TEST_F(StatesMemoryTest, AMemoryByIdAloneIsThatOfTheStateWhateverItsName) {
  put_state(told_state);
  const Value memory = *read_json(R"({"__esm_metadata__": {"version": [2, 0, 0]},
      "s_|-a_|-a_|-": {"resource_id": "i-1"}, "s_|-b_|-b_|-": {"resource_id": "i-2"},
      "s_|-c_|-p_|-": {"resource_id": "i-3"}})");
  ASSERT_TRUE(remember_states(place_, environment_, memory, true).has_value());
  const std::string text =
      "a: {s.present: [{name: web}]}\nb: {s.present: []}\nc: {s.present: [{names: [p, q]}]}\n";
  for (const bool is_test : {true, false, false}) {
    request_.is_test = is_test;
    const StatesReport report = apply(text);
    EXPECT_EQ(comments_of(report, "a"), "web i-1") << is_test;
    EXPECT_EQ(comments_of(report, "b"), "b i-2") << is_test;
    EXPECT_EQ(comments_of(report, "c"), "p i-3; q None") << is_test;
    executor_.restart();
  }
}

TEST_F(StatesMemoryTest, AStateThatIsCalledOtherwiseIsTheSame) {
  put_state(told_state);
  static_cast<void>(apply("a: {s.present: [{name: web}, {resource_id: i-1}]}"));
  const StatesReport report = apply("a: {s.present: [{name: other}]}");
  EXPECT_EQ(comments_of(report, "a"), "other i-1");
  EXPECT_NE(report.find("s_|-a_|-a_|-present"), nullptr);
  EXPECT_EQ(entry(report, "a").text_at("name"), "other");
  EXPECT_EQ(entry(report, "a").text_at("esm_tag"), "s_|-a_|-a_|-");
  EXPECT_EQ(home_.store().known("e")->size(), 1u);
  // One of several names is another one when it is called otherwise.
  static_cast<void>(apply("b: {s.present: [{names: [p, q]}, {resource_id: i-2}]}"));
  const StatesReport several = apply("b: {s.present: [{names: [p, r]}]}");
  EXPECT_EQ(comments_of(several, "b"), "p i-2; r None");
  EXPECT_NE(several.find("s_|-b_|-r_|-present"), nullptr);
}

TEST_F(StatesMemoryTest, ANameThatNoFileSaysIsTheOneThatIsRemembered) {
  put_state(R"(
def present(ctx, name):
    return {"result": True, "comment": name, "new_state": {"name": name}, "changes": {}}
)");
  static_cast<void>(apply("a: {s.present: [{name: web}]}"));
  EXPECT_EQ(comments_of(apply("a: {s.present: []}"), "a"), "web");
  EXPECT_EQ(comments_of(apply("a: {s.present: [{name: other}]}"), "a"), "other");
}

TEST_F(StatesMemoryTest, WhatMovesToAnotherPathIsAnotherThing) {
  const auto file = [&](const char* id, const char* name) {
    return cat(id, ": {file.managed: [{name: ", at(name), "}, {contents: ", id, "}]}\n");
  };
  static_cast<void>(apply(file("a", "x")));
  static_cast<void>(apply(file("a", "y")));
  EXPECT_TRUE(file_exists(at("x"))) << "without --prune it stays";
  const Key old{"e", "file", cat("file_|-a_|-", at("x"))};
  EXPECT_TRUE(home_.store().known("e")->contains(old));
  // Back again, it is the one that was there; and the other one goes.
  request_.prune = true;
  const StatesReport back = apply(file("a", "x"));
  EXPECT_EQ(comments_of(back, "a"), "as described; removed: no file describes it any more");
  EXPECT_TRUE(file_exists(at("x")) && !file_exists(at("y")));
  // Two that change places are not lost.
  static_cast<void>(apply(file("a", "x") + file("b", "y")));
  static_cast<void>(apply(file("a", "y") + file("b", "x")));
  EXPECT_EQ(read_file(at("x")).value_or(""), "b\n");
  EXPECT_EQ(read_file(at("y")).value_or(""), "a\n");
}

TEST_F(StatesMemoryTest, AMemoryOfIdemBefore25IsUpgradedAsIdemDoes) {
  put_state(told_state);
  for (const char* version : {"", R"("__esm_metadata__": {"version": [1, 0, 0]},)"}) {
    const Value memory = *read_json(cat("{", version, R"(
      "s_|-a_|-web_|-": {"resource_id": "i-1"}, "s_|-b_|-b_|-": {"resource_id": "i-2"},
      "s_|-c_|-p_|-": {"resource_id": "i-3"}, "s_|-c_|-q_|-": {"resource_id": "i-4"},
      "s_|-d_|-alone_|-": {"resource_id": "i-5"}})"));
    environment_ = *version == '\0' ? "none" : "one";
    EXPECT_EQ(*remember_states(place_, environment_, memory, true), 5u);
    const StatesReport report = apply(R"(
a: {s.present: [{name: other}]}
b: {s.present: []}
c: {s.present: [{names: [p, q]}]}
d: {s.present: [{names: [alone, new]}]}
)");
    EXPECT_EQ(comments_of(report, "a"), "other i-1");
    EXPECT_EQ(comments_of(report, "b"), "b i-2");
    EXPECT_EQ(comments_of(report, "c"), "p i-3; q i-4");
    EXPECT_EQ(comments_of(report, "d"), "alone i-5; new None");
  }
}

/// What an earlier fettle left, whose keys held names.
class EarlierStatesTest : public StatesMemoryTest {
 protected:
  void SetUp() override {
    StatesMemoryTest::SetUp();
    auto database = *Sqlite::open(at("earlier.db"));
    const std::string dump = *read_file(FETTLE_SOURCE_DIR "/tests/store/store_of_format_3.sql");
    ASSERT_TRUE(database->execute(dump.c_str()));
    database.reset();
    store_ = *open_sqlite_store(at("earlier.db"));
    place_.store = store_.get();
    put("states/box.star", R"(
def present(ctx, name, size = None):
    return {"result": True, "comment": "%s was %s" % (name, ctx.old_state["size"] if ctx.old_state else None),
            "old_state": ctx.old_state, "new_state": ctx.old_state, "changes": {}}

def mod_watch(ctx, name, size = 1):
    return {"result": True, "comment": "heard", "changes": {"watched": True}}
)");
  }

  std::set<std::string> keys() {
    std::set<std::string> names;
    const Known known = *store_->known("e");
    for (const auto& [key, record] : known) {
      names.insert(to_string(key));
      EXPECT_TRUE(!record->applied || record->applied->key == key);
    }
    return names;
  }

  std::unique_ptr<Store> store_;
};

constexpr std::string_view earlier_boxes = R"(
plain: {box.present: []}
named: {box.present: [{name: other}]}
several: {box.present: [{names: [left, right]}]}
only: {box.present: [{names: [single]}]}
watcher: {box.present: [{name: ears}, {listen: [{box: named}]}]}
)";

TEST_F(EarlierStatesTest, ItsRecordsGoByIdsFromTheFirstRunOn) {
  const auto check = [&] {
    const StatesReport report = apply(earlier_boxes);
    EXPECT_EQ(comments_of(report, "plain"), "plain was 1");
    EXPECT_EQ(comments_of(report, "named"), "other was 2");
    EXPECT_EQ(comments_of(report, "several"), "left was 3; right was 3");
    EXPECT_EQ(comments_of(report, "only"), "single was 4");
    EXPECT_EQ(comments_of(report, "watcher"), "ears was 5");
  };
  request_.is_test = true;
  check();
  EXPECT_TRUE(keys().contains("state/box_|-named_|-web")) << "a test writes nothing";
  request_.is_test = false;
  check();
  EXPECT_EQ(
      keys(),
      (std::set<std::string>{
          "command/cmd_|-once_|-once", "file/file_|-checked_|-checked", "file/file_|-conf_|-conf",
          "file/file_|-of other_|-of other", "folder/file_|-folder_|-folder", "mark/states_|-end",
          "state/box_|-named_|-named", "state/box_|-only_|-single", "state/box_|-plain_|-plain",
          "state/box_|-several_|-left", "state/box_|-several_|-right",
          "state/box_|-watcher_listen_|-watcher_listen", "state/box_|-watcher_|-watcher",
          "state/file_|-checked_|-checked_|-check"}));
  EXPECT_FALSE(store_->note("e", states_by_name_note)->has_value());
  check();
}

TEST_F(EarlierStatesTest, WhatRefersToThemAndWhatIsLoggedGoesAlong) {
  static_cast<void>(apply(earlier_boxes));
  const Known known = *store_->known("e");
  const Record& file = *known.at({"e", "file", "file_|-of other_|-of other"});
  const std::vector<Output> named = holes(file.applied->attributes);
  ASSERT_EQ(named.size(), 1u);
  EXPECT_EQ(named[0].name, "box_|-named_|-named");
  EXPECT_EQ(file.acted_on.at(0).key.name, "box_|-named_|-named");
  for (const char* old : {"box_|-named_|-web", "file_|-conf_|-/srv/example/out/conf.txt"})
    for (const char* kind : {"state", "file"})
      EXPECT_TRUE(store_->events_of({"e", kind, old}, 9)->empty()) << old;
  EXPECT_EQ(store_->events_of({"e", "file", "file_|-conf_|-conf"}, 9)->size(), 2u);
  EXPECT_EQ(find_keys(place_, "e", "/srv/example/out/conf.txt")->at(0).name, "file_|-conf_|-conf");
  EXPECT_EQ(find_keys(place_, "e", "conf")->at(0).name, "file_|-conf_|-conf");
}

TEST_F(EarlierStatesTest, FilesAreStillTheirs) {
  request_.is_test = true;
  const StatesReport report = apply(
      "conf: {file.managed: [{name: /srv/example/out/conf.txt}, {contents: one}]}\n"
      "moved: {file.managed: [{name: /srv/example/out/conf.txt2}, {contents: one}]}\n");
  EXPECT_EQ(comments_of(report, "conf"), "drift: it is gone");
  EXPECT_EQ(comments_of(report, "moved"), "new");
}

TEST_F(EarlierStatesTest, AFileWithAnErrorLeavesThemAsTheyAre) {
  EXPECT_EQ(apply("plain: {box.absent: []}").exit_code(), 2);
  EXPECT_TRUE(keys().contains("state/box_|-named_|-web"));
  EXPECT_TRUE(store_->note("e", states_by_name_note)->has_value());
}

TEST_F(EarlierStatesTest, WhatIsRestoredIsRememberedBesideThem) {
  const Value memory = *read_json(
      R"({"__esm_metadata__": {"version": [2, 0, 0]}, "box_|-named_|-named_|-": {"size": 7}})");
  EXPECT_EQ(*remember_states(place_, "e", memory, true), 1u);
  EXPECT_FALSE(keys().contains("state/box_|-named_|-web"));
  EXPECT_EQ(comments_of(apply(earlier_boxes), "named"), "other was 7");
}

TEST_F(StatesMemoryTest, AMemoryWhoseVersionIsNoNumberIsRead) {
  const Value memory =
      *read_json(R"({"__esm_metadata__": {"version": ["x"]}, "s_|-a_|-a_|-": {"n": 1}})", "memory");
  const Result<size_t> count = remember_states(place_, "remembered", memory, true);
  ASSERT_TRUE(count.has_value()) << to_string(count.error());
  EXPECT_EQ(*count, 1u);
}

}  // namespace
}  // namespace fettle
