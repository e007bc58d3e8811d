#pragma once
/// One seed is one run of everything that decides and obeys: options first (which faults, how
/// wild), then intents and edits, then the faults themselves. Time, the world, the disk, the store
/// and the process are simulated; looking, plan, `Run`, the loop and the contents are the real
/// ones. On a server, so are the statements and the rights of the store: only the connection is
/// simulated.
///
/// Two phases. Safety: with faults, no checker may complain. Liveness: the faults stop, and within
/// a bounded number of runs the world equals the intent and the plan is empty.

#include <string>

namespace fettle::sim {

struct Report {
  bool good = true;
  std::string problem;  ///< the first complaint of a checker
  std::string history;  ///< the last events before it
  uint64_t steps = 0;   ///< acts that ended
  uint64_t crashes = 0;
  uint64_t faults = 0;
  uint64_t losses = 0;  ///< of connections to a server
  uint64_t digest = 0;  ///< of all events: the same seed must give the same
  uint64_t course = 0;  ///< of all events without their texts, and of the records in the end
};

/// Where records and contents are kept.
enum class StoreSort : uint8_t {
  file,    ///< on a disk, which a loss of power sets back
  server,  ///< on a server, to which connections are lost at any statement
};

Report simulate(uint64_t seed, StoreSort sort = StoreSort::file);

}  // namespace fettle::sim
