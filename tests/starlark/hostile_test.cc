/// Programs that mean harm: each ends, with an error where it must, within its limits.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "hostile_programs.h"
#include "starlark/starlark.h"
#include "tests/fixtures/sanitized.h"

namespace fettle::starlark {
namespace {

// A sanitizer's shadow memory and quarantine are not memory of the program.
constexpr bool counts_all_memory = !is_sanitized;

/// The resident bytes of this process, which a child has, too.
int64_t resident() {
  long pages = 0;
  if (FILE* const file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%*s %ld", &pages) != 1)
      pages = 0;
    std::fclose(file);
  }
  return int64_t{pages} * getpagesize();
}

struct EndState {
  HostileEnd end;
  bool is_whole = false;  ///< the process came to its end
  int64_t peak = 0;       ///< bytes of the process, beyond those at its start
};

/// Runs in its own process, so that a crash is reported with its program, and memory is the
/// process's.
EndState run_apart(const Hostile& hostile, const HostileLimits& allowed) {
  int channel[2];
  EXPECT_EQ(pipe(channel), 0);
  const int64_t before = resident();
  const pid_t child = fork();
  if (child == 0) {
    const HostileEnd end = run(hostile, allowed);
    const std::string told =
        cat(end.failed ? "!" : ".", end.memory, " ", end.message.substr(0, 1000));
    const ssize_t written = write(channel[1], told.data(), told.size());
    _exit(written == ssize_t(told.size()) ? 0 : 1);
  }
  close(channel[1]);
  std::string told;
  char part[4096];
  for (ssize_t size; (size = read(channel[0], part, sizeof part)) > 0;)
    told.append(part, size_t(size));
  close(channel[0]);
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  EndState ended;
  ended.is_whole = WIFEXITED(status) && WEXITSTATUS(status) == 0 && told.find(' ') != told.npos;
  ended.peak = int64_t{usage.ru_maxrss} * 1024 - before;
  if (!ended.is_whole)
    return ended;
  const size_t space = told.find(' ');
  ended.end = {told[0] == '!', told.substr(space + 1), std::stoull(told.substr(1, space - 1))};
  return ended;
}

/// More than a limit that ends in the middle of a large step, and what the process has itself.
constexpr uint64_t slack = 28'000'000;

void run_all(const std::vector<Hostile>& programs, size_t least, const HostileLimits& limits) {
  for (const Hostile& hostile : programs) {
    SCOPED_TRACE(hostile.name);
    const HostileLimits allowed = hostile.needs_all ? HostileLimits() : limits;
    const EndState ended = run_apart(hostile, allowed);
    EXPECT_TRUE(ended.is_whole);
    EXPECT_LE(ended.end.memory, allowed.memory + slack);
    EXPECT_TRUE(ended.end.failed || hostile.may_pass);
    EXPECT_EQ(ended.end.message.find("internal error"), std::string::npos) << ended.end.message;
    if (counts_all_memory) {
      EXPECT_LE(ended.peak, static_cast<int64_t>(allowed.memory / 10 * 13 + slack))
          << ended.end.message;
    }
  }
  EXPECT_GE(programs.size(), least);
}

/// The charge grows with the work, and filling memory is most of the time: a part of the limits
/// shows as much as all of them, which the benchmark measures.
constexpr HostileLimits few{.steps = 10'000'000, .memory = 128'000'000};

TEST(Hostile, EndsWithinItsLimits) { run_all(hostile_programs(), 150, few); }
TEST(Hostile, ValuesStayWhole) { run_all(hostile_values(), 100, few); }
TEST(Hostile, WorkIsCharged) {
  run_all(hostile_loops(), 300, {.steps = few.steps / 5, .memory = few.memory});
}
// Beyond 1,000 levels, 16 bits, and the room of the native stack.
TEST(Hostile, DepthAndWidthEnd) {
  for (const size_t count : {300u, 5'000u, 66'000u})
    run_all(hostile_repeats(count), 70, {});
}

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
