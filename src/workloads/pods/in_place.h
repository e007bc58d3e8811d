#pragma once
/// The update of a pod in place, from its beginning to the moment when the pod is as the others.
///
/// The change of a pod (`kinds/pod_change.h`) cannot be one act. Those who use the pod have to hear
/// of it before a container stops, and may need time to leave it; containers with a higher launch
/// priority have to be ready before the others change; and right after the act, what was seen still
/// shows the old containers. A rollout that took them for ready would go on to the next pod too
/// early, and take down more pods than it may. So an update has steps, and each waits for what is
/// seen:
///
/// 1. `begin`: the pod gets the name of the new revision. With a grace period, and if the first
///    step changes an image, it is only told to be not ready, and drains.
/// 2. A step of the template (`batches.h`): the next containers change. If that disturbs anybody,
///    the pod turns not ready with the same act, and is told so before anything stops.
/// 3. `refresh` waits until the act is done and each changed container is seen to be another one.
///    If the template is not yet that of the revision, it goes back to 2 once the changed
///    containers are ready.
/// 4. The pod is ready again for its owner, and what was remembered goes away.
///
/// The process may die at any moment, or another controller may take over. So nothing that counts
/// is kept in memory: how far the update has come stands in the pod's attribute `state`, which is
/// part of its record:
///
///     {"update": {"since": nanoseconds, "from": revision before, "grace": true while it drains,
///         "last": {container: {"image_id", "container_id", "resized"}}: before it changed}}
///
/// Invariants:
/// * From the beginning, a pod counts as one of the new revision; its template follows step by
///   step.
/// * While it drains, no container has changed yet: if nobody wants the new revision any more, the
///   pod goes back to the one before, if that is still known.
/// * Whether a container was recreated shows in its ids (`is_container_updated`), never in the time
///   that has passed. A container that was only resized keeps its id; in a cluster, its status says
///   which resources it has been given.

#include "workloads/pods/batches.h"
#include "workloads/pods/pod_edit.h"
#include "workloads/rollout.h"

namespace fettle::workloads {

class InPlace {
 public:
  explicit InPlace(Rollout& rollout);

  /// Whether the pod can have the revision without being recreated.
  bool can(size_t row, const Revision& target);
  /// The field that prevents it, such as `spec.volumes`.
  std::string refusal(size_t row, const Revision& target);
  /// Images that the pod will get and does not run yet.
  std::vector<Name> new_images(size_t row, const Revision& target);
  /// Begins the update. The pod has the target's name from now on.
  void begin(size_t row, const Revision& target);
  /// Goes on with every pod whose update is under way.
  void refresh();

 private:
  void refresh_row(size_t row);
  void refresh_grace(size_t row, const Value& update);
  void take_step(size_t row, PodEdit& edit, const Value& target, const Value& update,
                 const Value& last) const;
  void advance(size_t row, const Revision& target, const Value& update, const Value& last);
  bool is_consistent(size_t row, const Value& update) const;
  bool are_ready(size_t row, const Value& update) const;
  Attributes finished(size_t row) const;
  void set_revision(PodEdit& edit, const Revision& revision) const;

  Rollout& rollout_;
  mutable Steps steps_;
  std::map<std::pair<Digest, Digest>, bool> possible_;
};

/// Labels that say which revision a pod has.
std::vector<Entry> revision_labels(const Rollout& rollout, const Revision& revision);

/// Whether the look at a container shows that it was recreated. `made`: the id that the act
/// reported, or empty; `last`: {"image_id", "container_id"} of before. A runtime that knows an
/// image by several names may report another name after the update, so the id of the container
/// counts as well.
bool is_container_updated(const ContainerSeen* seen, const Value& last,
                          std::string_view wanted_image, const Value& made);

}  // namespace fettle::workloads
