#pragma once
/// Programs that mean harm, for the test that they end and for the benchmark that times them.

#include <string>
#include <vector>

namespace fettle::starlark {

/// `may_pass`: ending well within the limits is as good as an error.
struct Hostile {
  std::string name;
  std::string program;
  bool may_pass = false;
  bool recursion = false;
};

/// Bombs, floods, nests and cycles.
std::vector<Hostile> hostile_programs();
/// The lines of `hostile/loops.txt`: much work for one step, again and again.
std::vector<Hostile> hostile_loops();

}  // namespace fettle::starlark
