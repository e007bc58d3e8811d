/// Acts that have an answer and have not settled: patience, deadlines, hints, and their
/// continuation after a kill or a change of the wish.

#include "core/open_payload.h"
#include "tests/fixtures/run_fixture.h"

namespace fettle {
namespace {

class SettleTest : public RunTest {
 protected:
  void SetUp() override {
    executor_.comes_to = [this](const Act& act) -> std::optional<Result<Outcome>> {
      const auto answers = answers_.find(to_string(act.key));
      if (answers == answers_.end())
        return std::nullopt;
      called_[to_string(act.key)].push_back(act);
      return answers->second(act);
    };
  }

  using Answer = std::function<Result<Outcome>(const Act&)>;
  static Outcome done(int out, bool changed = true) {
    return Done{Value::dict({{"out", out}}), "", changed};
  }
  /// A success that has not settled. `progress`: a number for its result; 0: none.
  static Outcome goes_on(int out, uint64_t progress, const std::string& what = "it is on its way") {
    return Done{Value::dict({{"out", out}}), "", true, Again{what, {}, {}, {progress, 0}, {}}};
  }
  static Outcome fails(uint64_t progress, Value outputs = {}) {
    return Failed{world_error("no quorum"), std::move(outputs),
                  Again{"no quorum", {}, {}, {progress, 0}, {}}};
  }
  static Answer in_order(std::vector<Outcome> outcomes) {
    return [outcomes](const Act& act) -> Result<Outcome> {
      return outcomes[std::min(outcomes.size(), static_cast<size_t>(act.attempt)) - 1];
    };
  }
  Resource& want_state(const std::string& path, Answer answer,
                       std::vector<std::string> needs = {}) {
    answers_[path] = std::move(answer);
    Resource& resource = want(path, Value::dict({}), std::move(needs));
    resource.pace = {Wait::fixed, 1s, 1s};
    return resource;
  }
  size_t calls(const std::string& path) { return called_[path].size(); }

  std::map<std::string, Answer> answers_;
  std::map<std::string, std::vector<Act>> called_;
};

TEST_F(SettleTest, ASuccessThatHasNotSettledLetsOthersGoOnAndIsCalledAgain) {
  want_state("state/cluster", in_order({goes_on(1, 1), goes_on(1, 2), done(1, false)}));
  want("thing/after", Value::dict({}), {"state/cluster"});
  const Summary summary = carry();
  EXPECT_TRUE(summary.good());
  EXPECT_EQ(summary.done, 2u);
  EXPECT_EQ(log(),
            "ensure state/cluster; create thing/after; ensure state/cluster; ensure state/cluster");
  EXPECT_EQ(executor_.waits.front(), 1s - 1ms);  // while another one acted for that long
  EXPECT_FALSE(record("state/cluster")->attempt);
}

TEST_F(SettleTest, WhatIsInstantTakesNoSlotAndIsRecordedWhenItCameToSomethingElse) {
  const auto want_all = [&](int out) {
    begin_anew();
    for (const char* path : {"state/a", "state/b", "state/c"})
      want_state(path, in_order({done(out, false)})).is_instant = true;
    want("thing/slow", Value::dict({}));
  };
  const auto events_of = [&](const std::string& path) {
    std::vector<std::string> types;
    const std::vector<Event> events = *home_.store().events_of(key_of(path), 100);
    for (const Event& event : events)
      types.emplace_back(to_string(event.type));
    return join(types, " ");
  };
  want_all(1);
  EXPECT_TRUE(carry(with_parallelism(1)).good());
  EXPECT_EQ(executor_.most_in_flight, 4u);
  ASSERT_NE(record("state/a"), nullptr);
  EXPECT_EQ(events_of("state/a"), "done");
  EXPECT_EQ(record("state/a")->wanted_by.size(), 1u);
  const Time finished = record("state/a")->finished;

  executor_.pass(1h);
  want_all(1);
  EXPECT_EQ(carry().done, 3u);
  EXPECT_EQ(record("state/a")->finished, finished);
  EXPECT_EQ(events_of("state/a"), "done");

  executor_.pass(1h);
  want_all(2);
  EXPECT_TRUE(carry().good());
  EXPECT_NE(record("state/a")->finished, finished);
  EXPECT_EQ(dict_of(record("state/a")->outputs).at("out"), Value(2));
  EXPECT_EQ(events_of("state/a"), "done done");
}

TEST_F(SettleTest, WhatIsInstantAndWaitsGoesOnInTheNextProcess) {
  Resource& resource = want_state("state/a", in_order({goes_on(1, 1), done(1)}));
  resource.is_instant = true;
  resource.pace = {Wait::fixed, 1h, 1h};
  executor_.leave_after = 1;
  EXPECT_FALSE(carry().good());
  ASSERT_TRUE(record("state/a")->attempt);
  EXPECT_EQ(record("state/a")->attempt->course->calls, 1);
  executor_.restart();
  executor_.leave_after = -1;
  EXPECT_TRUE(carry().good());
  EXPECT_EQ(called_["state/a"].back().attempt, 2);
}

TEST_F(SettleTest, WhoUsesWhatChangesWhenItSettlesRunsAgainAndNobodyElse) {
  want_state("state/cluster", in_order({goes_on(1, 1), done(2)}));
  want("state/user", embeds("state/cluster"));
  want("state/neighbour", Value::dict({}), {"state/cluster"});
  want("thing/far", embeds("state/user"));
  EXPECT_TRUE(carry().good());
  EXPECT_EQ(std::ranges::count(executor_.log, "ensure state/user"), 2);
  EXPECT_EQ(std::ranges::count(executor_.log, "ensure state/neighbour"), 1);
  EXPECT_EQ(dict_of(record("state/cluster")->outputs).at("out"), Value(2));
  EXPECT_EQ(record("state/user")->acted_on.size(), 1u);
  // The stage's outputs count its acts, so that their users are due as well.
  EXPECT_EQ(std::ranges::count(executor_.log, "replace thing/far"), 1);
}

TEST_F(SettleTest, AFailureThatHasNotSettledHoldsOthersUntilItSucceeds) {
  want_state("state/cluster", in_order({fails(1), fails(2), done(1)}));
  want("thing/after", Value::dict({}), {"state/cluster"});
  EXPECT_TRUE(carry().good());
  EXPECT_EQ(log(),
            "ensure state/cluster; ensure state/cluster; ensure state/cluster; create thing/after");
}

TEST_F(SettleTest, WhatComesToTheSameOverAndOverIsGivenUpAndKeepsItsOutputs) {
  want_state("state/cluster", in_order({fails(7, Value::dict({{"out", "half"}}))}));
  want("thing/after", Value::dict({}), {"state/cluster"});
  const Summary summary = carry();
  ASSERT_EQ(summary.failures.size(), 1u);
  EXPECT_EQ(summary.failures[0].error.message, "no quorum");
  EXPECT_EQ(summary.blocked, 1u);
  EXPECT_EQ(calls("state/cluster"), 10u);  // the first, and one a second for nine seconds
  EXPECT_EQ(dict_of(record("state/cluster")->outputs).at("out"), Value("half"));
  EXPECT_TRUE(record("state/cluster")->attempt->failed);
  EXPECT_FALSE(record("state/cluster")->attempt->course);
}

TEST_F(SettleTest, PatienceWantsBothItsCallsAndItsTime) {
  Resource& slow = want_state("state/slow", in_order({fails(7)}));
  slow.pace = {Wait::fixed, 20s, 20s};
  EXPECT_FALSE(carry().good());
  EXPECT_EQ(calls("state/slow"), 3u);
}

TEST_F(SettleTest, WhatMovesAndWhatIsNotReadyGoOnUntilTheDeadline) {
  Resource& moves = want_state("state/moves", [](const Act& act) -> Result<Outcome> {
    return fails(static_cast<uint64_t>(act.attempt));
  });
  moves.deadlines.settle = 60s;
  Resource& not_ready = want_state("state/not_ready", in_order({goes_on(1, 0, "CREATING")}));
  not_ready.deadlines.settle = 30s;
  const Summary summary = carry();
  EXPECT_EQ(calls("state/moves"), 61u);  // each call takes a millisecond
  EXPECT_NEAR(static_cast<double>(calls("state/not_ready")), 31, 1);
  ASSERT_EQ(summary.unsettled.size(), 1u);
  EXPECT_EQ(summary.unsettled[0].what, "gave up after 30s: CREATING");
  EXPECT_EQ(summary.failures.size(), 1u);
  EXPECT_FALSE(summary.good());
}

TEST_F(SettleTest, AnErrorIsFinalUnlessTheResourceSaysOtherwise) {
  want_state("state/final", [](const Act&) -> Result<Outcome> { return world_error("refused"); });
  want_state("state/again", [](const Act& act) -> Result<Outcome> {
    if (act.attempt < 3)
      return world_error("refused");
    return done(1);
  }).patience.with_errors = true;
  EXPECT_EQ(carry().failures.size(), 1u);
  EXPECT_EQ(calls("state/final"), 1u);
  EXPECT_EQ(calls("state/again"), 3u);
}

TEST_F(SettleTest, ALookThatFailsIsNotCalledAgain) {
  Resource& look = want_state("state/look",
                              [](const Act&) -> Result<Outcome> { return world_error("refused"); });
  look.patience.with_errors = true;
  look.mandate = Mandate::report;
  EXPECT_EQ(carry().failures.size(), 1u);
  EXPECT_EQ(calls("state/look"), 1u);
}

TEST_F(SettleTest, ACallThatTakesTooLongIsToldToStopAndCalledAgain) {
  executor_.takes = [this](const Act& act) {
    return calls("state/slow") == 0 && act.key.kind == "state" ? 60s : 1ms;
  };
  Resource& slow = want_state("state/slow", [this](const Act& act) -> Result<Outcome> {
    if (executor_.told_to_stop.erase(act.key) != 0)
      return world_error("told to stop");
    return done(1);
  });
  slow.deadlines.attempt = 10s;
  EXPECT_TRUE(carry().good());
  EXPECT_EQ(log(), "ensure state/slow; end state/slow; ensure state/slow");
}

TEST_F(SettleTest, TheDeadlineOfTheRunEndsEveryWait) {
  want_state("state/answered", in_order({goes_on(1, 0, "CREATING")}));
  want_state("state/failing", [](const Act& act) -> Result<Outcome> {
    return fails(static_cast<uint64_t>(act.attempt));
  });
  want_state("state/pending", in_order({Pending{"nothing listens", {}, {}, {}}}));
  want("thing/after", Value::dict({}), {"state/failing"});
  RunOptions options;
  options.deadline = 5s;
  const Summary summary = carry(options);
  EXPECT_EQ(summary.failures.size(), 2u);
  ASSERT_EQ(summary.unsettled.size(), 1u);
  EXPECT_EQ(summary.unsettled[0].what, "gave up at the deadline of the run: CREATING");
  EXPECT_FALSE(summary.good());
  EXPECT_EQ(record("thing/after"), nullptr);
  EXPECT_FALSE(record("state/answered")->attempt);
}

TEST_F(SettleTest, AHintCallsAtOnceAndOneDuringACallCallsOnceMore) {
  const auto watches = [](const Act& act) -> Result<Outcome> {
    if (act.attempt < 3)
      return Outcome(Pending{"no file", {}, {}, {key_of("thing/file")}});
    return done(1);
  };
  want_state("state/waits", watches).pace = {Wait::fixed, 100s, 100s};
  const Instant begin = executor_.now().instant;
  executor_.hints.emplace(begin + 2s, key_of("thing/file"));
  executor_.hints.emplace(begin + 3s, key_of("thing/file"));
  EXPECT_TRUE(carry().good());
  EXPECT_EQ(calls("state/waits"), 3u);
  EXPECT_LT(executor_.now().instant - begin, 4s);
  EXPECT_EQ(std::ranges::count(executor_.log, "watch e"), 1);
}

TEST_F(SettleTest, AChangeThatAFailureHeldBackIsCaughtUpInTheNextRun) {
  want("thing/file");
  want("job/check");
  answers_["job/check"] = [](const Act&) -> Result<Outcome> { return world_error("broken"); };
  want("job/restart", Value::dict({}), {"job/check"})
      .needs.push_back({{key_of("thing/file")}, false, When::changed, Unmet::skip, Bond::order});
  EXPECT_EQ(carry().blocked, 1u);
  EXPECT_EQ(log().find("job/restart"), std::string::npos);
  answers_.clear();
  carry();
  EXPECT_EQ(log(), "run job/check; run job/restart");
  EXPECT_TRUE(why("job/restart").starts_with("it was due before: ")) << why("job/restart");
  carry();
  EXPECT_EQ(log(), "");
  EXPECT_EQ(run_->standing(key_of("job/restart")), Standing::unmet);
}

TEST_F(SettleTest, AnActThatWasHeldBackChangedNothing) {
  want("thing/file");
  want("job/check");
  answers_["job/check"] = [](const Act&) -> Result<Outcome> { return world_error("broken"); };
  want("state/held", Value::dict({}), {"job/check"})
      .needs.push_back({{key_of("thing/file")}, false, When::changed, Unmet::skip, Bond::order});
  carry();
  answers_["job/check"] = in_order({done(1)});
  answers_["state/held"] = in_order({done(1, false)});
  carry();
  EXPECT_EQ(calls("state/held"), 1u);
  EXPECT_EQ(run_->standing(key_of("state/held")), Standing::unchanged);
}

TEST_F(SettleTest, WhatWasHeldBackAndNeverDoneIsForgottenAndNotRemoved) {
  want("thing/file");
  want("job/check");
  answers_["job/check"] = [](const Act&) -> Result<Outcome> { return world_error("broken"); };
  want("thing/held", Value::dict({}), {"job/check"})
      .needs.push_back({{key_of("thing/file")}, false, When::changed, Unmet::skip, Bond::order});
  carry();
  ASSERT_NE(record("thing/held"), nullptr);
  begin_anew();
  want("thing/file");
  intent_->sets["p"] = Leftover::remove;
  carry();
  EXPECT_EQ(log().find("thing/held"), std::string::npos);
  EXPECT_EQ(record("thing/held"), nullptr);
}

TEST_F(SettleTest, AHoleReadsWhatAFailureHasLeftAndANeedDoesNot) {
  want("state/fails");
  answers_["state/fails"] = [](const Act&) -> Result<Outcome> {
    return Outcome(Failed{world_error("no"), Value::dict({{"out", 7}}), {}});
  };
  want("job/reads", embeds("state/fails"));
  want("job/needs_it_too", embeds("state/fails"), {"state/fails"});
  want("job/misses",
       Value::dict({{"x", Value::deferred({Part(Output{"state", "fails", "nothing"})})}}));
  carry();
  EXPECT_EQ(run_->standing(key_of("job/reads")), Standing::changed);
  EXPECT_EQ(run_->standing(key_of("job/needs_it_too")), Standing::blocked);
  EXPECT_EQ(run_->standing(key_of("job/misses")), Standing::blocked);
}

TEST_F(SettleTest, WhatIsUnmetIsNoFaultAndWhatAFailureKeptFromRunningCountsAsFailed) {
  want("job/fails");
  answers_["job/fails"] = [](const Act&) -> Result<Outcome> { return world_error("broken"); };
  want("job/behind", Value::dict({}), {"job/fails"});
  const auto on = [&](const std::string& path, const std::string& target, When when) {
    want(path).needs.push_back({{key_of(target)}, false, when, Unmet::skip, Bond::order});
  };
  on("job/rescue", "job/fails", When::failed);
  on("job/rescue_behind", "job/behind", When::failed);
  want("thing/good");
  on("job/not_needed", "thing/good", When::failed);
  want("job/needs_unmet", Value::dict({}), {"job/not_needed"});
  const Summary first = carry();
  EXPECT_EQ(first.unmet, 2u);
  EXPECT_EQ(first.blocked, 1u);
  EXPECT_EQ(run_->standing(key_of("job/not_needed")), Standing::unmet);
  EXPECT_EQ(why("job/not_needed"), "not needed: `thing/good` has not failed");
  EXPECT_EQ(run_->standing(key_of("job/rescue")), Standing::changed);
  EXPECT_EQ(run_->standing(key_of("job/rescue_behind")), Standing::changed);
  EXPECT_EQ(why("job/needs_unmet"), "not needed: `job/not_needed` was not needed");
}

TEST_F(SettleTest, AProcessThatWasKilledGoesOnWithItsCallsAndDeadlines) {
  Resource& state = want_state("state/slow", [](const Act& act) -> Result<Outcome> {
    return Outcome(
        Done{Value::dict({}), "", true, Again{"CREATING", {}, Value(act.attempt * 10), {}, {}}});
  });
  state.deadlines.settle = 30s;
  executor_.leave_after = 8;
  EXPECT_TRUE(carry().stopped);
  const Course course = *record("state/slow")->attempt->course;
  EXPECT_EQ(course.calls, 8);
  EXPECT_GT(course.spent, 7s);
  EXPECT_EQ(course.pause, 1s);
  EXPECT_EQ(course.so_far, Value(80));
  // A day without a run passes; another process takes over.
  executor_.leave_after = -1;
  executor_.pass(24h);
  called_.clear();
  const Instant begin = executor_.now().instant;
  const Summary summary = carry();
  EXPECT_EQ(called_["state/slow"].front().attempt, 9);
  EXPECT_EQ(called_["state/slow"].front().so_far, Value(80));
  EXPECT_EQ(executor_.waits.front(), 1s);
  EXPECT_EQ(summary.unsettled.size(), 1u);
  EXPECT_NEAR(std::chrono::duration<double>(executor_.now().instant - begin).count(), 23, 1.1);
}

TEST_F(SettleTest, ARunThatGoesOnRepeatsNoActionAndLooksAtWhatLooksForItself) {
  want("job/always").redo = Redo::always;
  want("state/looks");
  want("job/last", Value::dict({}), {"job/always", "state/looks"});
  executor_.leave_after = 2;
  EXPECT_TRUE(carry().stopped);
  const uint64_t first = record("job/always")->run;
  executor_.leave_after = -1;
  executor_.restart();
  RunOptions options;
  options.continues = first;
  EXPECT_TRUE(carry(options).good());
  EXPECT_EQ(log(), "ensure state/looks; run job/last");
  executor_.restart();
  EXPECT_TRUE(carry().good());
  EXPECT_EQ(log(), "run job/always; ensure state/looks");
}

TEST_F(SettleTest, SomethingElseMayBeWantedMeanwhile) {
  want_state("state/first", in_order({done(1)}));
  Resource& slow = want_state("state/slow", in_order({goes_on(1, 1), goes_on(1, 2), done(1)}));
  slow.pace = {Wait::fixed, 5s, 5s};
  auto more = std::make_shared<Intent>(*intent_);
  more->environment = "e";
  Resource late;
  late.key = key_of("thing/late");
  late.attributes = embeds("state/first");
  late.driver = "stage";
  more->resources["p"].push_back(late);
  bool is_given = false;
  wants_ = [&](const fettle::Run& run) -> Result<std::shared_ptr<const Intent>> {
    if (is_given || run.standing(key_of("state/first")) != Standing::changed)
      return nullptr;
    is_given = true;
    return more;
  };
  const Summary summary = carry();
  EXPECT_TRUE(summary.good());
  EXPECT_EQ(summary.done, 3u);
  EXPECT_EQ(calls("state/first"), 1u);
  EXPECT_EQ(calls("state/slow"), 3u);
  EXPECT_NE(record("thing/late"), nullptr);
}

TEST_F(SettleTest, WhatIsWantedOtherwiseWhileItActsIsDoneOnceMore) {
  executor_.takes = [](const Act& act) -> Duration { return act.key.name == "b" ? 10ms : 1ms; };
  want("state/a");
  want("state/b", variant(1));
  want("thing/gone");
  auto other = std::make_shared<Intent>();
  other->environment = "e";
  other->sets["p"] = Leftover::remove;
  Resource b = intent_->resources["p"][1];
  b.attributes = variant(2);
  other->resources["p"] = {intent_->resources["p"][0], b};
  bool is_given = false;
  wants_ = [&](const fettle::Run& run) -> Result<std::shared_ptr<const Intent>> {
    if (is_given || run.standing(key_of("thing/gone")) != Standing::changed)
      return nullptr;
    is_given = true;
    return other;
  };
  EXPECT_TRUE(carry().good());
  EXPECT_EQ(log(),
            "ensure state/a; ensure state/b; create thing/gone; remove thing/gone; ensure state/b");
  EXPECT_EQ(record("state/b")->applied->attributes, variant(2));
  EXPECT_EQ(record("thing/gone"), nullptr);
}

TEST_F(SettleTest, ARunThatIsToldOfAPartActsOnThatPart) {
  for (const char* name : {"thing/a", "thing/b", "thing/c", "thing/d"})
    want(name, variant(1));
  EXPECT_TRUE(carry().good());
  const Known all = *home_.store().known("e");
  // From the set that wants all of them, it hears of one, and then of another one that has to go.
  const auto part = [&](std::initializer_list<size_t> wanted, int number) {
    auto intent = std::make_shared<Intent>();
    intent->environment = "e";
    intent->sets["p"] = Leftover::remove;
    for (const size_t each : wanted) {
      intent->resources["p"].push_back(intent_->resources["p"][each]);
      intent->resources["p"].back().attributes = variant(number);
    }
    return intent;
  };
  const RunContext run_context{kinds_, [this](const Name&) { return &executor_; }, &blobs_, {}};
  const auto edit = home_.edit("e");
  executor_.log.clear();
  RunRequest run_request;
  run_request.intent = part({0}, 2);
  run_request.known = {{key_of("thing/a"), all.at(key_of("thing/a"))}};
  run_request.options.sequence = 100;
  bool is_given = false;
  run_request.wants = [&](const fettle::Run&) -> Result<std::shared_ptr<const Intent>> {
    return std::exchange(is_given, true) ? nullptr : part({0, 1}, 2);
  };
  run_request.also_known = [&](const fettle::Run&, const Intent&) {
    return Known{{key_of("thing/b"), all.at(key_of("thing/b"))},
                 {key_of("thing/c"), all.at(key_of("thing/c"))}};
  };
  const Result<RunResult> run_result =
      carry_out(run_context, *edit, executor_, std::move(run_request));
  ASSERT_TRUE(run_result && run_result->summary && run_result->summary->good());
  std::vector<std::string> log = executor_.log;
  std::ranges::sort(log);
  EXPECT_EQ(log,
            (std::vector<std::string>{"remove thing/c", "replace thing/a", "replace thing/b"}));
  const Known after = *home_.store().known("e");
  EXPECT_EQ(after.at(key_of("thing/a"))->applied->attributes, variant(2));
  EXPECT_EQ(after.at(key_of("thing/b"))->applied->attributes, variant(2));
  EXPECT_FALSE(after.contains(key_of("thing/c")));
  EXPECT_EQ(after.at(key_of("thing/d"))->applied->attributes, variant(1)) << "nobody spoke of it";
}

TEST_F(SettleTest, WhatOthersChangeDuringARunIsDecidedAnew) {
  for (const char* name : {"thing/changed", "thing/gone", "thing/unwanted", "thing/slow"})
    want(name, variant(1));
  EXPECT_TRUE(carry().good());
  const Known all = *home_.store().known("e");
  const auto as_left = [&](const char* name, int number) {
    auto record = std::make_shared<Record>(*all.at(key_of(name)));
    record->applied.edit().attributes = variant(number);
    return record;
  };
  answers_["thing/changed"] = [this](const Act&) -> Result<Outcome> {
    if (calls("thing/changed") == 1)
      return Outcome(Skipped{"it has changed since this was decided"});
    return done(1);
  };
  answers_["thing/slow"] = in_order({Pending{"it waits", 1s, {}}, done(1)});
  const auto intent = std::make_shared<Intent>(*intent_);
  intent->environment = "e";
  intent->sets["p"] = Leftover::remove;
  intent->resources["p"][0].attributes = intent->resources["p"][3].attributes = variant(2);
  const auto fewer = std::make_shared<Intent>(*intent);
  fewer->resources["p"].erase(fewer->resources["p"].begin() + 2);
  const RunContext run_context{kinds_, [this](const Name&) { return &executor_; }, &blobs_, {}};
  const auto edit = home_.edit("e");
  executor_.log.clear();
  RunRequest run_request;
  run_request.intent = intent;
  run_request.known = all;
  run_request.options.sequence = 100;
  bool is_given = false;
  run_request.wants = [&](const fettle::Run& run) -> Result<std::shared_ptr<const Intent>> {
    if (is_given || run.standing(key_of("thing/changed")) != Standing::skipped)
      return nullptr;
    is_given = true;
    return fewer;
  };
  run_request.also_known = [&](const fettle::Run&, const Intent&) {
    return Known{{key_of("thing/changed"), as_left("thing/changed", 3)},
                 {key_of("thing/gone"), nullptr},
                 {key_of("thing/unwanted"), nullptr},
                 {key_of("thing/slow"), as_left("thing/slow", 3)}};
  };
  const Result<RunResult> run_result =
      carry_out(run_context, *edit, executor_, std::move(run_request));
  ASSERT_TRUE(run_result && run_result->summary);
  EXPECT_TRUE(run_result->summary->good()) << "what was skipped has been done";
  std::vector<std::string> log = executor_.log;
  std::ranges::sort(log);
  EXPECT_EQ(log, (std::vector<std::string>{"create thing/gone", "replace thing/changed",
                                           "replace thing/changed", "replace thing/slow",
                                           "replace thing/slow"}))
      << "nobody removes what is gone, and acts under way go on";
  EXPECT_EQ(called_["thing/changed"].back().known->applied->attributes, variant(3));
}

TEST_F(SettleTest, AnIntentThatCannotBeEndsTheRunWithItsError) {
  want("state/a");
  auto circle = std::make_shared<Intent>(*intent_);
  circle->environment = "e";
  circle->resources["p"][0].needs.push_back({{key_of("state/a")}});
  wants_ = [&](const fettle::Run&) -> Result<std::shared_ptr<const Intent>> { return circle; };
  const RunContext run_context{kinds_, [this](const Name&) { return &executor_; }, &blobs_, {}};
  const auto edit = home_.edit("e");
  intent_->environment = "e";
  RunRequest run_request;
  run_request.intent = intent_;
  run_request.wants = wants_;
  const Result<RunResult> run_result =
      carry_out(run_context, *edit, executor_, std::move(run_request));
  ASSERT_TRUE(run_result.has_value());
  ASSERT_FALSE(run_result->summary.has_value());
  EXPECT_EQ(run_result->summary.error().message, "dependency cycle: state/a needs state/a");
}

}  // namespace
}  // namespace fettle
