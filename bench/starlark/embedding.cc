/// What only a host can measure: a warm call of a frozen function, and how long an evaluation goes
/// on after it was cancelled. Prints `name value` a line, for run.py.

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <thread>

#include "base/text.h"
#include "starlark/starlark.h"

namespace fettle::starlark {
namespace {

using Clock = std::chrono::steady_clock;

double nanoseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

/// The least mean of some rounds: others use the machine too.
double call_ns(std::string_view definition, size_t arguments) {
  Session owner;
  const ModulePtr module = owner.run("frozen.star", definition).value();
  const starlark::Value function = module->get("f").value();
  Session mine;
  Thread thread(mine);
  const std::vector<starlark::Value> given(arguments, starlark::Value::small(20));
  constexpr int calls = 100'000;
  double best = 1e9;
  for (int round = 0; round < 10; ++round) {
    const auto begin = Clock::now();
    for (int i = 0; i < calls; ++i) {
      if (!thread.call(function, given))
        std::abort();
    }
    best = std::min(best, nanoseconds_since(begin) / calls);
  }
  return best;
}

double cpu_ms(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return double(time.tv_sec) * 1e3 + double(time.tv_nsec) / 1e6;
}

/// Milliseconds that an evaluation still computes after the wish that it ends, the longest of some
/// rounds; of its own processor time, for others use the machine too.
double cancel_ms(std::string_view body) {
  double worst = 0;
  for (int round = 0; round < 6; ++round) {
    Session session(Dialect::of(Profile::spec));
    std::atomic<bool> begun = false;
    session.predeclare("begin", session.native("begin", [&](Call&) -> Result<starlark::Value> {
      begun = true;
      return starlark::Value::none();
    }));
    double end = 0;
    std::thread evaluation([&] {
      (void)session.run("long.star", cat("def f():\n", body, "f()\n"));
      end = cpu_ms(CLOCK_THREAD_CPUTIME_ID);
    });
    clockid_t clock{};
    pthread_getcpuclockid(evaluation.native_handle(), &clock);
    while (!begun)
      std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + 7 * round));
    const double wish = cpu_ms(clock);
    session.cancelled = true;
    evaluation.join();
    worst = std::max(worst, end - wish);
  }
  return worst;
}

/// Programs that go on until they are cancelled, each busy in another part of the interpreter.
constexpr std::string_view endless[] = {
    "  begin()\n  for i in range(1 << 60): pass\n",
    "  x = [i * 7919 % 1000003 for i in range(1000000)]\n  begin()\n"
    "  for i in range(1 << 60): sorted(x)\n",
    "  x = [str(i) for i in range(300000)]\n  begin()\n  for i in range(1 << 60): sorted(x)\n",
    "  x = [i for i in range(300000)]\n  begin()\n"
    "  for i in range(1 << 60): sorted(x, key = lambda y: -y)\n",
    "  x = (1 << 4000000) - 1\n  begin()\n  for i in range(1 << 60): y = (x >> 2000100) * (x >> "
    "2000100)\n",
    "  x = (1 << 4000000) - 1\n  begin()\n  for i in range(1 << 60): y = x // ((1 << 2000000) + "
    "1)\n",
    "  x = (1 << 4000000) - 1\n  begin()\n  for i in range(1 << 60): y = str(x)\n",
    "  x = (1 << 4000000) - 1\n  begin()\n  for i in range(1 << 60): y = '%d' % x\n",
    "  x = (1 << 4000000) - 1\n  begin()\n  for i in range(1 << 60): y = json.encode(x)\n",
    "  x = '7' * 1250000\n  begin()\n  for i in range(1 << 60): y = int(x)\n",
    "  x = '7' * 1000000\n  begin()\n  for i in range(1 << 60): y = int(x, 9)\n",
    "  x = '7' * 1250000\n  begin()\n  for i in range(1 << 60): y = json.decode(x)\n",
    "  x = (1 << 2097000) - 1\n  begin()\n  for i in range(1 << 60): y = x * x\n",
    "  x = (1 << 4190000) - 1\n  begin()\n  for i in range(1 << 60): y = x % ((1 << 1000000) + "
    "1)\n",
    "  x = (1 << 4190000) - 1\n  begin()\n  for i in range(1 << 60): y = x // ((1 << 300000) + "
    "1)\n",
    "  x = (1 << 4190000) - 1\n  begin()\n  for i in range(1 << 60): y = (x << 4000) ^ (x >> 1)\n",
    "  x = (1 << 4190000) - 1\n  begin()\n  for i in range(1 << 60): y = {x: 1}[x + 0]\n",
    "  x = ['abc'] * 10000000\n  begin()\n  for i in range(1 << 60): ','.join(x)\n",
    "  begin()\n  for i in range(1 << 60): 'abc' * 50000000\n",
    "  begin()\n  for i in range(1 << 60): [1] * 20000000\n",
    "  x = {str(i): [i, None, 1.5] for i in range(200000)}\n  begin()\n"
    "  for i in range(1 << 60): json.encode(x)\n",
    "  x = json.encode({str(i): [i, None, 1.5] for i in range(200000)})\n  begin()\n"
    "  for i in range(1 << 60): json.decode(x)\n",
    "  x = 'ab' * 5000000\n  begin()\n  for i in range(1 << 60): re.findall('a', x)\n",
    "  x = 'ab' * 5000000\n  begin()\n  for i in range(1 << 60): x.replace('a', 'cd')\n",
    "  begin()\n  for i in range(1 << 60): list(range(10000000))\n",
    "  x = {i: i for i in range(1000000)}\n  begin()\n  for i in range(1 << 60): dict(x)\n",
    "  x = [[i] for i in range(2000000)]\n  begin()\n  for i in range(1 << 60): x == [[j] for j in "
    "range(2000000)]\n",
    "  x = [[[i]] for i in range(1000000)]\n  begin()\n  for i in range(1 << 60): repr(x)\n",
};

int measure() {
  std::printf("call_without_arguments_ns %.0f\n", call_ns("def f(): return 1\n", 0));
  std::printf("call_ns %.0f\n", call_ns("def f(x, y): return x + y\n", 2));
  std::printf("call_with_defaults_ns %.0f\n",
              call_ns("def f(x, y = 2, *, z = None): return [x, y, z]\n", 1));
  double worst = 0;
  for (const std::string_view body : endless) {
    const double ms = cancel_ms(body);
    std::fprintf(stderr, "%8.2f ms %.*s\n", ms, int(body.size()), body.data());
    worst = std::max(worst, ms);
  }
  std::printf("cancel_ms %.2f\n", worst);
  return 0;
}

}  // namespace
}  // namespace fettle::starlark

int main() { return fettle::starlark::measure(); }
