#pragma once
/// Programs that mean harm, for the test that they end and for the benchmark that times them.

#include <string>
#include <vector>

#include "starlark/starlark.h"

namespace fettle::starlark {

/// `may_pass`: ending well within the limits is as good as an error. `needs_all`: with less than all
/// of the limits it ends before it does what is meant.
struct Hostile {
  std::string name;
  std::string program;
  bool may_pass = false;
  bool recursion = false;
  Profile profile = Profile::go;
  bool needs_all = false;
};

/// Bombs, floods, nests and cycles.
std::vector<Hostile> hostile_programs();
/// The lines of `hostile/loops.txt`: much work per step, again and again.
std::vector<Hostile> hostile_loops();
/// The programs of `hostile/values.txt`: cycles, disturbed iterations, frozen values.
std::vector<Hostile> hostile_values();

/// The lines of `hostile/repeats.txt`, each `count` times.
std::vector<Hostile> hostile_repeats(size_t count);

/// The limits of untrusted code.
struct HostileLimits {
  uint64_t steps = 50'000'000;
  uint64_t memory = 512'000'000;
};

struct HostileEnd {
  bool failed = false;
  std::string message;
  uint64_t memory = 0;
};
HostileEnd run(const Hostile& hostile, const HostileLimits& allowed = {});

}  // namespace fettle::starlark
