/// What states remember from run to run, and what of it a function is told.

#include "tests/fixtures/states_fixture.h"

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
  ground_.restart();
  StatesReport report = apply("a: {s.present: []}\n");
  EXPECT_EQ(comment(report, "a"), R"("size=9 id=i-1")");
  EXPECT_EQ(changes(report, "a"), "{}");
  ground_.restart();
  EXPECT_EQ(comment(apply("a: {s.present: [{size: null}]}\n"), "a"), R"("size=9 id=i-1")");
  ground_.restart();
  EXPECT_EQ(comment(apply("a: {s.absent: []}\n"), "a"), R"("gone i-1")");
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
  ground_.restart();
  EXPECT_EQ(
      comment(apply(cat("a: {s.present: [{size: 2}, {tags: {a: 3, b: 4}}, ", ignored, "]}")), "a"),
      R"("size=None tags={\"a\": None, \"b\": 4}")");
  ground_.restart();
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
  ground_.restart();
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
    EXPECT_EQ(changes(report, "a"), R"({"new":{"v":1}})") << loop;
    EXPECT_EQ(word(report, "b"), "True") << loop;
    ground_.restart();
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

TEST_F(StatesMemoryTest, AMemoryByIdAloneIsThatOfTheStateWhateverItsName) {
  put_state(R"(
def present(ctx, name, resource_id = None):
    return {"result": True, "comment": "%s %s" % (name, resource_id), "old_state": ctx.old_state,
            "new_state": {"resource_id": resource_id}, "changes": {}}
)");
  const Value memory = *read_json(R"({"__esm_metadata__": {"version": [2, 0, 0]},
      "s_|-a_|-a_|-": {"resource_id": "i-1"}, "s_|-b_|-b_|-": {"resource_id": "i-2"},
      "s_|-c_|-p_|-": {"resource_id": "i-3"}})");
  ASSERT_TRUE(remember_states(place_, environment_, memory, true).has_value());
  const std::string text =
      "a: {s.present: [{name: web}]}\nb: {s.present: []}\nc: {s.present: [{names: [p, q]}]}\n";
  for (const bool is_test : {true, false, false}) {
    request_.is_test = is_test;
    const StatesReport report = apply(text);
    EXPECT_EQ(comment(report, "a"), R"("web i-1")") << is_test;
    EXPECT_EQ(comment(report, "b"), R"("b i-2")") << is_test;
    std::vector<std::string> named;
    for (const StateResult& result : report.results)
      if (result.entry.text_at("__id__") == "c")
        named.push_back(write_json(result.entry.at("comment")));
    EXPECT_EQ(named, (std::vector<std::string>{R"("p i-3")", R"("q None")"})) << is_test;
    ground_.restart();
  }
  // A state that has had another name keeps none of its memory under a new one.
  EXPECT_EQ(comment(apply("a: {s.present: [{name: other}]}\n"), "a"), R"("other None")");
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
