/// The memory that the collector keeps: bytes, never times. Each program has a live set and makes
/// gigabytes of garbage.

#include <gtest/gtest.h>

#include "base/text.h"
#include "starlark/starlark.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FETTLE_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FETTLE_SANITIZED
#endif
#endif

namespace fettle::starlark {
namespace {

#ifdef FETTLE_SANITIZED
constexpr int slower = 20;  // a tenth of a gigabyte differs from 16 MB just as clearly
#else
constexpr int slower = 1;
#endif

constexpr uint64_t megabyte = 1'000'000;

/// The peak count while a loop of `rounds` makes `garbage`, including the values of `live`.
uint64_t peak_of(std::string_view live, std::string_view garbage, int rounds) {
  uint64_t peak = 0;
  Session session(Dialect::of(Profile::spec));
  session.predeclare("look", session.native("look", [&](Call&) -> Result<Value> {
    peak = std::max(peak, session.memory());
    return Value::none();
  }));
  const Result<ModulePtr> module =
      session.run("x.star", cat("def f():\n  keep = ", live, "\n  for i in range(", rounds,
                                "):\n    look()\n", garbage, "\n  return keep\nkeep = f()\n"));
  EXPECT_TRUE(module.has_value()) << module.error().message;
  return peak;
}

/// The bytes of `live` alone.
uint64_t size_of(std::string_view live) {
  Session session(Dialect::of(Profile::spec));
  EXPECT_TRUE(session.run("x.star", cat("keep = ", live, "\n")).has_value());
  return session.memory();
}

struct Program {
  const char* name;
  const char* live;
  const char* garbage;
  int rounds;  ///< as many as make two gigabytes
};

// About 50 MB unless a test needs another size.
constexpr const char* lists = "[[i] for i in range(700000)]";
constexpr const char* texts = "{'a key of some length %d' % i: i for i in range(400000)}";

const Program programs[] = {
    {"short lists", lists, "    [[j, j] for j in range(20000)]", 1200},
    {"texts", texts, "    ['number %d of many' % j for j in range(20000)]", 2000},
    {"dicts", lists, "    [{'a': j, 'b': [j]} for j in range(5000)]", 1200},
    {"growing dicts", texts, "    {j: j for j in range(30000)}", 800},
    {"growing lists", lists, "    x = []\n    for j in range(100000):\n      x.append(j)", 800},
    {"long texts", texts, "    x = ''\n    for j in range(2000):\n      x += 'a' * 500", 800},
    {"one long text each", lists, "    'abcdefgh' * 400000", 700},
    {"big integers", lists, "    x = 1 << 400000\n    for j in range(40):\n      x += j", 1000},
    {"trees", "[[[[i], i], [i]] for i in range(250000)]",
     "    x = None\n    for j in range(20000):\n      x = (x, [j])", 1500},
    {"closures", lists, "    [(lambda y: lambda: y)(j) for j in range(10000)]", 2000},
    {"nothing lives", "None", "    [[j, j] for j in range(20000)]", 1200},
};

TEST(Collector, KeepsLongEvaluationsSmall) {
  for (const Program& program : programs) {
    SCOPED_TRACE(program.name);
    const uint64_t live = size_of(program.live);
    const uint64_t peak = peak_of(program.live, program.garbage, program.rounds / slower);
    const uint64_t most = live + live / 2 + 16 * megabyte;
    EXPECT_GT(peak, live);
    EXPECT_LE(peak, most) << "live: " << live;
  }
}

// A live set that grows by itself, with little garbage: the live bytes do not double the room for
// new ones.
TEST(Collector, FollowsALiveSetThatGrows) {
  Session session(Dialect::of(Profile::spec));
  uint64_t beyond = 0;
  session.predeclare("look", session.native("look", [&](Call& call) -> Result<Value> {
    const uint64_t live = static_cast<uint64_t>(call.positional[0].small()) * 48;
    const uint64_t most = live + live / 2 + 16 * megabyte;
    beyond += session.memory() > most;
    return Value::none();
  }));
  ASSERT_TRUE(session
                  .run("x.star",
                       "def f():\n  keep = []\n  for i in range(1000000):\n    keep.append([i])\n"
                       "    if i % 1000 == 0: look(i)\n  return keep\nkeep = f()\n")
                  .has_value());
  EXPECT_GT(session.memory(), 40 * megabyte);
  EXPECT_EQ(beyond, 0u);
}

// Storage that a growing list or dict gives back is reused before the sweep reaches it: the new
// object must live.
TEST(Collector, LeavesAloneWhatTakesThePlaceOfGrownStorage) {
  Session session(Dialect::of(Profile::spec));
  const Result<ModulePtr> module = session.run(
      "x.star",
      "def f():\n  keep = []\n  for i in range(60000):\n    a, b = [i, i], {i: 0}\n"
      "    junk = [[i] for _ in range(3)]\n    a.append(5)\n"
      "    for j in range(6):\n      b[-j] = j\n    keep.append((a, b, [i, 7], [i, 8]))\n"
      "  for i, (a, b, c, d) in enumerate(keep):\n    a.append(6)\n    e = [i, 9]\n"
      "    if [a, c, d, e] != [[i, i, 5, 6], [i, 7], [i, 8], [i, 9]] or b[-5] != 5 or b[i] not in "
      "(0, i):\n      fail(i, a, b, c, d, e)\nf()\n");
  EXPECT_TRUE(module.has_value()) << module.error().message;
}

}  // namespace
}  // namespace fettle::starlark
