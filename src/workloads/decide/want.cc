#include "workloads/decide/want.h"

#include "kinds/claim.h"
#include "workloads/decide/clone_set.h"
#include "workloads/decide/daemon_set.h"
#include "workloads/decide/others.h"
#include "workloads/decide/pulls.h"
#include "workloads/decide/sidecar_set.h"
#include "workloads/decide/stateful_set.h"

namespace fettle::workloads {
namespace {

bool is_deleted(const Fleet& fleet, const VolumeClaim& claim) {
  const Object* const marked = fleet.object(claim_mark(claim.space.view(), claim.name.view()));
  return marked != nullptr && marked->document.bool_at("deleted");
}

}  // namespace

Wanted want(const Fleet& fleet, const Name& owner, Time now) {
  if (is_of_others(owner))
    return want_others(fleet, owner, now);
  const Workload* workload = fleet.workload(owner);
  if (workload == nullptr) {
    // The data of a deleted workload may stay until users delete that, too.
    Wanted rest;
    rest.owner = owner;
    for (const auto& [name, memory] : fleet.owned(owner).claims)
      if (const VolumeClaim claim = read<VolumeClaim>(memory.resource->attributes);
          claim.retain.get() && !is_deleted(fleet, claim))
        rest.resources.push_back(memory.resource);
    return rest;
  }
  switch (workload->sort) {
    case WorkloadSort::clone_set:
      return want_clone_set(fleet, *workload, now);
    case WorkloadSort::stateful_set:
      return want_stateful_set(fleet, *workload, now);
    case WorkloadSort::daemon_set:
      return want_daemon_set(fleet, *workload, now);
    case WorkloadSort::image_pull_job:
      return want_pull_job(fleet, *workload, now);
    case WorkloadSort::image_list_pull_job:
      return want_list_job(fleet, *workload, now);
    case WorkloadSort::sidecar_set:
      return want_sidecar_set(fleet, *workload, now);
  }
  return {};
}

}  // namespace fettle::workloads
