#pragma once
/// Answers questions about workloads: objects with their status, pods, images. Changes nothing.

#include "controller/fleet_access.h"

namespace fettle {

/// All objects. Workloads have the status that was just seen. The jobs that pull ahead for
/// rollouts, which nobody stored, are among them.
Result<std::vector<workloads::Object>> objects_with_status(const Workplace& place,
                                                           const Name& environment);

/// Whether manifests are stored in it.
Result<bool> has_manifests(const Workplace& place, const Name& environment);

/// The workload for whose rollout the job `ImagePullJob/NAMESPACE/NAME` pulls ahead. Empty: it is
/// no such job.
Result<Name> owner_of_job(const Workplace& place, const Name& environment, const Name& job);

/// Pods as Kubernetes writes them, with the status that was just seen: all, or those of one owner.
Result<std::vector<Value>> pods_of(const Workplace& place, const Name& environment,
                                   const Name& owner = {});

/// Whether labels match the text of `-l`: `app=web,tier in (a,b)`. Errors (`Blame::user`): the text
/// is no selector.
using LabelFilter = std::function<bool(const Value& labels)>;
Result<LabelFilter> label_filter(std::string_view text);
/// How long ago an object or a pod was created. None: its document does not say.
std::optional<Duration> age_of_object(const Value& document, Time now);

/// The images that workloads name, or with `all` those that nodes have, by node and image.
Result<std::vector<ImageView>> images_of(const Workplace& place, const Name& environment, bool all);

/// A template that a workload has or had.
struct RevisionView {
  int64_t number = 0;
  std::string name;
  Value pod_template;
  bool is_current = false;  ///< it is what the manifest says
  size_t pods = 0;          ///< how many have it
};
/// The revisions of an owner such as `CloneSet/NAMESPACE/NAME`, the oldest first. Errors
/// (`Blame::user`): there is no such workload.
Result<std::vector<RevisionView>> revisions_of(FleetAccess& fleet, const Name& owner);

}  // namespace fettle
