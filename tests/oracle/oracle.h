#pragma once
/// The oracle of partial exports: random models of services that share things, and random edits of
/// them. After every edit, the partial export of the edited services is refused exactly if one
/// compile of everything fails, and otherwise gives the same resources, attributes, sets and needs.

#include <cstdint>
#include <string>

namespace fettle::oracle {

struct Report {
  bool good = true;
  std::string problem;  ///< with both models
  int accepted = 0, refused = 0;
};

/// One history; the same seed is the same history.
Report check_history(uint64_t seed);

}  // namespace fettle::oracle
