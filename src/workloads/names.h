#pragma once
/// Labels and annotations that mean something, and names that are made from others. What begins
/// with `apps.kruise.io` or `lifecycle` is as OpenKruise has it; what begins with `fettle/` is
/// ours.

#include <string>
#include <string_view>

#include "value/name.h"

namespace fettle::workloads {

namespace label {
constexpr std::string_view revision = "controller-revision-hash";
constexpr std::string_view template_hash = "pod-template-hash";
constexpr std::string_view instance_id = "apps.kruise.io/cloneset-instance-id";
constexpr std::string_view owned_by = "apps.kruise.io/owned-by";
constexpr std::string_view specified_delete = "apps.kruise.io/specified-delete";
constexpr std::string_view lifecycle_state = "lifecycle.apps.kruise.io/state";
constexpr std::string_view exclude_preparing_delete =
    "apps.kruise.io/cloneset-scaling-exclude-preparing-delete";
constexpr std::string_view pod_name = "statefulset.kubernetes.io/pod-name";
constexpr std::string_view pod_index = "apps.kubernetes.io/pod-index";
constexpr std::string_view job_revision = "controller.kubernetes.io/hash";
}  // namespace label

namespace annotation {
constexpr std::string_view lifecycle_timestamp = "lifecycle.apps.kruise.io/timestamp";
constexpr std::string_view deletion_cost = "controller.kubernetes.io/pod-deletion-cost";
constexpr std::string_view launch_priority = "apps.kruise.io/container-launch-priority";
constexpr std::string_view pull_parallelism = "apps.kruise.io/image-predownload-parallelism";
constexpr std::string_view pull_timeout = "apps.kruise.io/image-predownload-timeout-seconds";
constexpr std::string_view pull_threshold =
    "apps.kruise.io/image-predownload-min-updated-ready-pods";
constexpr std::string_view pull_rules = "fettle/image-predownload-rules";  ///< `kruise`: 1.2 of it
constexpr std::string_view pull_order = "fettle/image-predownload-order";  ///< `early`
constexpr std::string_view pull_mode = "fettle/image-predownload-mode";    ///< `race`, `wait`
}  // namespace annotation

namespace condition {
constexpr std::string_view in_place = "InPlaceUpdateReady";
constexpr std::string_view pod_ready = "KruisePodReady";  ///< `markPodNotReady` of a hook
}  // namespace condition

/// Letters and digits that make no words and no doubt, as Kubernetes encodes hashes: `5d4f8c7b9d`.
std::string safe_encoded(std::string_view text);

/// Kubernetes: the 32 bit FNV-1 hash of a revision's data, and of how often it collided, encoded.
std::string revision_hash(std::string_view data, int collisions);

/// `count` characters from a text: the same for the same text.
std::string short_id(std::string_view text, size_t count = 5);

/// The hash within the name of a revision, `5d4f8c7b9d` of `web-5d4f8c7b9d`.
std::string_view hash_of_revision(std::string_view revision);

/// Whether two references of images name the same one: `nginx` is `docker.io/library/nginx:latest`.
bool is_same_image(std::string_view a, std::string_view b);

}  // namespace fettle::workloads
