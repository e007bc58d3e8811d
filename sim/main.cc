/// Runs the simulator: `sim COUNT [FIRST]` runs that many seeds, `sim --seed SEED` replays one, and
/// `sim --digests COUNT` prints of each seed what happened as one number: a change that keeps all
/// behaviour keeps every line.
///
/// `sim --server …` does the same with what is kept on a server, to which connections are lost.
///
/// `sim --cluster ROLLOUTS [FIRST]` runs clusters with their controllers until so many rollouts were
/// carried out, `sim --cluster --seed SEED` replays one.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "sim/cluster/simulation.h"
#include "sim/simulation.h"

namespace {

using fettle::sim::ClusterReport;
using fettle::sim::simulate;
using fettle::sim::simulate_cluster;
using fettle::sim::StoreSort;

using Number = unsigned long long;

Number number_in(int argc, char** argv, int i, Number otherwise) {
  return i < argc ? std::strtoull(argv[i], nullptr, 10) : otherwise;
}

double seconds_since(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

const char* words_of(StoreSort sort) { return sort == StoreSort::file ? "" : "--server "; }

int replay(StoreSort sort, Number seed) {
  const auto report = simulate(seed, sort);
  std::printf("%s\n%s", report.history.c_str(),
              report.good ? "good\n" : (report.problem + "\n").c_str());
  return report.good ? 0 : 1;
}

int print_digests(StoreSort sort, Number count) {
  for (Number seed = 1; seed <= count; ++seed)
    std::printf("%llu %016llx\n", seed, static_cast<Number>(simulate(seed, sort).course));
  return 0;
}

int run(StoreSort sort, Number count, Number first) {
  Number steps = 0, crashes = 0, faults = 0, losses = 0, bad = 0;
  const auto began = std::chrono::steady_clock::now();
  for (Number seed = first; seed < first + count; ++seed) {
    const auto report = simulate(seed, sort);
    losses += report.losses;
    steps += report.steps;
    crashes += report.crashes;
    faults += report.faults;
    if (!report.good && ++bad <= 5)
      std::printf("seed %llu: %s (replay: ./dev sim %s--seed %llu)\n", seed, report.problem.c_str(),
                  words_of(sort), seed);
  }
  std::printf("%llu seeds, %llu steps, %llu faults, %llu crashes", count, steps, faults, crashes);
  if (sort == StoreSort::server)
    std::printf(", %llu lost connections", losses);
  std::printf(" in %.1f s; %llu bad\n", seconds_since(began), bad);
  return bad == 0 ? 0 : 1;
}

int replay_cluster(Number seed) {
  const ClusterReport report = simulate_cluster(seed);
  std::printf("%s\n%s: %llu rollouts, %llu faults, %llu crashes, %llu writes, digest %016llx\n",
              report.history.c_str(), report.good ? "good" : report.problem.c_str(),
              static_cast<Number>(report.rollouts), static_cast<Number>(report.faults),
              static_cast<Number>(report.crashes), static_cast<Number>(report.writes),
              static_cast<Number>(report.digest));
  return report.good ? 0 : 1;
}

int run_clusters(Number rollouts, Number first) {
  ClusterReport all;
  Number seed = first, bad = 0;
  const auto began = std::chrono::steady_clock::now();
  for (; all.rollouts < rollouts && bad < 20; ++seed) {
    const ClusterReport report = simulate_cluster(seed);
    all.rollouts += report.rollouts;
    all.faults += report.faults;
    all.crashes += report.crashes;
    all.writes += report.writes;
    if (!report.good && ++bad <= 20)
      std::printf("seed %llu: %s (replay: ./dev sim --cluster --seed %llu)\n", seed,
                  report.problem.c_str(), seed);
    std::fflush(stdout);
  }
  std::printf(
      "%llu seeds, %llu rollouts, %llu faults, %llu crashes, %llu writes in %.1f s; %llu bad\n",
      seed - first, static_cast<Number>(all.rollouts), static_cast<Number>(all.faults),
      static_cast<Number>(all.crashes), static_cast<Number>(all.writes), seconds_since(began), bad);
  return bad == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto is_word = [&](int i, const char* word) {
    return argc > i && std::strcmp(argv[i], word) == 0;
  };
  if (is_word(1, "--cluster"))
    return is_word(2, "--seed")
               ? replay_cluster(number_in(argc, argv, 3, 1))
               : run_clusters(number_in(argc, argv, 2, 500), number_in(argc, argv, 3, 1));
  const StoreSort sort = is_word(1, "--server") ? StoreSort::server : StoreSort::file;
  const int at = sort == StoreSort::server ? 2 : 1;
  if (is_word(at, "--seed") && argc > at + 1)
    return replay(sort, number_in(argc, argv, at + 1, 1));
  if (is_word(at, "--digests"))
    return print_digests(sort, number_in(argc, argv, at + 1, 1'000));
  return run(sort, number_in(argc, argv, at, 1'000), number_in(argc, argv, at + 1, 1));
}
