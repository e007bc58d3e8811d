#pragma once
/// Which pods have something of which SidecarSet.
///
/// A set is decided by the pods that have something of it. Without an index each event of a pod would
/// have every set decided anew, and each decision walk all pods of the fleet.

#include <map>
#include <set>
#include <vector>

#include "value/value.h"

namespace fettle::workloads {

struct FleetPod;

/// The names of the SidecarSets in a pod's attribute `sidecars`.
std::vector<Name> names_of_sets(const Value& sidecars);

class SidecarIndex {
 public:
  /// `owner`: `SidecarSet//logs`; `set`: `logs`, as parts of pods name it.
  void put(const Name& owner, const Name& set);
  void drop(const Name& owner);
  const std::set<Name>& owners() const { return owners_; }
  /// The sets that have something in a pod and are there.
  std::vector<Name> owners_of(const FleetPod& pod) const;

  /// What a pod has something of from now on. Neither its owner nor its key may change while that
  /// is anything.
  void take(FleetPod& pod, std::vector<Name> sets);
  /// In the order of all pods.
  template <typename Function>
  void for_each_pod(const Name& set, Function function) const {
    if (const auto found = pods_.find(set); found != pods_.end())
      for (const FleetPod* pod : found->second)
        function(*pod);
  }

 private:
  /// By owner and key.
  struct InOrder {
    bool operator()(const FleetPod* a, const FleetPod* b) const;
  };
  std::set<Name> owners_;
  std::map<Name, Name> owner_by_set_;
  std::map<Name, std::set<FleetPod*, InOrder>> pods_;  ///< by set
};

}  // namespace fettle::workloads
