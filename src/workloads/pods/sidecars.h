#pragma once
/// Containers that a SidecarSet puts into pods of others. A new pod gets the newest revision; later
/// it gets another revision when its turn comes (`sidecar_set.h`). The pod's attribute `sidecars`
/// has everything that each set brought, so that the pod alone shows what it is made of.

#include <map>
#include <set>

#include "workloads/rollout.h"

namespace fettle::workloads {

/// Whether a pod runs what it is to have of a SidecarSet.
bool runs_sidecar(const FleetPod& pod, const Value& sidecar);
/// Whether a pod of a namespace with these labels gets a SidecarSet.
bool is_meant(const Fleet& fleet, const Workload& set, const Name& space, const Value& labels);

/// The sidecars of a new pod, or null. A set whose containers have names that the pod has already
/// is left out, and that is reported.
Value sidecars_for(Rollout& rollout, const Value& labels, const Value& pod_template,
                   std::string_view pod);

/// The revision that pods get whose making is not decided here. Where a share of them is to get the
/// newest one, all get the one that is named. `revisions`: of the set.
const Revision& revision_for_others(const Rollout& revisions);

/// What a pod is to have of a SidecarSet instead of `before`, in place. A pod of others keeps all
/// but images: what its containers have from the pod, and from a server, is not known here.
Value next_sidecar(const Workload& set, const Revision& revision, const FleetPod& pod,
                   const Value& before);

/// Whose turn it is, by SidecarSet. The fleet must not change meanwhile.
class SidecarTurns {
 public:
  SidecarTurns(const Fleet& fleet, Time now);
  /// A pod's sidecars with those that are to change now. A pod of others gets nothing from a set
  /// that is not meant for it any more.
  Value taken(const FleetPod& pod, const Value& sidecars) const;

 private:
  struct Turns {
    const Workload* set = nullptr;
    Revision update;
    std::set<Name> pods;
  };
  static Value next(const Turns& turns, const FleetPod& pod, const Value& sidecar);
  bool has_turn(const FleetPod& pod, const Turns& turns) const;

  const Fleet& fleet_;
  std::map<Name, Turns> by_name_;
};

}  // namespace fettle::workloads
