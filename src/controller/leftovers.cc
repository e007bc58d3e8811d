#include "controller/leftovers.h"

#include <algorithm>

#include "base/text.h"
#include "controller/workload_objects.h"
#include "kinds/pod.h"
#include "workloads/read/change.h"

namespace fettle {
namespace {

using workloads::Fleet;
using workloads::Object;

/// Somebody may have deleted one in the meantime.
Status unless_deleted(const Result<std::vector<StoredObject>>& stored) {
  return stored || stored.error().blame == Blame::user ? Status() : Status(stored.error());
}

/// Whether the pod is being changed to something that needs an image that is not on its node, while
/// the pod shall no longer have that.
bool pulls_in_vain(const Fleet& fleet, const Resource& attempt) {
  const workloads::Node* const node = fleet.node(node_address(attempt.key.name).node);
  const workloads::FleetPod* const pod = fleet.pod(attempt.key.name);
  std::set<Name> wanted;
  if (pod != nullptr && !pod->is_leaving)
    wanted = images_in(pod_spec(pod->resource->attributes));
  return std::ranges::any_of(images_in(pod_spec(attempt.attributes)), [&](const Name& image) {
    const bool is_there = node != nullptr && Fleet::has_image(*node, image);
    return !is_there && !wanted.contains(image);
  });
}

}  // namespace

Status forget_names_of_gone(const Workplace& place, FleetCache& cache) {
  const Fleet& fleet = cache.fleet();
  const auto is_gone = [&](const Name& owner, const Name& name) {
    return std::ranges::none_of(fleet.owned(owner).pods,
                                [&](const workloads::FleetPod* pod) { return pod->name == name; });
  };
  std::vector<Name> owners;
  for (const auto& [owner, workload] : fleet.workloads())
    if (std::ranges::any_of(workload->pods_to_delete,
                            [&](const Name& name) { return is_gone(owner, name); }))
      owners.push_back(owner);
  if (owners.empty())
    return {};
  const auto change = [&](const Object& before) -> Result<Object> {
    return workloads::without_pods_to_delete(
        before, [&](const Name& name) { return is_gone(before.owner(), name); });
  };
  return unless_deleted(change_objects(place, fleet.environment(), owners, change));
}

Status forget_marks_of_gone(const Workplace& place, FleetCache& cache) {
  const Fleet& fleet = cache.fleet();
  std::set<Name> there;
  for (const auto& [key, record] : cache.view().known) {
    const NodeAddress address = node_address(key.name);
    if (key.kind == "pod")
      there.insert(cat("Pod/", address.space, "/", address.name));
    else if (key.kind == "claim")
      there.insert(workloads::claim_mark(address.space, address.name));
  }
  std::vector<Name> gone;
  for (const Name& owner : cache.view().owners)
    if (workloads::is_mark(owner) && !there.contains(owner) && fleet.object(owner) != nullptr)
      gone.push_back(owner);
  if (gone.empty())
    return {};
  return unless_deleted(delete_objects(place, fleet.environment(), gone));
}

void end_unwanted_pulls(const Run& run, FleetCache& cache, Executor& executor) {
  for (const Key& key : run.under_way()) {
    const RecordPointer& record = cache.records().find(key);
    if (record == nullptr || !record->attempt || record->attempt->verb == Verb::remove)
      continue;
    if (key.kind == "image"
            ? cache.fleet().pull(key.name) == nullptr
            : key.kind == "pod" && pulls_in_vain(cache.fleet(), *record->attempt->resource))
      executor.end(key);
  }
}

}  // namespace fettle
