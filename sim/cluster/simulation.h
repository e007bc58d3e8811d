#pragma once
/// One seed is one cluster with its controllers, from an empty server to the end of many rollouts:
/// options first (which workloads, which faults, how wild), then what users, nodes and the network
/// do. The server is that of the tests, time is played (`turns.h`), and everything of the controller
/// is the real one.
///
/// Two phases. Safety: with faults, no checker may complain (`fleet.h`, and who writes without the
/// lease). Liveness: faults stop, and within a bounded time everything is as it is wanted, nothing
/// is half written or left over, and then nothing is written any more.

#include <cstdint>
#include <string>

namespace fettle::sim {

struct ClusterReport {
  bool good = true;
  std::string problem{};  ///< the first complaint
  std::string history{};  ///< what was written and went wrong before it
  uint64_t rollouts = 0;  ///< that were carried out to the last pod
  uint64_t faults = 0;    ///< requests that went wrong
  uint64_t crashes = 0;   ///< controllers that were cut off
  uint64_t writes = 0;    ///< of controllers
  uint64_t digest = 0;    ///< of all turns: the same seed must give the same
};

ClusterReport simulate_cluster(uint64_t seed);

}  // namespace fettle::sim
