#pragma once
/// The state of an update in place as it stands in the annotation of a pod, in OpenKruise's form, so
/// that either controller can go on with an update that the other one has begun:
///
///     {"revision": of the pod's label once it is updated, "updateTimestamp",
///      "lastContainerStatuses": {container: {"imageID"}}, "updateImages",
///      "nextContainerImages": {container: image}, "nextContainerResources": {container: resources},
///      "nextContainerRefMetadata": {container: {"labels", "annotations"}},
///      "preCheckBeforeNext": {"containersRequiredReady": before the next of these},
///      "fettle": the pod's `update` as `workloads/pods/in_place.h` has it}
///
/// The last member is ours. OpenKruise drops it when it writes the annotation, and then the update
/// is read from its own members, which say less: neither the revision before nor the ids of
/// containers.

#include "value/value.h"

namespace fettle::cluster {

/// What an update has still to do once its present step is done.
struct NextStep {
  Value images;     ///< {container: image}; null: none
  Value resources;  ///< {container: resources}; null: none
  /// {container: {"labels", "annotations"}}: what its environment refers to, and is not written
  /// before it is its turn; null: none.
  Value metadata{};
  bool is_empty() const { return images.is_null() && resources.is_null() && metadata.is_null(); }
};

/// What containers of `target` have that those of `now` lack; both are templates.
NextStep step_between(const Value& now, const Value& target);
/// The template with what is still to be done as it is on a pod.
Value template_as_on(const Value& pod_template, const Value& pod, const NextStep& next);
/// The template with labels, annotations and finalizers as they are on a pod that has not got its
/// own yet. `patch`: what will change them; it names those that go.
Value metadata_as_on(const Value& pod_template, const Value& pod, const Value& patch);
/// How OpenKruise will change the metadata of a pod that drains, by the annotation; null: not.
Value metadata_change_of(const Value& grace);

struct UpdateState {
  Name revision;  ///< as in the label of pods
  Value update;   ///< the pod's `update`; null: it was never updated
  NextStep next;
};

UpdateState read_update_state(const Value& annotation);
/// The JSON of the annotation.
std::string write_update_state(const UpdateState& state);

}  // namespace fettle::cluster
