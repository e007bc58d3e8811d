#pragma once
/// What becomes of a pod when its template changes (OpenKruise: `DefaultInPlaceUpdate`).
///
/// A new pod for each change is simple and dear: the pod loses its address, its node and its
/// volumes, and containers that nobody changed start again. A pod that changes in place keeps all
/// of that. But whoever plans a rollout has to know beforehand which of the two it will be, since a
/// pod that is made anew is missing meanwhile. The obvious way, to let the driver try and fall
/// back, tells it too late. So this function decides from the two templates alone, and everybody
/// asks it: the owner that counts its pods, the kind that names the step, and the preview.
///
/// Everything that is not in this list is made anew, so a field that nobody has thought of is never
/// changed half:
///
///     containers[N].image                 replaced: that container is made anew
///     containers[N].resources.{limits,requests}.{cpu,memory}
///                                         replaced, if the gate is open and the class of service
///                                         stays: the container is resized
///     labels, annotations, finalizers     any: written, and a container is made anew whose
///                                         environment takes the changed key
///     annotation `kubectl.kubernetes.io/restartedAt`
///                                         any, if the gate of the environment is open: all
///                                         containers are made anew
///
/// An image, amount or environment counts as replaced when it was there before.
///
/// Invariants:
/// * Containers are compared by their place in the list. One that is added, removed, renamed or
///   moved has the pod made anew, and so has any change of an init container.
/// * With an empty `refusal` the lists name each container that is touched; else they say nothing.
/// * The answer depends on the templates and the gates, not on what the pod runs just now.

#include <string>
#include <vector>

#include "value/value.h"

namespace fettle {

/// Which changes are possible beside those of images and metadata.
struct PodChangeGates {
  bool resources = false;   ///< `InPlaceWorkloadVerticalScaling`
  bool environment = true;  ///< `InPlaceUpdateEnvFromMetadata`
};

struct PodChange {
  std::string refusal;  ///< the first path that cannot change in place, as `spec.volumes`; or empty
  std::vector<Name> images;       ///< containers with another image
  std::vector<Name> resources;    ///< containers that are resized
  std::vector<Name> environment;  ///< containers whose environment takes what changed
  /// By the index in `environment`: what it takes, as `labels/KEY` or `annotations/KEY`.
  std::vector<std::vector<std::string>> environment_keys;
  bool metadata = false;
  bool in_place() const { return refusal.empty(); }
};

/// Of two templates `{"metadata", "spec"}`.
PodChange pod_change(const Value& before, const Value& after, const PodChangeGates& gates);

/// The label or annotation that `metadata.labels['KEY']` names, as `labels/KEY`; empty: it names
/// something else.
std::string metadata_reference(std::string_view field_path);

/// What `rollout restart` writes into a template.
inline constexpr std::string_view restart_annotation = "kubectl.kubernetes.io/restartedAt";
/// When all containers of a template were to be made anew last; null: never.
const Value& restart_of(const Value& pod_template);

/// `Guaranteed`, `Burstable` or `BestEffort`: Kubernetes' class of service of a pod's spec.
std::string_view quality_of_service(const Value& spec);

}  // namespace fettle
