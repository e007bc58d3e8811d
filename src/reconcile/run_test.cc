/// The decisions of a run, through `carry_out` on a stage where nothing takes any time.

#include "reconcile/run.h"

#include <algorithm>

#include "base/text.h"
#include "core/open_payload.h"
#include "tests/fixtures/run_fixture.h"

namespace fettle {
namespace {

TEST_F(RunTest, WhatNeedsSomethingComesAfterItAndIsKeptTheNextTime) {
  want("thing/b", Value::dict({}), {"thing/a"});
  want("thing/a");
  EXPECT_EQ(carry().done, 2u);
  EXPECT_EQ(log(), "create thing/a; create thing/b");
  EXPECT_EQ(carry().kept, 2u);
  EXPECT_EQ(log(), "");
}

TEST_F(RunTest, AllPoolsTogetherActNoMoreThanAllowedAtOnce) {
  intent_->pools["pull"] = 3;
  for (int i = 0; i < 6; ++i) {
    want(cat("job/a", i));
    want(cat("job/b", i)).pool = "pull";
    want(cat("job/c", i)).pool = "other";
  }
  EXPECT_EQ(carry(with_parallelism(4)).done, 18u);
  EXPECT_EQ(executor_.most_in_flight, 4u);
  begin_anew();
  intent_->pools["pull"] = 2;
  for (int i = 0; i < 6; ++i)
    want(cat("job/d", i)).pool = "pull";
  EXPECT_EQ(carry(with_parallelism(4)).done, 6u);
  EXPECT_EQ(executor_.most_in_flight, 2u);
}

TEST_F(RunTest, AChainOfHostsThatAreMadeAnewComesToItsEnd) {
  const auto describe = [&](int version) {
    begin_anew();
    for (int i = 0; i < 13; ++i) {
      Resource& host = want(cat("host/h", i), i == 0 ? variant(version) : Value::dict({}));
      host.leftover = Leftover::keep;
    }
    // Each embeds the output of the previous one, which runs again in a recreated host.
    for (int i = 0; i < 13; ++i) {
      Resource& act = want(cat("act/a", i), i == 0 ? Value::dict({}) : embeds(cat("act/a", i - 1)));
      act.needs.push_back(need(cat("host/h", i), Bond::inside));
    }
  };
  describe(1);
  EXPECT_TRUE(carry().good());
  describe(2);
  const Summary summary = carry();
  EXPECT_TRUE(summary.good());
  EXPECT_EQ(summary.done, 26u);
  EXPECT_TRUE(carry().good());
  EXPECT_EQ(log(), "");
}

TEST_F(RunTest, WhatIsDoneInEveryRunIsDoneOnceInIt) {
  want("job/noisy").redo = Redo::always;
  want("state/s");
  want("host/h");
  want("act/a", embeds("job/noisy")).needs.push_back(need("host/h", Bond::inside));
  EXPECT_TRUE(carry().good());
  // The act embeds another value now, so its host is recreated in a second pass.
  EXPECT_TRUE(carry().good());
  EXPECT_EQ(log(), "run job/noisy; ensure state/s; replace host/h; run act/a");
}

TEST_F(RunTest, WhatDoesNotSettleIsGivenUpAndCounts) {
  want("job/noisy").redo = Redo::always;
  want("host/h");
  want("act/a", embeds("job/noisy")).needs.push_back(need("host/h", Bond::inside));
  EXPECT_TRUE(carry().good());
  RunOptions options;
  options.anew_limit = 0;
  const Summary summary = carry(options);
  EXPECT_FALSE(summary.good());
  EXPECT_EQ(summary.blocked, 1u);
  EXPECT_NE(why("act/a").find("so `host/h` is recreated"), std::string::npos);
}

TEST_F(RunTest, EachNeedThatWaitsForAChangeHasToSeeOne) {
  const auto describe = [&](int a, int b, bool any) {
    begin_anew();
    want("thing/a", variant(a));
    want("thing/b", variant(b));
    Resource& waits = want("job/waits");
    if (any)
      waits.needs.push_back({{key_of("thing/a"), key_of("thing/b")}, true, When::changed});
    else
      waits.needs = {need("thing/a", Bond::order, When::changed),
                     need("thing/b", Bond::order, When::changed)};
  };
  describe(1, 1, false);
  carry();
  EXPECT_NE(log().find("job/waits"), std::string::npos);
  describe(2, 1, false);
  carry();
  EXPECT_EQ(log(), "replace thing/a");
  EXPECT_EQ(why("job/waits"), "nothing that it waits for has changed");
  describe(2, 2, true);
  carry();
  EXPECT_EQ(log(), "replace thing/b; run job/waits");
}

TEST_F(RunTest, AnActThatWaitedForAChangeAndDidNotSucceedIsStillDue) {
  for (const bool interrupted : {false, true}) {
    SCOPED_TRACE(interrupted);
    begin_anew();
    const std::string name = cat("job/waits-", interrupted);
    want("thing/a", variant(interrupted ? 7 : 8));
    want(name).needs.push_back(need("thing/a", Bond::order, When::changed));
    executor_.comes_to = [&](const Act& act) -> std::optional<Result<Outcome>> {
      if (act.key.kind != "job")
        return std::nullopt;
      Error error = world_error("broken");
      error.unknown_outcome = interrupted;
      return error;
    };
    EXPECT_FALSE(carry().good());
    executor_.comes_to = nullptr;
    EXPECT_TRUE(carry().good());
    EXPECT_EQ(log(), cat("run ", name));
    EXPECT_FALSE(record(name)->attempt);
    EXPECT_TRUE(carry().good());
    EXPECT_EQ(log(), "");
  }
}

TEST_F(RunTest, WhatIsNotDueIsNotTakenForDone) {
  want("thing/a");
  want("job/waits", variant(1)).needs.push_back(need("thing/a", Bond::order, When::changed));
  carry();
  intent_->resources["p"][1].attributes = variant(2);
  carry();
  EXPECT_EQ(log(), "");
  EXPECT_EQ(record("job/waits")->applied->attributes, variant(1));
  // Without the need, it is clearly not as wanted.
  intent_->resources["p"][1].needs.clear();
  carry();
  EXPECT_EQ(log(), "run job/waits");
}

TEST_F(RunTest, WhatStandsAndEmbedsAnotherValueIsMadeAnewAndNotOnlyStarted) {
  want("job/value", variant(1));
  want("host/h", embeds("job/value"));
  carry();
  intent_->resources["p"][0].attributes = variant(2);
  executor_.comes_to = [](const Act& act) -> std::optional<Result<Outcome>> {
    return Outcome(Done{Value::dict({{"out", dict_of(act.attributes).at("variant")}}), {}, true});
  };
  executor_.looks = [](const Key&) { return Observation{Value::dict({{"runs", false}}), false}; };
  carry();
  EXPECT_EQ(log(), "run job/value; replace host/h");
}

TEST_F(RunTest, WhatAHoleIsFilledWithIsCheckedAndDerivedFromLikeWhatWasWritten) {
  want("job/value", variant(1));
  want("thing/t", Value::dict({{"word", embeds("job/value").at("x")}}));
  Value out = "four", given;
  executor_.comes_to = [&](const Act& act) -> std::optional<Result<Outcome>> {
    if (act.key.kind == "thing")
      given = dict_of(act.attributes);
    return Outcome(Done{Value::dict({{"out", out}}), {}, true});
  };
  EXPECT_TRUE(carry().good());
  EXPECT_EQ(given, Value::dict({{"word", "four"}, {"length", 4}}));
  intent_->resources["p"][0].attributes = variant(2);
  out = 7;
  const Summary refused = carry();
  EXPECT_EQ(log(), "run job/value");
  ASSERT_EQ(refused.failures.size(), 1u);
  EXPECT_EQ(refused.failures[0].error.message, "`word` must be a string");
  out = "fourteen";
  intent_->resources["p"][0].attributes = variant(3);
  EXPECT_TRUE(carry().good());
  EXPECT_EQ(given, Value::dict({{"word", "fourteen"}, {"length", 8}}));
}

/// A world that can no longer be reached.
class LostWorld : public StageGround {
 public:
  Result<std::vector<Observation>> observe(std::span<const Subject>, std::stop_token) override {
    return world_error("no answer");
  }
};

TEST_F(RunTest, ADriverThatCannotLookDisturbsNoOther) {
  want("thing/a");
  want("thing/b").driver = "other";
  want("thing/c", Value::dict({}), {"thing/b"});
  carry();
  LostWorld lost;
  other_ = &lost;
  intent_->resources["p"][0].attributes = variant(2);
  intent_->resources["p"][1].attributes = variant(2);
  const Summary summary = carry();
  EXPECT_EQ(log(), "replace thing/a");
  EXPECT_EQ(summary.blocked, 2u);
  EXPECT_FALSE(summary.good());
  EXPECT_EQ(run_->step(key_of("thing/b"))->why, "unavailable: no answer");
  EXPECT_EQ(run_->standing(key_of("thing/c")), Standing::blocked);
  EXPECT_TRUE(lost.log.empty());
  // It continues when the world answers again.
  other_ = nullptr;
  carry();
  EXPECT_EQ(log(), "replace thing/b");
}

TEST_F(RunTest, WhatAnActThatDidNotComeToItsEndMayHaveDoneCountsAsAChange) {
  want("thing/a");
  carry();
  for (const bool unknown : {false, true}) {
    intent_->resources["p"][0].attributes = variant(unknown ? 2 : 1);
    const uint64_t before = record("thing/a")->changes;
    executor_.comes_to = [&](const Act&) -> std::optional<Result<Outcome>> {
      Error error = world_error("broken in the middle");
      error.unknown_outcome = unknown;
      return error;
    };
    carry();
    executor_.comes_to = [](const Act& act) -> std::optional<Result<Outcome>> {
      if (act.attempt == 1)
        return Outcome(Pending{"not yet", {}, {}});
      return Outcome(Done{{}, {}, false});
    };
    carry();
    EXPECT_EQ(record("thing/a")->changes, before + 1);
    EXPECT_EQ(run_->standing(key_of("thing/a")), Standing::changed);
  }
}

TEST_F(RunTest, WhatComesBackIsHeardAgainByThoseWhoNeedIt) {
  const auto acts = [&](bool needs) {
    begin_anew();
    want("job/listener");
    if (needs) {
      want("job/told");
      intent_->resources["p"][0].needs.push_back(need("job/told", Bond::refresh));
    }
    intent_->sets["p"] = Leftover::remove;
    EXPECT_TRUE(carry().good());
    return executor_.log.size();
  };
  EXPECT_EQ(acts(true), 2u);
  EXPECT_EQ(acts(false), 0u);  // an unwanted action is forgotten
  EXPECT_EQ(acts(true), 2u);
}

TEST_F(RunTest, WhatIsSkippedIsNoFailureAndWhatNeedsItWaits) {
  want("job/a");
  want("job/b", Value::dict({}), {"job/a"});
  want("job/c");
  executor_.comes_to = [](const Act& act) -> std::optional<Result<Outcome>> {
    return act.key.name == "a" ? std::optional<Result<Outcome>>(Skipped{"not now"}) : std::nullopt;
  };
  const Summary summary = carry();
  EXPECT_TRUE(summary.failures.empty());
  EXPECT_FALSE(summary.good());
  ASSERT_EQ(summary.skips.size(), 1u);
  EXPECT_EQ(to_string(summary.skips[0].key), "job/a");
  EXPECT_EQ(summary.skips[0].why, "not now");
  EXPECT_EQ(summary.blocked, 1u);
  EXPECT_EQ(summary.done, 1u);
  EXPECT_EQ(record("job/a")->attempt->error, "not now");
  const auto events = *home_.store().events_of(key_of("job/a"), 10);
  EXPECT_EQ(events.front().type, EventType::skipped);
  EXPECT_EQ(events.front().text, "not now");
  const auto waiting = *home_.store().events_of(key_of("job/b"), 10);
  EXPECT_EQ(waiting.front().text, "`job/a` was skipped");
  EXPECT_EQ(waiting.front().because, key_of("job/a"));
  executor_.comes_to = nullptr;
  EXPECT_EQ(carry().done, 2u);
}

TEST_F(RunTest, WhatIsPendingIsAskedAgainAtItsPace) {
  want("job/a").pace = {Wait::fixed, 100ms, 100ms};
  executor_.comes_to = [](const Act& act) -> std::optional<Result<Outcome>> {
    return act.attempt < 4 ? std::optional<Result<Outcome>>(Pending{"not yet", {}, {}})
                           : std::nullopt;
  };
  // The calendar goes back and forth without any effect.
  executor_.wall_off = -5h;
  EXPECT_TRUE(carry().good());
  EXPECT_EQ(executor_.waits, (std::vector<Duration>{100ms, 100ms, 100ms}));
}

TEST_F(RunTest, WhatStaysPendingFailsAtItsDeadline) {
  Resource& job = want("job/a");
  job.pace = {Wait::fixed, 400ms, 400ms};
  job.deadlines.settle = 1s;
  executor_.comes_to = [&](const Act&) -> std::optional<Result<Outcome>> {
    executor_.wall_off += 3h;
    return Pending{"not yet", {}, {}};
  };
  const Summary summary = carry();
  ASSERT_EQ(summary.failures.size(), 1u);
  EXPECT_EQ(summary.failures[0].error.message, "gave up after 1s: not yet");
  EXPECT_EQ(executor_.log.size(), 4u);
}

TEST_F(RunTest, WhatIsCalledAtTheDeadlineOfTheRunSaysSo) {
  want("job/a").patience.with_errors = true;
  executor_.takes = [](const Act&) { return Duration(5s); };
  executor_.comes_to = [](const Act&) -> std::optional<Result<Outcome>> {
    return cancelled_error();
  };
  RunOptions options;
  options.deadline = 1s;
  const Summary summary = carry(options);
  EXPECT_EQ(executor_.log, (std::vector<std::string>{"run job/a", "end job/a"}));
  ASSERT_EQ(summary.failures.size(), 1u);
  EXPECT_EQ(summary.failures[0].error.message,
            "gave up at the deadline of the run, in the middle of a call");
}

TEST_F(RunTest, AskedToStopItFinishesWhatIsInFlightAndBeginsNothing) {
  want("job/a");
  want("job/b", Value::dict({}), {"job/a"});
  executor_.stop_after = 0;
  const Summary summary = carry();
  EXPECT_TRUE(summary.stopped);
  EXPECT_EQ(summary.done, 1u);
  EXPECT_FALSE(record("job/a")->attempt);
  EXPECT_EQ(carry().done, 1u);
}

TEST_F(RunTest, AnActThatAStopCutsOffMeansThatTheRunWasStopped) {
  want("job/a");
  want("job/b");
  executor_.stop_after = 0;
  executor_.comes_to = [](const Act&) -> std::optional<Result<Outcome>> {
    return cancelled_error();
  };
  const Summary summary = carry();
  EXPECT_EQ(summary.failures.size(), 2u);
  EXPECT_TRUE(summary.stopped);
  executor_.stop_after = -1;
  executor_.comes_to = [](const Act&) -> std::optional<Result<Outcome>> {
    return world_error("no");
  };
  EXPECT_FALSE(carry().stopped);
  executor_.comes_to = nullptr;
  EXPECT_TRUE(carry().good());
}

TEST_F(RunTest, AskedToLeaveItCountsWhatWasInFlightAsInterrupted) {
  want("job/a");
  executor_.leave_after = 0;
  EXPECT_TRUE(carry().stopped);
  ASSERT_TRUE(record("job/a")->attempt);
  EXPECT_FALSE(record("job/a")->attempt->failed);
  executor_.leave_after = -1;
  EXPECT_TRUE(carry().good());
  EXPECT_TRUE(why("job/a").starts_with("interrupted on "));
}

TEST_F(RunTest, AContentThatIsLostMakesWhatPutItDueAgain) {
  want("thing/a");
  want("job/b");
  const std::string digest = *blobs_.put("a content");
  executor_.comes_to = [&](const Act&) -> std::optional<Result<Outcome>> {
    return Outcome(
        Done{Value::dict({{"content", *blobs_.put("a content")}, {"out", 1}}), {}, true});
  };
  carry();
  EXPECT_EQ(carry().kept, 2u);
  blobs_.contents.clear();
  EXPECT_EQ(carry().done, 2u);
  EXPECT_EQ(why("job/b"), "its content is lost");
  EXPECT_TRUE(blobs_.contents.contains(digest));
  EXPECT_EQ(carry().kept, 2u);
}

TEST_F(RunTest, WhoOnlyLooksChangesAndRecordsNothing) {
  want("state/a");
  carry();
  const size_t events = home_.store().events("e", 0, 100)->size();
  intent_->resources["p"][0].mandate = Mandate::report;
  executor_.comes_to = [](const Act& act) -> std::optional<Result<Outcome>> {
    EXPECT_TRUE(act.looks_only);
    return Outcome(Done{Value::dict({{"found", "drift"}}), {}, true});
  };
  carry();
  EXPECT_EQ(run_->standing(key_of("state/a")), Standing::changed);
  EXPECT_EQ(dict_of(*run_->looked(key_of("state/a"))).text_at("found"), "drift");
  EXPECT_EQ(record("state/a")->changes, 1u);
  EXPECT_EQ(home_.store().events("e", 0, 100)->size(), events + 2);  // that it began and ended
}

// Requests by hand.

class RequestTest : public RunTest {
 protected:
  void SetUp() override {
    want("thing/net");
    want("host/h", Value::dict({}), {"thing/net"});
    want("host/user", Value::dict({}), {"host/h"});
    carry();
    executor_.looks = [this](const Key& key) {
      if (gone_.contains(to_string(key)))
        return Observation{};
      return Observation{Value::dict({{"runs", !stopped_.contains(to_string(key))}}), false};
    };
    executor_.comes_to = [this](const Act& act) -> std::optional<Result<Outcome>> {
      const std::string name = to_string(act.key);
      act.verb == Verb::stop ? stopped_.insert(name), 0 : stopped_.erase(name);
      act.verb == Verb::remove ? gone_.insert(name), 0 : gone_.erase(name);
      return std::nullopt;
    };
  }
  Summary ask(Verb verb, const std::vector<std::string>& paths) {
    begin_anew();
    intent_->sets["cli"] = Leftover::keep;
    for (const std::string& path : paths)
      intent_->requests.push_back({key_of(path), verb});
    return carry();
  }
  /// The package runs again.
  std::string repaired() {
    begin_anew();
    want("thing/net");
    want("host/h", Value::dict({}), {"thing/net"});
    want("host/user", Value::dict({}), {"host/h"});
    EXPECT_TRUE(carry().good());
    return log();
  }

  std::set<std::string> gone_, stopped_;
};

TEST_F(RequestTest, WhatIsStoppedIsDriftUntilItsPackageRunsAgain) {
  EXPECT_TRUE(ask(Verb::stop, {"host/h"}).good());
  EXPECT_EQ(log(), "stop host/h");
  EXPECT_EQ(record("host/h")->by_hand, ByHand::stopped);
  EXPECT_EQ(record("host/h")->wanted_by.count("p"), 1u);
  EXPECT_TRUE(ask(Verb::stop, {"host/h"}).good());
  EXPECT_EQ(log(), "");
  EXPECT_EQ(repaired(), "start host/h");
  EXPECT_EQ(why("host/h"), "drift: it was stopped");
  EXPECT_EQ(record("host/h")->by_hand, ByHand::nothing);
  EXPECT_EQ(repaired(), "");
}

TEST_F(RequestTest, WhatIsStoppedTogetherStopsAfterWhatNeedsItAndStartsBefore) {
  EXPECT_TRUE(ask(Verb::stop, {"host/h", "host/user"}).good());
  EXPECT_EQ(log(), "stop host/user; stop host/h");
  EXPECT_TRUE(ask(Verb::start, {"host/user", "host/h"}).good());
  EXPECT_EQ(log(), "start host/h; start host/user");
  EXPECT_EQ(repaired(), "");
}

TEST_F(RequestTest, WhatIsStartedAndGoneIsMadeAsItWasWithWhatItStandsOn) {
  gone_ = {"host/h", "thing/net"};
  EXPECT_TRUE(ask(Verb::start, {"host/h"}).good());
  EXPECT_EQ(log(), "create thing/net; create host/h");
  EXPECT_EQ(record("host/h")->wanted_by.size(), 1u);
  EXPECT_EQ(record("host/h")->incarnation, 2u);
  EXPECT_EQ(repaired(), "");
}

TEST_F(RequestTest, WhatCouldNotBeStartedAndWasMadeAnewHasLostWhatHappenedInIt) {
  const auto describe = [&] {
    begin_anew();
    want("thing/net");
    want("host/h", Value::dict({}), {"thing/net"});
    want("act/a").needs.push_back(need("host/h", Bond::inside));
  };
  describe();
  EXPECT_TRUE(carry().good());
  EXPECT_EQ(log(), "run act/a");
  executor_.comes_to = [as_usual = executor_.comes_to](const Act& act) {
    auto outcome = as_usual(act);
    if (act.verb == Verb::start)
      outcome = Outcome(Done{.outputs = Value::dict({}), .remote_id = "another", .is_anew = true});
    return outcome;
  };
  // By hand, and in a run.
  EXPECT_TRUE(ask(Verb::stop, {"host/h"}).good());
  EXPECT_TRUE(ask(Verb::start, {"host/h"}).good());
  EXPECT_EQ(record("host/h")->incarnation, 2u);
  describe();
  EXPECT_TRUE(carry().good());
  EXPECT_EQ(log(), "run act/a");
  EXPECT_TRUE(ask(Verb::stop, {"host/h"}).good());
  describe();
  EXPECT_TRUE(carry().good());
  EXPECT_EQ(log(), "start host/h; run act/a");
  EXPECT_EQ(record("host/h")->incarnation, 3u);
  describe();
  EXPECT_TRUE(carry().good());
  EXPECT_EQ(log(), "");
}

TEST_F(RequestTest, WhatIsStartedAfterAnInterruptedReplacementIsMadeAsItWas) {
  begin_anew();
  want("thing/net");
  want("host/h", variant(2), {"thing/net"});
  want("host/user", Value::dict({}), {"host/h"});
  executor_.leave_after = 0;
  carry();
  executor_.leave_after = -1;
  EXPECT_TRUE(ask(Verb::start, {"host/h"}).good());
  EXPECT_EQ(log(), "replace host/h");
  EXPECT_EQ(record("host/h")->applied->attributes, Value::dict({}));
  EXPECT_FALSE(record("host/h")->attempt);
}

TEST_F(RequestTest, WhatIsRemovedIsMadeAgainByWhoWantsIt) {
  EXPECT_TRUE(ask(Verb::remove, {"host/user"}).good());
  EXPECT_EQ(log(), "remove host/user");
  EXPECT_EQ(record("host/user")->by_hand, ByHand::removed);
  EXPECT_EQ(record("host/user")->remote_id, "");
  EXPECT_EQ(repaired(), "create host/user");
  EXPECT_EQ(why("host/user"), "it was removed");
}

TEST_F(RequestTest, WhatNobodyElseWantsIsForgottenOnceItIsRemoved) {
  begin_anew();
  want("host/mine", Value::dict({}), {}, "cli");
  carry();
  EXPECT_TRUE(ask(Verb::remove, {"host/mine"}).good());
  EXPECT_EQ(record("host/mine"), nullptr);
}

TEST_F(RequestTest, OnlyWhatIsAskedForAndWhatItStandsOnIsLookedAt) {
  EXPECT_TRUE(ask(Verb::stop, {"host/h"}).good());
  EXPECT_EQ(executor_.looked_at, (std::vector<std::string>{"host/h", "thing/net"}));
}

TEST_F(RequestTest, AnEditThatFailsOrIsKilledGoesOn) {
  const auto keep = executor_.comes_to;
  executor_.comes_to = [](const Act&) -> std::optional<Result<Outcome>> {
    return world_error("the engine is away");
  };
  const Summary failed = ask(Verb::stop, {"host/h"});
  ASSERT_EQ(failed.failures.size(), 1u);
  EXPECT_EQ(record("host/h")->attempt->verb, Verb::stop);
  executor_.comes_to = keep;
  executor_.leave_after = 0;
  EXPECT_TRUE(ask(Verb::stop, {"host/h"}).stopped);
  executor_.leave_after = -1;
  // A host that an interrupted stop left running may end at any moment: it is started, not
  // recreated.
  EXPECT_EQ(repaired(), "start host/h");
  EXPECT_FALSE(record("host/h")->attempt);
  EXPECT_TRUE(ask(Verb::stop, {"host/h"}).good());
  EXPECT_EQ(repaired(), "start host/h");
}

TEST_F(RequestTest, WhatBelongsToNoSetIsMadeSoOnceAndStaysWhoseItIs) {
  begin_anew();
  want("host/h", variant(5), {"thing/net"}, "");
  EXPECT_TRUE(carry().good());
  EXPECT_EQ(log(), "replace host/h");
  EXPECT_EQ(record("host/h")->wanted_by.size(), 1u);
  EXPECT_EQ(repaired(), "replace host/h");
  EXPECT_EQ(why("host/h"), "`variant` changed");
}

}  // namespace
}  // namespace fettle
