#include "sim/fault_sweep.h"

#include <gtest/gtest.h>

#include "plan/make_plan.h"
#include "sim/generate.h"
#include "sim/world_check.h"
#include "tests/fixtures/home.h"
#include "verbs/environments/environments.h"

namespace fettle::sim {
namespace {

/// A process after the other on one store and one world, by way of the verbs.
class FaultSweepTest : public testing::TestWithParam<Fault::Moment> {
 protected:
  /// A store and a world that nothing has happened in.
  void begin(Fault& fault) {
    home_ = std::make_unique<TestHome>();
    world_ = {};
    put(fault);
    place_.blobs = &home_->blobs();
    place_.kinds = &kinds_;
    place_.driver = [this](const Name&) { return driver_.get(); };
    place_.clock = now_from_clock;
    place_.random = [this] { return ++random_; };
    place_.interrupt = &interrupt_;
    place_.command = "a sweep";
  }
  /// From now on calls may fail so.
  void put(Fault& fault) {
    store_ = std::make_unique<FaultyStore>(home_->store(), fault);
    driver_ = std::make_unique<FaultyDriver>(world_, home_->blobs(), fault);
    place_.store = store_.get();
  }

  Result<Summary> run(const Sketch& sketch) {
    const std::unique_ptr<Edit> edit = TRY(begin_edit(place_, "e", false));
    TRY(ensure_environment(place_, *edit, Value::dict({})));
    RunRequest run_request;
    run_request.intent = std::make_shared<const Intent>(intent_of(sketch));
    run_request.known = TRY(place_.store->known("e"));
    run_request.options.parallelism = 2;
    return TRY(carry_out(place_, *edit, std::move(run_request))).summary;
  }

  /// With one call failing: a clean error, or a failure in the summary, or it did not matter.
  void expect_clean(const Result<Summary>& result, const Fault& fault) {
    if (!result) {
      EXPECT_EQ(result.error().blame, Blame::world) << to_string(result.error());
      EXPECT_NE(to_string(result.error()).find("on purpose"), std::string::npos)
          << to_string(result.error());
    }
    if (!fault.has_hit()) {
      ASSERT_TRUE(result) << to_string(result.error());
      EXPECT_TRUE(result->good());
    }
  }

  /// Without faults the next run comes to what is wanted, and there is nothing to do then.
  void expect_convergence(const Sketch& sketch, const char* after) {
    const Result<Summary> result = run(sketch);
    ASSERT_TRUE(result) << to_string(result.error());
    for (const Failure& failure : result->failures)
      ADD_FAILURE() << to_string(failure.key) << ": " << to_string(failure.error);
    const Intent intent = intent_of(sketch);
    const Known known = *home_->store().known("e");
    const auto flaw = first_flaw(intent, known, world_);
    EXPECT_FALSE(flaw) << *flaw << ", after " << after;
    const auto plan = make_plan(intent, known, *look(place_.run_context(), intent, known), kinds_);
    ASSERT_TRUE(plan);
    EXPECT_EQ(due_in(*plan), "") << after;
  }

  SimKinds kinds_;
  World world_;
  uint64_t random_ = 0;
  Interrupt interrupt_;
  std::unique_ptr<TestHome> home_;
  std::unique_ptr<FaultyStore> store_;
  std::unique_ptr<FaultyDriver> driver_;
  Workplace place_;
};

TEST_P(FaultSweepTest, EveryCallOfARunAndOfItsEditMayFailOnce) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    Prng prng(seed);
    const Sketch first = make_sketch(prng);
    Sketch second = first;
    edit(second, prng);
    const size_t calls = fault_sweep(GetParam(), [&](Fault& fault) {
      begin(fault);
      expect_clean(run(first), fault);
      if (fault.has_hit()) {
        fault.heal();
        expect_convergence(first, "a fault in the first run");
      }
      expect_clean(run(second), fault);
      fault.heal();
      expect_convergence(second, "a fault in the second run");
    });
    EXPECT_GT(calls, first.items.size()) << "seed " << seed;
    if (HasFailure())
      FAIL() << "seed " << seed;
  }
}

TEST_P(FaultSweepTest, EveryCallOfARemovalMayFailOnce) {
  Prng prng(3);
  const Sketch sketch = make_sketch(prng);
  const size_t calls = fault_sweep(GetParam(), [&](Fault& fault) {
    Fault none(0, GetParam());
    begin(none);
    ASSERT_TRUE(run(sketch));
    put(fault);
    const Result<RemovalResult> removed = remove_environment(place_, "e", {false, false});
    EXPECT_TRUE((removed && removed->summary.good()) || fault.has_hit());
    fault.heal();
    if (*home_->store().environment("e")) {
      const Result<RemovalResult> again = remove_environment(place_, "e", {false, false});
      ASSERT_TRUE(again) << to_string(again.error());
      EXPECT_TRUE(again->summary.good());
    }
    EXPECT_TRUE(world_.things.empty());
    EXPECT_TRUE(home_->store().known("e")->empty());
  });
  EXPECT_GT(calls, 5u);
}

std::string name_of(const testing::TestParamInfo<Fault::Moment>& instance) {
  return instance.param == Fault::Moment::before  ? "before"
         : instance.param == Fault::Moment::after ? "after"
                                                  : "death";
}

INSTANTIATE_TEST_SUITE_P(Moments, FaultSweepTest,
                         testing::Values(Fault::Moment::before, Fault::Moment::after,
                                         Fault::Moment::death),
                         name_of);

}  // namespace
}  // namespace fettle::sim
