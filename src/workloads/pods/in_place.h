#pragma once
/// The update of a pod in place: it is told to those who use the pod, they may drain, containers
/// change step by step, and when what is seen is what was asked for, the pod is as the others.
///
/// How far it has come stands in the pod's attribute `state`:
///   {"update": {"since": nanoseconds, "from": revision before, "grace": true while it drains,
///               "last": {container: {"image_id", "container_id", "resized"}}: before it changed}}

#include "workloads/pods/batches.h"
#include "workloads/pods/pod_edit.h"
#include "workloads/rollout.h"

namespace fettle::workloads {

class InPlace {
 public:
  explicit InPlace(Rollout& rollout);

  /// Whether the pod can have the revision without being made anew.
  bool can(size_t row, const Revision& target);
  /// What stands against it, as `spec.volumes`.
  std::string refusal(size_t row, const Revision& target);
  /// Images that the pod gets and does not run yet.
  std::vector<Name> new_images(size_t row, const Revision& target);
  /// Begins it; the pod has the target's name from now on.
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
  Value finished(size_t row) const;
  void set_revision(PodEdit& edit, const Revision& revision) const;

  Rollout& rollout_;
  mutable Steps steps_;
  std::map<std::pair<Digest, Digest>, bool> possible_;
};

/// Labels that say which revision a pod has.
std::vector<Entry> revision_labels(const Rollout& rollout, const Revision& revision);

/// Whether what is seen of a container shows that it was made anew. `made`: the id that the act
/// told of, or none; `last`: {"image_id", "container_id"} of before. A runtime that reports the
/// first name of an image goes on under another one: the id of the container counts as well.
bool is_container_updated(const ContainerSeen* seen, const Value& last,
                          std::string_view wanted_image, const Value& made);

}  // namespace fettle::workloads
