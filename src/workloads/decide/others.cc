#include "workloads/decide/others.h"

#include "kinds/pod.h"
#include "workloads/pods/pod_edit.h"
#include "workloads/pods/sidecars.h"

namespace fettle::workloads {

/// Every pod is wanted, whatever has become of it: one that were not would be removed.
Wanted want_others(const Fleet& fleet, const Name& owner, Time now) {
  const SidecarTurns turns(fleet, now);
  Wanted wanted;
  wanted.owner = owner;
  for (const FleetPod* const pod : fleet.owned(owner).pods) {
    const List before = read_one<&Pod::sidecars>(pod->resource->attributes);
    const Value after = turns.taken(*pod, before.value());
    Box<Resource> resource = pod->resource;
    if (after != before.value()) {
      PodEdit edit(resource->attributes);
      edit.set<&Pod::sidecars>(after);
      resource.edit().attributes = edit.made();
    }
    wanted.resources.push_back(std::move(resource));
    wanted.pods.push_back(pod);
  }
  return wanted;
}

}  // namespace fettle::workloads
