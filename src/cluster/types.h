#pragma once
/// The types of objects in a cluster that are kept or written here.

#include <algorithm>
#include <vector>

#include "kubernetes/resource_type.h"

namespace fettle::cluster::types {

using kubernetes::types::nodes;
using kubernetes::types::pods;
inline const kubernetes::ResourceType claims{"", "v1", "persistentvolumeclaims",
                                             "PersistentVolumeClaim"};
inline const kubernetes::ResourceType revisions{"apps", "v1", "controllerrevisions",
                                                "ControllerRevision"};
inline const kubernetes::ResourceType clone_sets{"apps.kruise.io", "v1beta1", "clonesets",
                                                 "CloneSet"};
inline const kubernetes::ResourceType stateful_sets{"apps.kruise.io", "v1beta1", "statefulsets",
                                                    "StatefulSet"};
inline const kubernetes::ResourceType daemon_sets{"apps.kruise.io", "v1beta1", "daemonsets",
                                                  "DaemonSet"};
inline const kubernetes::ResourceType sidecar_sets{"apps.kruise.io", "v1beta1", "sidecarsets",
                                                   "SidecarSet", false};
inline const kubernetes::ResourceType pull_jobs{"apps.kruise.io", "v1beta1", "imagepulljobs",
                                                "ImagePullJob"};
inline const kubernetes::ResourceType list_jobs{"apps.kruise.io", "v1beta1", "imagelistpulljobs",
                                                "ImageListPullJob"};
/// What a node is to pull, and what has come of it. It has the node's name.
inline const kubernetes::ResourceType node_images{"apps.kruise.io", "v1beta1", "nodeimages",
                                                  "NodeImage", false};
/// Logins for registries, read and written by name alone.
inline const kubernetes::ResourceType secrets{"", "v1", "secrets", "Secret"};
/// Their labels: selectors of SidecarSets ask for them.
inline const kubernetes::ResourceType spaces{"", "v1", "namespaces", "Namespace", false};

/// By which a server puts sidecars into pods of others. In the version that it serves, if any.
inline const kubernetes::ResourceType policies{"admissionregistration.k8s.io", "v1",
                                               "mutatingadmissionpolicies",
                                               "MutatingAdmissionPolicy", false};
inline const kubernetes::ResourceType policy_bindings{"admissionregistration.k8s.io", "v1",
                                                      "mutatingadmissionpolicybindings",
                                                      "MutatingAdmissionPolicyBinding", false};

/// The workloads that are kept. Those of no namespace are only kept where all namespaces are.
inline const std::vector<kubernetes::ResourceType> workloads{
    clone_sets, stateful_sets, daemon_sets, sidecar_sets, pull_jobs, list_jobs};
/// By which images are pulled ahead. Where one of them is not served, nothing is pulled ahead. Nodes
/// belong to no namespace, so this needs all namespaces as well.
inline const std::vector<kubernetes::ResourceType> for_pulls{pull_jobs, list_jobs, node_images};
/// `kind` is one of theirs.
inline const kubernetes::ResourceType& workload_of_kind(std::string_view kind) {
  return *std::ranges::find(workloads, kind, &kubernetes::ResourceType::kind);
}

}  // namespace fettle::cluster::types
