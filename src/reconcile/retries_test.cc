#include "reconcile/retries.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

using Next = Verdict::Next;
constexpr Instant start{1h};

Again moving(uint64_t progress) { return {"it is on its way", {}, {}, {progress, 0}, {}}; }
Outcome done(std::optional<Again> again = {}) { return Done{.outputs = {}, .again = again}; }
Outcome failed(std::optional<Again> again = {}) {
  return Failed{world_error("no quorum"), {}, std::move(again)};
}
Outcome pending(std::optional<Duration> after = {}) { return Pending{"no answer", after, {}}; }

class RetriesTest : public testing::Test {
 protected:
  RetriesTest() {
    resource_.pace = {Wait::fixed, 2s, 2s};
    resource_.patience = {.calls = 3, .time = 9s};
  }
  Retries begin(bool is_removal = false) const { return {resource_, is_removal, start}; }
  /// One call after another, each `apart` from the previous one; returns the last verdict.
  Verdict judge_all(Retries& retries, const std::vector<Outcome>& outcomes, Duration apart) {
    Verdict verdict;
    for (const Outcome& outcome : outcomes) {
      retries.call(now_);
      now_ += apart;
      verdict = retries.judge(outcome, {.now = now_}, prng_);
    }
    return verdict;
  }

  Resource resource_;
  Prng prng_{1};
  Instant now_ = start;
};

TEST_F(RetriesTest, WhatBecomesOfAnActAfterItsFirstCall) {
  const CallEnd plain{.now = start + 1s};
  const CallEnd look{.now = start + 1s, .is_look = true};
  const CallEnd stale{.now = start + 1s, .is_stale = true};
  const CallEnd late{.now = start + 1s, .is_run_late = true};
  const CallEnd overdue{.now = start + 10s};
  constexpr bool removal = true;
  struct Row {
    const char* what;
    Outcome outcome;
    CallEnd end;
    Next next;
    std::string over{};
    bool is_removal = false;
  };
  resource_.deadlines.settle = 10s;
  const std::string too_long = "gave up after 10s";
  for (const Row& row : {
           Row{"a success", done(), plain, Next::settle},
           Row{"a failure", failed(), plain, Next::settle},
           Row{"left for another run", Skipped{"later"}, plain, Next::settle},
           Row{"not ready", pending(), plain, Next::call_again},
           Row{"a success on its way", done(moving(1)), plain, Next::call_again},
           Row{"a failure on its way", failed(moving(1)), plain, Next::call_again},
           Row{"a look is called again until it is ready", pending(), look, Next::call_again},
           Row{"a look that succeeded", done(moving(1)), look, Next::settle},
           Row{"a look that failed", failed(moving(1)), look, Next::settle},
           Row{"another is wanted: success", done(moving(1)), stale, Next::settle},
           Row{"another is wanted: failure", failed(moving(1)), stale, Next::settle},
           Row{"another is wanted: not ready", pending(), stale, Next::settle},
           Row{"removed", done(moving(1)), plain, Next::settle, {}, removal},
           Row{"not removed", failed(moving(1)), plain, Next::call_again, {}, removal},
           Row{"removals have no deadline", pending(), overdue, Next::call_again, {}, removal},
           Row{"a success at the deadline", done(), overdue, Next::settle},
           Row{"its deadline: success", done(moving(1)), overdue, Next::give_up, too_long},
           Row{"its deadline: failure", failed(moving(1)), overdue, Next::give_up, too_long},
           Row{"its deadline: not ready", pending(), overdue, Next::give_up, too_long},
           Row{"the run's: success", done(moving(1)), late, Next::give_up,
               std::string(run_is_late)},
           Row{"the run's: not ready", pending(), late, Next::give_up, std::string(run_is_late)},
       }) {
    Retries retries = begin(row.is_removal);
    const Verdict verdict = retries.judge(row.outcome, row.end, prng_);
    EXPECT_EQ(verdict.next, row.next) << row.what;
    EXPECT_EQ(verdict.over, row.over) << row.what;
    EXPECT_EQ(verdict.is_over_time, !row.over.empty()) << row.what;
    EXPECT_EQ(retries.calls(), 1) << row.what;
  }
}

TEST_F(RetriesTest, PatienceEndsWithCallsAlikeAndTimeTogether) {
  struct Row {
    const char* what;
    std::vector<Outcome> outcomes;
    Duration apart;
    std::string over{};
  };
  const Outcome same = failed(moving(7)), moved = failed(moving(8)), unclear = failed(moving(0));
  for (const Row& row : {
           Row{"calls without time", {same, same, same, same}, 1s},
           Row{"time without calls", {same, same}, 1h},
           Row{"both", {same, same, same}, 5s, "nothing has moved for 10s and 3 calls"},
           Row{"what moves counts anew", {same, same, moved, moved}, 5s},
           Row{"and is given up later",
               {same, moved, moved, moved},
               5s,
               "nothing has moved for 10s and 3 calls"},
           Row{"not ready takes no patience", {same, pending(), pending(), same}, 5s},
           Row{"and gives none back",
               {same, pending(), same, same},
               5s,
               "nothing has moved for 15s and 3 calls"},
           Row{"nothing that could move", {unclear, unclear, unclear, unclear}, 1h},
       }) {
    Retries retries = begin();
    const Verdict verdict = judge_all(retries, row.outcomes, row.apart);
    EXPECT_EQ(verdict.over, row.over) << row.what;
    EXPECT_EQ(verdict.next, row.over.empty() ? Next::call_again : Next::give_up) << row.what;
    EXPECT_FALSE(verdict.is_over_time) << row.what;
  }
}

TEST_F(RetriesTest, TheMostCallsCountWhateverTheyComeTo) {
  resource_.patience.most = 3;
  Retries retries = begin();
  EXPECT_EQ(judge_all(retries, {done(moving(1)), done(moving(2))}, 1s).next, Next::call_again);
  EXPECT_EQ(judge_all(retries, {done(moving(3))}, 1s).over, "gave up after 3 calls");
}

TEST_F(RetriesTest, PausesGrowWithCallsAlikeAndNeverReachBeyondTheDeadline) {
  resource_.pace = {Wait::exponential, 1s, 1min, 2};
  resource_.patience = {.calls = 99, .time = 99h};
  resource_.deadlines.settle = 30s;
  Retries retries = begin();
  const auto pause_after = [&](const Outcome& outcome) {
    judge_all(retries, {outcome}, 1s);
    return retries.due() - now_;
  };
  EXPECT_EQ(pause_after(failed(moving(1))), 1s);
  EXPECT_EQ(pause_after(failed(moving(1))), 2s);
  EXPECT_EQ(pause_after(failed(moving(1))), 4s);
  EXPECT_EQ(pause_after(failed(moving(2))), 1s);
  EXPECT_EQ(pause_after(pending()), 16s);  // the fifth call
  EXPECT_EQ(pause_after(pending(3s)), 3s);
  EXPECT_EQ(pause_after(pending(1h)), 23s);  // the deadline
  EXPECT_EQ(retries.answers_again(), 3);
}

TEST_F(RetriesTest, APauseWithoutEndEndsWithTheClock) {
  Retries retries = begin();
  judge_all(retries, {pending(Duration::max())}, 1s);
  EXPECT_EQ(retries.due(), Instant::max());
}

TEST_F(RetriesTest, OnlyWhatItWaitsForNowIsNews) {
  Retries retries = begin();
  EXPECT_TRUE(judge_all(retries, {pending()}, 1s).is_news);
  EXPECT_FALSE(judge_all(retries, {pending()}, 1s).is_news);
  EXPECT_TRUE(judge_all(retries, {done(moving(1))}, 1s).is_news);
  EXPECT_EQ(retries.what(), "it is on its way");
}

TEST_F(RetriesTest, AnErrorIsCalledAgainOnlyWhenTheResourceSaysSoAndItsOutcomeIsKnown) {
  Error unknown = world_error("the connection broke");
  unknown.unknown_outcome = true;
  struct Row {
    const char* what;
    Error error;
    bool with_errors;
    CallEnd end;
    std::string message;
    bool is_again;
  };
  for (const Row& row : {
           Row{"plain", world_error("no"), false, {}, "no", false},
           Row{"with errors", world_error("no"), true, {}, "no", true},
           Row{"nobody knows", unknown, true, {}, "the connection broke", false},
           Row{"too long",
               world_error("no"),
               false,
               {.was_stopped = true},
               "a call took longer than 3s: no",
               true},
           Row{"the run is late",
               cancelled_error(),
               true,
               {.is_run_late = true},
               "gave up at the deadline of the run, in the middle of a call",
               false},
       }) {
    resource_.patience.with_errors = row.with_errors;
    resource_.deadlines.attempt = 3s;
    const Outcome outcome = begin().outcome_of(row.error, row.end);
    const Failed& failed = std::get<Failed>(outcome);
    EXPECT_EQ(failed.error.message, row.message) << row.what;
    EXPECT_EQ(failed.again.has_value(), row.is_again) << row.what;
  }
}

TEST_F(RetriesTest, ACallHasALimitOfItsOwnIfTheResourceHasOne) {
  Retries retries = begin();
  EXPECT_FALSE(retries.limit());
  resource_.deadlines.attempt = 3s;
  retries = begin();
  retries.call(start + 5s);
  EXPECT_EQ(retries.limit(), start + 8s);
}

TEST_F(RetriesTest, AnotherProcessGoesOnWhereThisOneWas) {
  resource_.deadlines.settle = 1min;
  resource_.patience = {.calls = 3, .time = 20s};
  Retries before = begin();
  judge_all(before, {failed(moving(7)), failed(moving(7))}, 10s);
  const Course course = before.course(now_);
  EXPECT_EQ(course.calls, 2);
  EXPECT_EQ(course.spent, 20s);
  EXPECT_EQ(course.pause, 2s);
  EXPECT_EQ(course.alike_for, 10s);

  const Instant later = now_ + 24h;
  Retries after(resource_, false, later);
  EXPECT_TRUE(after.resume(course, before.what(), later));
  EXPECT_EQ(after.due(), later + 2s);
  EXPECT_EQ(after.what(), "it is on its way");
  const Verdict verdict = after.judge(failed(moving(7)), {.now = later + 10s}, prng_);
  EXPECT_EQ(verdict.over, "nothing has moved for 20s and 3 calls");
  EXPECT_EQ(after.judge(pending(), {.now = later + 40s}, prng_).over, "gave up after 1m0s");

  Course due_already = course;
  due_already.pause = Duration(0);
  EXPECT_FALSE(after.resume(due_already, "", later));
}

}  // namespace
}  // namespace fettle
