/// Programs that mean harm: each ends, with an error where it must, within its limits.

#include <gtest/gtest.h>

#include "hostile_programs.h"
#include "starlark/starlark.h"

namespace fettle::starlark {
namespace {

void run_all(const std::vector<Hostile>& programs, size_t least, uint64_t steps) {
  for (const Hostile& hostile : programs) {
    SCOPED_TRACE(hostile.name);
    const HostileEnd end = run(hostile, steps);
    EXPECT_LE(end.memory, uint64_t{540'000'000});
    EXPECT_TRUE(end.failed || hostile.may_pass);
    EXPECT_EQ(end.message.find("internal error"), std::string::npos) << end.message;
  }
  EXPECT_GE(programs.size(), least);
}

// How long they take is measured by the benchmark.
TEST(Hostile, EndsWithinItsLimits) { run_all(hostile_programs(), 120, hostile_steps); }
TEST(Hostile, ValuesStayWhole) { run_all(hostile_values(), 100, hostile_steps); }
// What is charged grows with the work: a tenth of the steps tells as much as all of them.
TEST(Hostile, WorkIsCharged) { run_all(hostile_loops(), 300, hostile_steps / 10); }

TEST(Hostile, CancellationIsQuick) {
  Session session;
  session.cancelled = true;
  const Result<ModulePtr> result =
      session.run("x.star", "def f():\n  for i in range(1 << 60):\n    pass\nf()\n");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().message, "Starlark computation cancelled");
}

TEST(Hostile, WallTimeEnds) {
  Limits limits;
  limits.wall_time = std::chrono::milliseconds(50);
  Session session(Dialect::of(Profile::go), limits);
  const Result<ModulePtr> result =
      session.run("x.star", "def f():\n  for i in range(1 << 60):\n    pass\nf()\n");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().message, "Starlark computation cancelled: out of time");
}

}  // namespace
}  // namespace fettle::starlark
