#pragma once
/// The state of an update in place as it stands in the annotation of a pod, in OpenKruise's form, so
/// that either controller can go on with an update that the other one has begun:
///
///     {"revision": of the pod's label once it is updated, "updateTimestamp",
///      "lastContainerStatuses": {container: {"imageID"}}, "updateImages",
///      "nextContainerImages": {container: image}, "nextContainerResources": {container: resources},
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
  bool is_empty() const { return images.is_null() && resources.is_null(); }
};

/// What containers of `target` have that those of `now` lack; both are templates.
NextStep step_between(const Value& now, const Value& target);
/// The template with the images and resources that these containers have in a PodSpec.
Value template_as_on(const Value& pod_template, const Value& spec, const NextStep& next);

struct UpdateState {
  Name revision;  ///< as in the label of pods
  Value update;   ///< the pod's `update`; null: it was never updated
  NextStep next;
};

UpdateState read_update_state(const Value& annotation);
/// The JSON of the annotation.
std::string write_update_state(const UpdateState& state);

}  // namespace fettle::cluster
