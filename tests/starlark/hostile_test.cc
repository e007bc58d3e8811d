/// Programs that mean harm: each ends, with an error where it must, within its limits.

#include <gtest/gtest.h>

#include "hostile_programs.h"
#include "starlark/starlark.h"

namespace fettle::starlark {
namespace {

/// What a program gets; how long it takes is measured by the benchmark.
constexpr uint64_t most_steps = 50'000'000;

void run_all(const std::vector<Hostile>& programs, size_t least, uint64_t steps) {
  for (const Hostile& hostile : programs) {
    SCOPED_TRACE(hostile.name);
    Dialect dialect = Dialect::of(Profile::go);
    dialect.recursion = hostile.recursion;
    dialect.set = true;
    Limits limits;
    limits.memory = 512'000'000;
    limits.steps = steps;
    Session session(dialect, limits);
    session.print = [](Thread&, std::string_view) {};
    const Result<ModulePtr> result = session.run("hostile.star", hostile.program);
    EXPECT_LE(session.memory(), uint64_t{540'000'000});
    if (result)
      EXPECT_TRUE(hostile.may_pass);
    else
      EXPECT_EQ(result.error().message.find("internal error"), std::string::npos)
          << result.error().message;
  }
  EXPECT_GE(programs.size(), least);
}

TEST(Hostile, EndsWithinItsLimits) { run_all(hostile_programs(), 120, most_steps); }
// What is charged grows with the work: a tenth of the steps tells as much as all of them.
TEST(Hostile, WorkIsCharged) { run_all(hostile_loops(), 300, most_steps / 10); }

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
