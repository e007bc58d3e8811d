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
EndState run_apart(const Hostile& hostile, uint64_t steps) {
  int channel[2];
  EXPECT_EQ(pipe(channel), 0);
  const int64_t before = resident();
  const pid_t child = fork();
  if (child == 0) {
    const HostileEnd end = run(hostile, steps);
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

void run_all(const std::vector<Hostile>& programs, size_t least, uint64_t steps) {
  for (const Hostile& hostile : programs) {
    SCOPED_TRACE(hostile.name);
    const EndState ended = run_apart(hostile, steps);
    EXPECT_TRUE(ended.is_whole);
    EXPECT_LE(ended.end.memory, uint64_t{540'000'000});
    EXPECT_TRUE(ended.end.failed || hostile.may_pass);
    EXPECT_EQ(ended.end.message.find("internal error"), std::string::npos) << ended.end.message;
    if (counts_all_memory) {
      EXPECT_LE(ended.peak, int64_t{hostile_memory / 10 * 13}) << ended.end.message;
    }
  }
  EXPECT_GE(programs.size(), least);
}

// The benchmark measures how long they take.
TEST(Hostile, EndsWithinItsLimits) { run_all(hostile_programs(), 150, hostile_steps); }
TEST(Hostile, ValuesStayWhole) { run_all(hostile_values(), 100, hostile_steps); }
// The charge grows with the work: a tenth of the steps shows as much as all of them.
TEST(Hostile, WorkIsCharged) { run_all(hostile_loops(), 300, hostile_steps / 10); }
// Beyond 1,000 levels, 16 bits, and the room of the native stack.
TEST(Hostile, DepthAndWidthEnd) {
  for (const size_t count : {300u, 5'000u, 66'000u, 100'000u})
    run_all(hostile_repeats(count), 70, hostile_steps);
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
