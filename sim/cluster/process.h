#pragma once
/// One process that keeps the cluster, as `fettle controller` is one: the real link, client,
/// reflectors, lease, keeper, runs and driver.

#include "controller/workloads.h"
#include "drivers/kubernetes/cluster_link.h"
#include "sim/cluster/line.h"
#include "tests/fixtures/workload_kinds.h"

namespace fettle::sim {

struct ProcessSettings {
  std::string name{};  ///< of the controller, in the election as well
  int group = 1;       ///< of its threads
  double qps = 0;      ///< 0: without a limit
  bool has_lease = false;
  uint64_t seed = 1;
};

class Process {
 public:
  Process(World& world, const ProcessSettings& settings);
  /// Ends it: in order, or, if its line is cut, as a dead one.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  Line& line() { return *line_; }
  /// Whether it has to be started again: its line is cut, it has lost its lease, or it has ended.
  bool is_over() const { return line_->is_cut() || has_lost_lease_ || has_ended_; }
  const ProcessSettings& settings() const { return settings_; }

 private:
  ClusterSettings link_settings();
  void keep();

  World& world_;
  const ProcessSettings settings_;
  WorkloadKinds kinds_;
  Interrupt interrupt_;
  Line* line_ = nullptr;
  bool has_lost_lease_ = false, has_ended_ = false;
  std::unique_ptr<ClusterLink> link_;
  Thread thread_;
};

}  // namespace fettle::sim
