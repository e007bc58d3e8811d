#pragma once
/// The fate of a pod whose template changes (OpenKruise: `DefaultInPlaceUpdate`).
///
/// A new pod for each change is simple but expensive: the pod loses its address, its node and its
/// volumes, and unchanged containers start again. A pod that changes in place keeps all of that.
/// But the plan of a rollout must know in advance which of the two it will be, because a recreated
/// pod is missing meanwhile. The obvious way, to let the driver try and fall back, decides too
/// late. So this function decides from the two templates alone, and everyone asks it: the owner
/// that counts its pods, the kind that names the step, and the preview.
///
/// Any change that is not in this list recreates the pod, so a forgotten field is never half
/// changed:
///
///     containers[N].image                 replaced: that container is recreated
///     containers[N].resources.{limits,requests}.{cpu,memory}
///                                         replaced, if the gate is open and the class of service
///                                         stays: the container is resized
///     labels, annotations, finalizers     any: written, and a container is recreated whose
///                                         environment takes the changed key
///     annotation `kubectl.kubernetes.io/restartedAt`
///                                         any, if the gate of the environment is open: all
///                                         containers are recreated
///
/// An image, amount or environment counts as replaced when it was there before.
///
/// Invariants:
/// * Containers are compared by their place in the list. Adding, removing, renaming or moving one
///   recreates the pod, and so does any change of an init container.
/// * With an empty `refusal`, the lists name each affected container; otherwise they mean nothing.
/// * The answer depends on the templates and the gates, not on what the pod runs at the moment.

#include <string>
#include <vector>

#include "value/value.h"

namespace fettle {

/// Possible changes in addition to those of images and metadata.
struct PodChangeGates {
  bool resources = false;   ///< `InPlaceWorkloadVerticalScaling`
  bool environment = true;  ///< `InPlaceUpdateEnvFromMetadata`
};

struct PodChange {
  std::string refusal;  ///< the first path that cannot change in place, as `spec.volumes`; or empty
  std::vector<Name> images;       ///< containers with another image
  std::vector<Name> resources;    ///< containers that are resized
  std::vector<Name> environment;  ///< containers whose environment takes a changed key
  /// By the index in `environment`: the keys that it takes, as `labels/KEY` or `annotations/KEY`.
  std::vector<std::vector<std::string>> environment_keys;
  bool metadata = false;
  bool in_place() const { return refusal.empty(); }
};

/// Compares two templates `{"metadata", "spec"}`.
PodChange pod_change(const Value& before, const Value& after, const PodChangeGates& gates);

/// The label or annotation that `metadata.labels['KEY']` names, as `labels/KEY`; empty: it names
/// something else.
std::string metadata_reference(std::string_view field_path);

/// The annotation that `rollout restart` writes into a template.
inline constexpr std::string_view restart_annotation = "kubectl.kubernetes.io/restartedAt";
/// The time of the last request to recreate all containers of a template; null: none.
const Value& restart_of(const Value& pod_template);

/// `Guaranteed`, `Burstable` or `BestEffort`: Kubernetes' class of service of a pod's spec.
std::string_view quality_of_service(const Value& spec);

}  // namespace fettle
