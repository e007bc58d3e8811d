#pragma once
/// Containers that a SidecarSet puts into pods of others. A pod gets them when it is made, in the
/// newest revision; later it gets another revision when its turn comes (`sidecar_set.h`). Each
/// stands in the pod's attribute `sidecars` with all that it brought, so that a pod needs nobody to
/// know what it is made of.

#include <map>
#include <set>

#include "workloads/rollout.h"

namespace fettle::workloads {

/// Whether a pod runs what it is to have of a SidecarSet.
bool runs_sidecar(const FleetPod& pod, const Value& sidecar);
/// Whether a pod of a namespace with these labels gets a SidecarSet.
bool is_meant(const Fleet& fleet, const Workload& set, const Name& space, const Value& labels);

/// What a new pod gets, or null. One whose containers have names that the pod has already is left
/// out, and that is told.
Value sidecars_for(Rollout& rollout, const Value& labels, const Value& pod_template,
                   std::string_view pod);

/// Whose turn it is, by SidecarSet. The fleet stays unchanged meanwhile.
class SidecarTurns {
 public:
  SidecarTurns(const Fleet& fleet, Time now);
  /// A pod's sidecars with those that are to change now.
  Value taken(const FleetPod& pod, const Value& sidecars) const;

 private:
  struct Turns {
    const Workload* set = nullptr;
    Revision update;
    std::set<Name> pods;
  };
  static Value next(const Turns& turns, const FleetPod& pod, const Value& sidecar);

  std::map<Name, Turns> by_name_;
};

}  // namespace fettle::workloads
