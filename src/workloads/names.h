#pragma once
/// Labels and annotations with a meaning, and names that are made from others. Those that begin
/// with `apps.kruise.io` or `lifecycle` are OpenKruise's; those that begin with `fettle/` are ours.

#include <string>
#include <string_view>

#include "value/name.h"

namespace fettle::workloads {

/// The status of a condition.
namespace status {
inline const Name yes = "True";
inline const Name no = "False";
}  // namespace status

namespace label {
inline const Name revision = "controller-revision-hash";
inline const Name template_hash = "pod-template-hash";
inline const Name instance_id = "apps.kruise.io/cloneset-instance-id";
inline const Name owned_by = "apps.kruise.io/owned-by";
inline const Name specified_delete = "apps.kruise.io/specified-delete";
inline const Name lifecycle_state = "lifecycle.apps.kruise.io/state";
inline const Name exclude_preparing_delete =
    "apps.kruise.io/cloneset-scaling-exclude-preparing-delete";
inline const Name pod_name = "statefulset.kubernetes.io/pod-name";
inline const Name pod_index = "apps.kubernetes.io/pod-index";
/// On a SidecarSet: its revision is also found by this version.
inline const Name custom_version = "apps.kruise.io/sidecarset-custom-version";
inline const Name job_revision = "controller.kubernetes.io/hash";
}  // namespace label

namespace annotation {
inline const Name lifecycle_timestamp = "lifecycle.apps.kruise.io/timestamp";
inline const Name deletion_cost = "controller.kubernetes.io/pod-deletion-cost";
inline const Name pull_parallelism = "apps.kruise.io/image-predownload-parallelism";
inline const Name pull_timeout = "apps.kruise.io/image-predownload-timeout-seconds";
inline const Name pull_threshold = "apps.kruise.io/image-predownload-min-updated-ready-pods";
inline const Name pull_rules = "fettle/image-predownload-rules";  ///< `kruise`: 1.2 of it
inline const Name pull_order = "fettle/image-predownload-order";  ///< `early`
/// On a DaemonSet of v1alpha1: its partition also holds back new pods.
inline const Name progressive_creation = "daemonset.kruise.io/progressive-create-pod";
/// Which of the two containers of each hot sidecar works: {container: its name in the pod}.
inline const Name working = "kruise.io/sidecarset-working-hotupgrade-container";
inline const Name pull_mode = "fettle/image-predownload-mode";  ///< `race`, `wait`
}  // namespace annotation

namespace condition {
inline const Name in_place = "InPlaceUpdateReady";
inline const Name pod_ready = "KruisePodReady";  ///< `markPodNotReady` of a hook
}  // namespace condition

/// Letters and digits that form no words and cannot be confused, as Kubernetes encodes hashes:
/// `5d4f8c7b9d`.
std::string safe_encoded(std::string_view text);

/// The hash of a revision as Kubernetes computes it: the 32 bit FNV-1 hash of its data, and of how
/// often it collided, encoded.
std::string revision_hash(std::string_view data, int collisions);

/// `count` characters made from a text, always the same for the same text.
std::string short_id(std::string_view text, size_t count = 5);

/// The hash in the name of a revision: `5d4f8c7b9d` in `web-5d4f8c7b9d`.
std::string_view hash_of_revision(std::string_view revision);

/// Labels and annotations that users cannot change, since the workload knows the pod by them.
bool is_of_workload(std::string_view key);

/// Whether two references of images name the same one: `nginx` is `docker.io/library/nginx:latest`.
bool is_same_image(std::string_view a, std::string_view b);

}  // namespace fettle::workloads
