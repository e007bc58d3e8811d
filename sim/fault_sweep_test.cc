#include "sim/fault_sweep.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "plan/make_plan.h"
#include "sim/generate.h"
#include "sim/world_check.h"
#include "store/sqlite_store.h"
#include "verbs/environments.h"

namespace fettle::sim {
namespace {

/// A process after the other on one store and one world, by way of the verbs.
class FaultSweepTest : public testing::TestWithParam<Fault::Moment> {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "fettle-sweep-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// A store and a world that nothing has happened in.
  void begin(Fault& fault) {
    real_.reset();
    for (const char* ending : {"", "-wal", "-shm"})
      std::filesystem::remove(folder_ + "/fettle.db" + ending);
    real_ = std::move(*open_sqlite_store(folder_ + "/fettle.db"));
    world_ = {};
    store_ = std::make_unique<FaultyStore>(*real_, fault);
    driver_ = std::make_unique<FaultyDriver>(world_, fault);
    place_.store = store_.get();
    place_.kinds = &kinds_;
    place_.driver = [this](const Name&) { return driver_.get(); };
    place_.clock = now_from_clock;
    place_.random = [this] { return ++random_; };
    place_.interrupt = &interrupt_;
    place_.command = "a sweep";
  }

  Result<Summary> run(const Sketch& sketch) {
    const Lease lease = TRY(Lease::take(place_, "e", false));
    TRY(ensure_environment(place_, "e", Value::dict({})));
    const Known known = TRY(place_.store->known("e"));
    RunOptions options;
    options.parallelism = 2;
    return carry_out_intent(place_, std::make_shared<const Intent>(intent_of(sketch)), known,
                            options, nullptr, nullptr);
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
    const Known known = *real_->known("e");
    const auto flaw = first_flaw(intent, known, world_);
    EXPECT_FALSE(flaw) << *flaw << ", after " << after;
    const auto plan = make_plan(intent, known, *look(place_, intent, known), kinds_);
    ASSERT_TRUE(plan);
    EXPECT_TRUE(plan->converged()) << after;
  }

  std::string folder_;
  SimKinds kinds_;
  World world_;
  uint64_t random_ = 0;
  Interrupt interrupt_;
  std::unique_ptr<Store> real_;
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
    store_ = std::make_unique<FaultyStore>(*real_, fault);
    driver_ = std::make_unique<FaultyDriver>(world_, fault);
    place_.store = store_.get();
    const Status removed = remove_environment(place_, "e", false);
    EXPECT_TRUE(removed || fault.has_hit()) << to_string(removed.error());
    fault.heal();
    if (*real_->environment("e")) {
      const Status again = remove_environment(place_, "e", false);
      EXPECT_TRUE(again) << to_string(again.error());
    }
    EXPECT_TRUE(world_.things.empty());
    EXPECT_TRUE(real_->known("e")->empty());
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
