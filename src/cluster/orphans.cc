#include "cluster/orphans.h"

#include <algorithm>

#include "cluster/types.h"
#include "value/with.h"

namespace fettle::cluster {
namespace {

using workloads::Workload;
using workloads::WorkloadSort;

/// Whether a pod is called `SET-NUMBER`.
bool is_numbered_of(std::string_view pod, std::string_view set) {
  if (pod.size() <= set.size() + 1 || !pod.starts_with(set) || pod[set.size()] != '-')
    return false;
  return std::ranges::all_of(pod.substr(set.size() + 1),
                             [](char each) { return each >= '0' && each <= '9'; });
}

/// Whether it is one that a workload of this sort manages.
bool selects(const Workload& workload, const Value& object) {
  const Value& metadata = object.at("metadata");
  const bool takes_orphans =
      workload.sort == WorkloadSort::stateful_set || workload.sort == WorkloadSort::daemon_set;
  return takes_orphans && metadata.text_at("namespace") == workload.space.view() &&
         !workload.selector.is_empty() && workload.selector.matches(metadata.at("labels"));
}

}  // namespace

bool is_orphan(const ObjectMeta& meta) { return !meta.controller && !meta.is_leaving; }

bool takes_over(const Workload& workload, const Value& object, bool is_pod) {
  const ObjectMeta meta = meta_of(object);
  const bool is_named = !is_pod || workload.sort != WorkloadSort::stateful_set ||
                        is_numbered_of(meta.name.view(), workload.name.view());
  return is_named && is_orphan(meta) && selects(workload, object);
}

bool may_be_left_for(const workloads::Object& owner, const Value& revision) {
  const ObjectMeta meta = meta_of(revision);
  return !meta.is_leaving && meta.owner() == owner.owner() && meta.controller->uid != owner.uid &&
         selects(workloads::workload_of(owner), revision);
}

Orphans orphans_in(const kubernetes::ObjectCache& objects) {
  Orphans found;
  for (const auto& [kind, list] : {std::pair(types::revisions.kind, &found.revisions),
                                   std::pair(types::pods.kind, &found.pods)})
    for (const Value& object : objects.all(kind))
      if (is_orphan(meta_of(object)))
        list->push_back(object);
  return found;
}

Orphans orphans_for(const Workload& workload, const Orphans& all) {
  Orphans found;
  for (const Value& each : all.revisions)
    if (takes_over(workload, each, false))
      found.revisions.push_back(each);
  for (const Value& each : all.pods)
    if (takes_over(workload, each, true))
      found.pods.push_back(each);
  return found;
}

Value change_of_owner(const ObjectMeta& meta, const workloads::Object& owner) {
  return Value::dict(
      {{"metadata", Value::dict({{"uid", meta.uid},
                                 {"ownerReferences", Value::list({owner_reference(owner)})}})}});
}

Value taken_over(const Value& object, const workloads::Object& owner) {
  const Value& metadata = object.at("metadata");
  const auto before = items_of(metadata.at("ownerReferences"));
  std::vector<Value> owners(before.begin(), before.end());
  owners.push_back(owner_reference(owner));
  return with(object, "metadata",
              with(metadata, "ownerReferences", Value::list(std::move(owners))));
}

}  // namespace fettle::cluster
