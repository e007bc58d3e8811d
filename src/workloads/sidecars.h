#pragma once
/// Containers that a SidecarSet puts into pods of others. A pod gets them when it is made, in the
/// newest revision; later it gets another revision when its turn comes (`sidecar_set.h`). Each
/// stands in the pod's attribute `sidecars` with all that it brought, so that a pod needs nobody to
/// know what it is made of.

#include <map>
#include <set>

#include "workloads/rollout.h"

namespace fettle::workloads {

/// What a pod has of a SidecarSet: {"name", "revision", "containers", …}.
Value sidecar_of(const Workload& set, const Revision& revision);
/// The template that a pod's part was made of.
Value sidecar_template(const Value& sidecar);
/// Whether a pod of a namespace with these labels gets a SidecarSet.
bool is_meant(const Fleet& fleet, const Workload& set, const Name& space, const Value& labels);

/// What a new pod gets, or null. One whose containers have names that the pod has already is left
/// out, and that is told.
Value sidecars_for(Rollout& rollout, const Value& labels, const Value& pod_template,
                   std::string_view pod);

/// Whose turn it is, by SidecarSet.
class SidecarTurns {
 public:
  SidecarTurns(const Fleet& fleet, Time now);
  /// A pod's sidecars with those that are to change now.
  Value taken(const Pod& pod, const Value& sidecars) const;

 private:
  struct Turns {
    Value sidecar;
    std::set<Name> pods;
  };
  std::map<Name, Turns> by_name_;
};

}  // namespace fettle::workloads
