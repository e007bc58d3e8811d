/// Runs the simulator: `sim COUNT [FIRST]` runs that many seeds, `sim --seed SEED` replays one, and
/// `sim --digests COUNT` prints of each seed what happened as one number: a change that keeps all
/// behaviour keeps every line.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "sim/simulation.h"

int main(int argc, char** argv) {
  using fettle::sim::simulate;
  const auto number = [&](int i, uint64_t otherwise) {
    return i < argc ? std::strtoull(argv[i], nullptr, 10) : otherwise;
  };
  if (argc > 2 && std::strcmp(argv[1], "--seed") == 0) {
    const auto report = simulate(number(2, 1));
    std::printf("%s\n%s", report.history.c_str(),
                report.good ? "good\n" : (report.problem + "\n").c_str());
    return report.good ? 0 : 1;
  }
  if (argc > 1 && std::strcmp(argv[1], "--digests") == 0) {
    for (uint64_t seed = 1; seed <= number(2, 1'000); ++seed)
      std::printf("%llu %016llx\n", static_cast<unsigned long long>(seed),
                  static_cast<unsigned long long>(simulate(seed).course));
    return 0;
  }
  const uint64_t count = number(1, 1'000), first = number(2, 1);
  uint64_t steps = 0, crashes = 0, faults = 0, bad = 0;
  const auto began = std::chrono::steady_clock::now();
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const auto report = simulate(seed);
    steps += report.steps;
    crashes += report.crashes;
    faults += report.faults;
    if (!report.good && ++bad <= 5)
      std::printf("seed %llu: %s (replay: ./dev sim --seed %llu)\n",
                  static_cast<unsigned long long>(seed), report.problem.c_str(),
                  static_cast<unsigned long long>(seed));
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  std::printf("%llu seeds, %llu steps, %llu faults, %llu crashes in %.1f s; %llu bad\n",
              static_cast<unsigned long long>(count), static_cast<unsigned long long>(steps),
              static_cast<unsigned long long>(faults), static_cast<unsigned long long>(crashes),
              seconds, static_cast<unsigned long long>(bad));
  return bad == 0 ? 0 : 1;
}
