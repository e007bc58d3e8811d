/// Threads share frozen modules without locks: concurrent threads compute the same as one, and a
/// thread sanitizer finds no race.

#include <gtest/gtest.h>

#include <latch>
#include <thread>

#include "starlark/starlark.h"

namespace fettle::starlark {
namespace {

constexpr int thread_count = 4;

/// Runs `work` in threads that start at the same moment.
void at_once(const std::function<void(int)>& work) {
  std::latch start(thread_count);
  std::vector<std::thread> threads;
  for (int i = 0; i < thread_count; ++i) {
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      work(i);
    });
  }
  for (std::thread& thread : threads)
    thread.join();
}

/// Functions that touch everything that may be filled in late: call sites and names that remember,
/// hashes of long strings, defaults, closures, methods, sorting, formats, regular expressions,
/// JSON.
constexpr std::string_view shared = R"(
table = {'key number %d' % i: struct(a = i, text = 'a longer text %d' % i) for i in range(100)}
words = ['word number %d of some' % (i * 7 % 50) for i in range(50)]
huge = 1 << 400
pattern = re.compile('([a-z]+) number ([0-9]+)')

def add(a, b = 1, *, c = 0): return a + b + c
def counter(step):
  return lambda n: add(n, b = step)
by_two = counter(2)

def sum():
  total = 0
  for key in table:
    total = add(total, b = table[key].a)
  return total
def sorting(): return sorted(words, key = lambda w: (len(w), w))[-1]
def counting():
  seen = {}
  for word in words:
    seen[word] = seen.get(word, 0) + 1
  return len(seen) + by_two(3)
def formats(): return '%s|%d|%r|{}'.format(len(words)) % (words[0], huge % 1000, table['key number 3'])
def round(): return json.decode(json.encode(table['key number 7']))['text'].upper().title()
def found(): return [m[2] for m in [pattern.match(w) for w in words[:3]]]
def arithmetic(): return (huge * huge // (huge + 1)) % 1000003 + hash(words[1]) % 7
def everything():
  return repr([sum(), sorting(), counting(), formats(), round(), found(), arithmetic(), table == table])
)";

TEST(Threads, CallFunctionsOfOneFrozenModule) {
  const auto make = [] {
    return Session(Dialect::of(Profile::spec)).run("m.star", shared).value();
  };
  const auto evaluate = [](const Module& module) {
    Session mine(Dialect::of(Profile::spec));
    Thread thread(mine);
    const Result<Value> result = thread.call(module.get("everything").value(), {});
    return result ? std::string(text_of(*result)) : result.error().message;
  };
  const std::string expected = evaluate(*make());
  ASSERT_TRUE(expected.starts_with("[4950, \"word number")) << expected;
  // A module that no thread has called yet.
  const ModulePtr module = make();
  std::atomic<int> right = 0;
  at_once([&](int) {
    for (int i = 0; i < 25; ++i)
      right += evaluate(*module) == expected;
  });
  EXPECT_EQ(right, thread_count * 25);
}

TEST(Threads, RunModulesThatLoadOneFrozenModule) {
  const ModulePtr base = Session(Dialect::of(Profile::spec)).run("base.star", shared).value();
  std::atomic<int> right = 0;
  at_once([&](int number) {
    Session session(Dialect::of(Profile::spec));
    session.load = [&](Thread&, std::string_view) -> Result<ModulePtr> { return base; };
    const std::string program =
        "load('base', 'table', 'add', 'counter')\nmine = dict(table)\nmine['x'] = counter(" +
        std::to_string(number) + ")(40)\ny = add(mine['x'], len(mine))\n";
    for (int i = 0; i < 25; ++i) {
      const Result<ModulePtr> module = session.run("m.star", program);
      right += module && integer_of((*module)->get("y").value()) == 40 + number + 101;
    }
  });
  EXPECT_EQ(right, thread_count * 25);
}

/// The last thread that releases a module frees everything that it refers to.
TEST(Threads, LetModulesGoAtTheSameTime) {
  Session session(Dialect::of(Profile::spec));
  std::vector<ModulePtr> base = {session.run("base.star", shared).value()};
  session.load = [&](Thread&, std::string_view) -> Result<ModulePtr> { return base[0]; };
  std::vector<ModulePtr> held;
  for (int i = 0; i < thread_count; ++i)
    held.push_back(session.run("m.star", "load('base', 'words')\nx = [words]\n").value());
  base.clear();
  std::atomic<size_t> length = 0;
  at_once([&](int i) {
    const ModulePtr mine = std::move(held[size_t(i)]);
    length += length_of(item_of(mine->get("x").value(), 0));
  });
  EXPECT_EQ(length, thread_count * 50u);
}

}  // namespace
}  // namespace fettle::starlark
