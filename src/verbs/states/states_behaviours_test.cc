/// Ten behaviours of states that people rely on, in both loops: where they are one in Idem and
/// here, and where `fettle` is meant to be better, as `docs/states.md` says.

#include "tests/fixtures/states_fixture.h"

namespace fettle {
namespace {

constexpr std::string_view mixture = R"(
quiet:      {test.succeed_without_changes: [{name: quiet}]}
commented:  {test.succeed_with_comment: [{name: commented}, {comment: hello}]}
created:    {test.present: [{name: created}, {new_state: {a: 1, b: {c: [p, q]}}}]}
noisy:      {test.succeed_with_changes: [{name: noisy}]}
broken:     {test.fail_without_changes: [{name: broken}]}
unknown:    {test.none_without_changes: [{name: unknown}]}
after_bad:  {test.nop: [{require: [{test: broken}]}]}
on_quiet:   {test.nop: [{onchanges: [{test: quiet}]}]}
on_healthy: {test.nop: [{onfail: [{test: quiet}]}]}
watcher:    {test.succeed_without_changes: [{watch: [{test: noisy}]}]}
listener:   {test.nop: [{listen: [{test: noisy}]}]}
)";

class Behaviours : public StatesTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    StatesTest::SetUp();
    request_.reconciler = GetParam();
  }
  bool is_basic() const { return request_.reconciler == "basic"; }

  static bool is_unmet(const StatesReport& report, std::string_view id) {
    for (const StateResult& result : report.results)
      if (result.entry.text_at("__id__") == id)
        return result.is_unmet;
    return false;
  }
  static std::vector<std::string> order_of(const StatesReport& report) {
    std::vector<std::pair<int64_t, std::string>> numbered;
    for (const StateResult& result : report.results)
      numbered.emplace_back(*result.entry.at("__run_num").integer(),
                            result.entry.text_at("__id__"));
    std::ranges::sort(numbered);
    std::vector<std::string> order;
    for (const auto& [number, id] : numbered)
      order.push_back(id);
    return order;
  }
  /// How often a state was called.
  int64_t calls(const std::string& id) const {
    return std::ranges::count_if(executor_.log, [&](const std::string& line) {
      return line.find(cat("_|-", id, "_|-")) != line.npos;
    });
  }
  std::string refused(std::string_view text) {
    const StatesReport report = apply(text);
    EXPECT_EQ(report.exit_code(), 2);
    EXPECT_TRUE(executor_.log.empty());
    return report.errors.empty() ? "" : report.errors[0].message;
  }
};

TEST_P(Behaviours, OneTheDocumentHasTagsAndFieldsOfIdem) {
  const StatesReport report = apply(mixture);
  ASSERT_EQ(report.results.size(), 12u);  // and `listener_listen`
  const StateResult* created = report.find("test_|-created_|-created_|-present");
  ASSERT_NE(created, nullptr);
  std::vector<std::string> fields;
  for (const Entry& field : created->entry.entries())
    fields.push_back(field.key.str());
  EXPECT_EQ(join(fields, " "),
            "__id__ __run_num changes comment esm_tag name new_state old_state rerun_data result "
            "sls_meta start_time tag total_seconds");
  EXPECT_EQ(created->entry.text_at("esm_tag"), "test_|-created_|-created_|-");
  EXPECT_NE(report.find("test_|-listener_listen_|-listener_listen_|-mod_watch"), nullptr);
}

TEST_P(Behaviours, MetaComesBackByFileAndId) {
  const StatesReport report =
      apply("META: {z: 1}\na: {META: {q: 2}, test.nop: []}\nb: {test.nop: []}\n");
  const auto meta = [&](const char* tag, const char* which) {
    const StateResult* found = report.find(tag);
    if (found == nullptr)
      return std::string("no such state");
    std::string shown;
    for (const Entry& one : found->entry.at("sls_meta").at(which).entries())
      shown += cat(one.key.view().substr(one.key.view().find("main")), " ", write_json(one.value));
    return shown;
  };
  EXPECT_EQ(meta("test_|-a_|-a_|-nop", "SLS"), R"(main {"z":1})");
  EXPECT_EQ(meta("test_|-a_|-a_|-nop", "ID_DECS"), R"(main.a {"q":2})");
  EXPECT_EQ(meta("test_|-b_|-b_|-nop", "SLS"), R"(main {"z":1})");
  EXPECT_EQ(meta("test_|-b_|-b_|-nop", "ID_DECS"), "");
}

TEST_P(Behaviours, TwoStatesRunInTheOrderThatIsAskedFor) {
  request_.is_serial = true;
  const StatesReport report = apply(R"(
b: {test.nop: []}
last: {test.nop: [{order: last}]}
a: {test.nop: []}
first: {test.nop: [{order: first}]}
before_last: {test.nop: [{order: -1}]}
)");
  EXPECT_EQ(join(order_of(report), " "), "first b a before_last last");
}

TEST_P(Behaviours, ThreeWhatARequisiteKeepsFromRunningSaysWhichOne) {
  const StatesReport report = apply(mixture);
  EXPECT_EQ(word(report, "after_bad"), "False");
  EXPECT_NE(comment(report, "after_bad")
                .find("Result of require test_|-broken_|-broken_|-fail_without_changes is"),
            std::string::npos);
  EXPECT_FALSE(is_unmet(report, "after_bad"));
  EXPECT_EQ(word(report, "on_quiet"), "False");
  EXPECT_NE(comment(report, "on_quiet").find("Changes from test_|-quiet"), std::string::npos);
  EXPECT_EQ(word(report, "on_healthy"), "False");
  EXPECT_NE(comment(report, "on_healthy").find("Result of require test_|-quiet"),
            std::string::npos);
  EXPECT_TRUE(is_unmet(report, "on_quiet"));
  EXPECT_TRUE(is_unmet(report, "on_healthy"));
  EXPECT_EQ(calls("after_bad") + calls("on_quiet") + calls("on_healthy"), 0);
}

TEST_P(Behaviours, FourAWatcherTellsWhatItsModWatchSays) {
  const StatesReport report = apply(mixture);
  EXPECT_EQ(word(report, "watcher"), "True");
  EXPECT_NE(comment(report, "watcher").find("Watch ran!"), std::string::npos);
  EXPECT_EQ(changes(report, "watcher"), R"({"watch":true})");
}

/// In Idem such a state turns False when it is called again and its target is quiet by then.
TEST_P(Behaviours, FiveASuccessStaysOneWhenItsTargetIsQuietByThen) {
  put("states/once.star", cat(R"(
def present(ctx, name):
    path = ")",
                              at("there"), R"("
    if ctx.test or files.read(path):
        return {"result": True, "comment": "there", "changes": {}}
    files.write(path, "yes")
    return {"result": True, "comment": "created", "changes": {"new": {"a": 1}}}
)"));
  const StatesReport report = apply(R"(
target: {once.present: []}
on_change: {test.succeed_with_changes: [{onchanges: [{once: target}]}]}
watcher: {test.succeed_with_changes: [{watch: [{once: target}]}]}
)");
  EXPECT_EQ(word(report, "target"), "True");
  EXPECT_EQ(word(report, "on_change"), "True");
  EXPECT_EQ(word(report, "watcher"), "True");
}

TEST_P(Behaviours, SixHowOftenAStateIsCalled) {
  struct Row {
    const char* state;
    int64_t basic_calls, calls;
    Duration basic_time, time;
  };
  int runs = 0;
  for (const Row& row : {Row{"test.succeed_without_changes: []", 1, 1, 0s, 0s},
                         Row{"test.present: [{new_state: {a: 1}}]", 2, 1, 3s, 0s},
                         Row{"test.succeed_with_changes: []", 4, 1, 9s, 0s},
                         Row{"test.none_without_changes: []", 4, 1, 9s, 0s},
                         Row{"test.fail_without_changes: []", 4, 7, 9s, 9s}}) {
    SCOPED_TRACE(row.state);
    executor_.log.clear();
    environment_ = cat("e", ++runs);
    static_cast<void>(apply(cat("a: {", row.state, "}\n")));
    EXPECT_EQ(calls("a"), is_basic() ? row.basic_calls : row.calls);
    const Duration expected = is_basic() ? row.basic_time : row.time;
    EXPECT_GE(took_, expected);
    EXPECT_LT(took_, expected + 1s);
  }
}

TEST_P(Behaviours, SevenASecondRunRemembersWhatWasGiven) {
  static_cast<void>(apply("a: {test.present: [{result: true}, {new_state: {x: 1, y: 2}}]}\n"));
  const StatesReport again =
      apply("a: {test.present: [{result: true}, {new_state: {x: 1, y: 2}}]}\n");
  EXPECT_EQ(word(again, "a"), "True");
  EXPECT_EQ(changes(again, "a"), "{}");
  EXPECT_EQ(write_json(entry(again, "a").at("old_state")), R"({"x":1,"y":2})");
}

TEST_P(Behaviours, EightReferencesReachIntoWhatOthersLeft) {
  constexpr std::string_view created =
      "created: {test.present: [{new_state: {a: 1, b: {c: [p, q]}}}]}\n";
  const StatesReport report = apply(cat(created, R"(
bound: {test.present: [{new_state: {v: "${test:created:b:c[1]}", w: "id-${test:created:b:c[0]}",
                                    x: "n-${test:created:a}", y: "${test:created:a}"}}]}
)"));
  EXPECT_EQ(write_json(entry(report, "bound").at("new_state")),
            R"({"v":"q","w":"id-p","x":"n-1","y":1})");
  const StatesReport missing =
      apply(cat(created, "bound: {test.present: [{new_state: {v: \"${test:created:nope}\"}}]}\n"));
  EXPECT_EQ(word(missing, "bound"), "False");
  EXPECT_NE(comment(missing, "bound").find("nope"), std::string::npos);
  // What only a former run declared is looked up in its memory.
  const StatesReport remembered =
      apply("bound: {test.present: [{new_state: {v: \"${test:created:b:c[1]}\"}}]}\n");
  EXPECT_EQ(write_json(entry(remembered, "bound").at("new_state")), R"({"v":"q"})");
}

TEST_P(Behaviours, NineErrorsOfTheFilesComeBeforeAnything) {
  EXPECT_NE(refused("a: {test.nop: []}\na: {test.nop: []}\n").find("a"), std::string::npos);
  EXPECT_NE(refused("a:\n  test.nop: []\n  test.present: []\n").find("multiple state declarations"),
            std::string::npos);
  EXPECT_NE(refused("a: {test.nop: [{require: b}]}\n").find("require"), std::string::npos);
  const std::string two =
      "a: {test.nop: [{require: [{test: b}]}]}\nb: {test.nop: [{require: [{test: a}]}]}\n";
  EXPECT_NE(refused(two).find("recursive requisite"), std::string::npos);
  EXPECT_NE(refused(cat("a: {test.nop: [{require: [{test: b}]}]}\n",
                        "b: {test.nop: [{require: [{test: c}]}]}\n",
                        "c: {test.nop: [{require: [{test: a}]}]}\n"))
                .find("recursive requisite"),
            std::string::npos);
  EXPECT_NE(refused("include: [nowhere]\na: {test.nop: []}\n").find("nowhere"), std::string::npos);
  EXPECT_NE(refused("#!nonsense\na: {test.nop: []}\n").find("nonsense"), std::string::npos);
}

TEST_P(Behaviours, TenATestAndAnInversion) {
  request_.is_test = true;
  const StatesReport tested = apply("a: {test.present: [{new_state: {x: 1}}]}\n");
  EXPECT_EQ(word(tested, "a"), "True");
  EXPECT_EQ(took_ / 1s, 0);
  EXPECT_FALSE(home_.store().environment("e")->has_value());
  request_.is_test = false;
  const std::string text =
      "a: {test.present: [{new_state: {x: 1}}]}\nb: {test.present: "
      "[{new_state: {y: 1}}, {require: [{test: a}]}]}\n";
  static_cast<void>(apply(text));
  executor_.log.clear();
  request_.compile.is_inverted = true;
  const StatesReport inverted = apply(text);
  EXPECT_EQ(join(order_of(inverted), " "), "b a");
  EXPECT_NE(inverted.find("test_|-a_|-a_|-absent"), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Loops, Behaviours, testing::Values("basic", "fettle"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace fettle
