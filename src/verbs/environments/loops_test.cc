/// What the loops do, beside one another: how often a state is called, how long that takes, and
/// what it comes to. `docs/states.md` has the same table.

#include <filesystem>

#include "tests/fixtures/states_fixture.h"

namespace fettle {
namespace {

/// A state that counts its calls in a file.
constexpr std::string_view counting = R"(
def count(name):
    path = "@/" + name + ".calls"
    calls = int(files.read(path) or "0") + 1
    files.write(path, str(calls))
    return calls

def late(ctx, name, calls):
    "Fails the same way until it was called so often."
    if count(name) < calls:
        return {"result": False, "comment": "not yet", "changes": {}}
    return {"result": True, "comment": "there", "changes": {}}

def moving(ctx, name):
    "Fails another way each time."
    return {"result": False, "comment": "moving", "changes": {"step": count(name)}}

def created(ctx, name):
    "Creates once, and is quiet then."
    if ctx.test or count(name) > 1:
        return {"result": True, "comment": "there", "changes": {}}
    return {"result": True, "comment": "created", "changes": {"new": {"a": 1}}}
)";

class LoopsTest : public StatesTest {
 protected:
  void SetUp() override {
    StatesTest::SetUp();
    const std::string module = replace_all(counting, "@", folder_->path().string());
    put("states/counting.star", module);
    put("states/slow.star",
        cat("__reconcile_wait__ = {\"static\": {\"wait_in_seconds\": 60}}\n", module));
  }

  struct Came {
    std::string word;     ///< `True`, `False`, `None`
    int64_t seconds = 0;  ///< whole ones
    int calls = 0;
    bool operator==(const Came&) const = default;
  };
  friend void PrintTo(const Came& came, std::ostream* out) {
    *out << came.word << " after " << came.seconds << " s and " << came.calls << " calls";
  }

  /// What one state with the ID `a` comes to.
  Came run(const std::string& reconciler, const std::string& sls) {
    for (const auto& entry : std::filesystem::directory_iterator(folder_->path()))
      if (entry.path().extension() == ".calls")
        std::filesystem::remove(entry.path());
    request_.reconciler = reconciler;
    environment_ = cat("e", ++environments_);
    executor_.log.clear();
    const StatesReport report = apply(sls);
    const auto calls = std::ranges::count_if(
        executor_.log, [](const std::string& line) { return line.ends_with("_|-a_|-a"); });
    return {word(report, "a"), std::chrono::duration_cast<std::chrono::seconds>(took_).count(),
            static_cast<int>(calls)};
  }

  int environments_ = 0;
};

TEST_F(LoopsTest, OneThatIsNotThereIsToldBeforeAnythingRuns) {
  put("cli.sls", "a: {counting.late: [{calls: 1}]}");
  for (const auto& [reconciler, pending] :
       {std::pair{"basik", "default"}, {"basic", "idem"}, {"none", "idem"}}) {
    StatesRequest request = request_;
    request.words = {at("cli.sls")};
    request.functions.folders = {folder_->path()};
    request.environment = "e";
    request.reconciler = reconciler;
    request.pending = pending;
    executor_.log.clear();
    const Result<StatesReport> applied = apply_states(place_, std::move(request), nullptr);
    ASSERT_FALSE(applied);
    EXPECT_EQ(applied.error().blame, Blame::user);
    EXPECT_TRUE(executor_.log.empty());
  }
}

TEST_F(LoopsTest, WhatIsQuietIsDoneAtOnce) {
  const std::string sls = "a: {test.succeed_without_changes: []}";
  EXPECT_EQ(run("basic", sls), (Came{"True", 0, 1}));
  EXPECT_EQ(run("fettle", sls), (Came{"True", 0, 1}));
}

TEST_F(LoopsTest, WhatCreatesIsConfirmed) {
  const std::string sls = "a: {counting.created: []}";
  EXPECT_EQ(run("basic", sls), (Came{"True", 3, 2}));
  EXPECT_EQ(run("fettle", sls), (Came{"True", 0, 1}));  // by a look within the call
}

TEST_F(LoopsTest, WhatAlwaysChangesIsGivenUpAsASuccess) {
  const std::string sls = "a: {test.succeed_with_changes: []}";
  EXPECT_EQ(run("basic", sls), (Came{"True", 9, 4}));
  EXPECT_EQ(run("fettle", sls), (Came{"True", 0, 1}));
}

TEST_F(LoopsTest, WhatAlwaysFailsIsGivenUpAfterNineSeconds) {
  const std::string sls = "a: {test.fail_without_changes: []}";
  EXPECT_EQ(run("basic", sls), (Came{"False", 9, 4}));
  EXPECT_EQ(run("fettle", sls), (Came{"False", 9, 7}));
}

TEST_F(LoopsTest, WhatIsNotKnownIsGivenUp) {
  const std::string sls = "a: {test.none_without_changes: []}";
  EXPECT_EQ(run("basic", sls), (Came{"None", 9, 4}));
  EXPECT_EQ(run("fettle", sls), (Came{"None", 0, 1}));
}

TEST_F(LoopsTest, WhatMovesGoesOnToTheLimit) {
  const std::string sls = "a: {counting.moving: []}";
  EXPECT_EQ(run("basic", sls), (Came{"False", 1800, 601}));
  const Came came = run("fettle", sls);
  EXPECT_EQ(came.word, "False");
  EXPECT_EQ(came.seconds, 1200);
}

TEST_F(LoopsTest, WhatSucceedsTheSixthTimeIsWaitedForByOneOfThem) {
  const std::string sls = "a: {counting.late: [{calls: 6}]}";
  EXPECT_EQ(run("basic", sls), (Came{"False", 9, 4}));
  EXPECT_EQ(run("fettle", sls), (Came{"True", 6, 6}));
}

TEST_F(LoopsTest, WhoIsSlowHoldsNobodyElse) {
  const std::string sls = "slow: {slow.late: [{calls: 2}]}\na: {counting.late: [{calls: 3}]}\n";
  EXPECT_EQ(run("basic", sls), (Came{"True", 63, 3}));
  EXPECT_EQ(run("fettle", sls).calls, 3);
  EXPECT_EQ(took_, 60s + 2ms);  // the slow one; `a` was done after 0.6 s
}

}  // namespace
}  // namespace fettle
