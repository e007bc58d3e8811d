#pragma once
/// Answers about workloads: objects with their status, pods, images. Nothing is changed.

#include "controller/fleet_view.h"

namespace fettle {

/// All objects, workloads with the status that was seen just now, and the jobs that pull ahead for
/// rollouts, which nobody stored.
Result<std::vector<workloads::Object>> objects_with_status(const Workplace& place,
                                                           const Name& environment);

/// The workload for whose rollout the job `ImagePullJob/NAMESPACE/NAME` pulls ahead; empty: it is
/// no such job.
Result<Name> owner_of_job(const Workplace& place, const Name& environment, const Name& job);

/// Pods as Kubernetes writes them, with the status that was seen just now: all, or those of one
/// owner.
Result<std::vector<Value>> pods_of(const Workplace& place, const Name& environment,
                                   const Name& owner = {});

/// Whether labels are meant by what `-l` says: `app=web,tier in (a,b)`. Errors (`Blame::user`): it
/// selects no labels.
using LabelFilter = std::function<bool(const Value& labels)>;
Result<LabelFilter> label_filter(std::string_view text);
/// How long ago an object or a pod was created; none when its document does not say.
std::optional<Duration> age_of_object(const Value& document, Time now);

/// An image on a node, or on its way there.
struct ImageView {
  std::string node, image;
  std::string status;  ///< `Present`, `Pulling`, `Failed`
  std::string owner;   ///< of a pull: whose job
  std::string why;     ///< of a failed one
  int64_t bytes = 0;   ///< of one that is there
};
/// The images that workloads name, or `all` that nodes have, by node and image.
Result<std::vector<ImageView>> images_of(const Workplace& place, const Name& environment, bool all);

/// A template that a workload has or had.
struct RevisionView {
  int64_t number = 0;
  std::string name;
  Value pod_template;
  bool is_current = false;  ///< it is what the manifest says
  size_t pods = 0;          ///< that have it
};
/// Of an owner such as `CloneSet/NAMESPACE/NAME`, the oldest first. Errors (`Blame::user`): there
/// is no such workload.
Result<std::vector<RevisionView>> revisions_of(const Workplace& place, const Name& environment,
                                               const Name& owner);

}  // namespace fettle
