#pragma once
/// A manifest with all its defaults, as a struct: made from the document that `read.h` checked. A
/// field that only some kinds have keeps its default in the others.
///
/// To add a field: a member here, a line in `workload.cc`, a rule in `rules.cc` if it can be wrong.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "workloads/amount.h"
#include "workloads/order.h"
#include "workloads/selector.h"

namespace fettle::workloads {

/// The place of a field in a manifest, for code that finds out later that it is wrong.
struct FieldPlace {
  std::string path;  ///< `spec.selector`; if it is missing, where it would be
  Where where;
  std::string excerpt;
};

/// A stored object of a user: a manifest of `apps.kruise.io/v1beta1`, or one on which manifests
/// depend.
struct Object {
  Name kind;   ///< `CloneSet`, `ConfigMap`, …
  Name space;  ///< namespace
  Name name;
  Value document;                    ///< all of it, normalised
  int64_t generation = 1;            ///< counts its changes
  Name uid;                          ///< empty: nobody has stored it yet
  Time created;                      ///< 0: nobody has stored it yet
  Value applied{};                   ///< the document that was last given to `apply`; null: never
  std::vector<FieldPlace> places{};  ///< of fields that are judged later; empty: not read here
  /// The document as it was written, in its own version; null: nobody asked for it
  /// (`ReadOptions::keeps_written`).
  Value written{};
  bool is_of_cluster =
      false;  ///< the server of a cluster checks its pods, which may have any field
  /// Its name as an owner: `CloneSet/NAMESPACE/NAME`.
  Name owner() const;
};

enum class WorkloadSort {
  clone_set,
  stateful_set,
  daemon_set,
  image_pull_job,
  sidecar_set,
  image_list_pull_job
};
/// Whether it has no pods, and only pulls.
constexpr bool is_job(WorkloadSort sort) {
  return sort == WorkloadSort::image_pull_job || sort == WorkloadSort::image_list_pull_job;
}
std::string_view to_string(WorkloadSort sort);  ///< `CloneSet`
std::optional<WorkloadSort> workload_sort(std::string_view kind);

enum class UpdateType { rolling, on_delete };
enum class PodPolicy { recreate, in_place_if_possible, in_place_only };

/// Labels or finalizers that hold a pod at a step until somebody removes them.
struct Hook {
  std::vector<Entry> labels;
  std::vector<Name> finalizers;
  bool marks_not_ready = false;
};

struct Hooks {
  std::optional<Hook> pre_normal, in_place_update, pre_delete;
  /// Whether one of them may mark a pod not ready.
  bool mark_not_ready() const {
    return (pre_normal && pre_normal->marks_not_ready) ||
           (in_place_update && in_place_update->marks_not_ready) ||
           (pre_delete && pre_delete->marks_not_ready);
  }
};

enum class PullMode { race, wait };

/// How images are pulled ahead.
struct PullAhead {
  Amount parallelism{1};
  std::optional<std::string> refused_parallelism;  ///< what was written and is not valid
  int64_t timeout_seconds = 300;
  std::optional<Amount> min_updated_ready;
  bool kruise_rules = false;  ///< not for three pods or fewer, nor for a single batch
  PullMode mode = PullMode::race;
};

/// An ImagePullJob's spec.
struct PullSpec {
  Name image;
  bool always = false;  ///< `imagePullPolicy`
  std::vector<Name> secrets;
  std::optional<std::vector<Name>> node_names;
  std::optional<Selector> node_selector;
  std::optional<Selector> pod_selector;
  Amount parallelism{1};
  int64_t timeout_seconds = 600;
  int64_t backoff_limit = 3;
  bool never_completes = false;
  std::optional<int64_t> deadline_seconds, ttl_seconds;
  Value labels, annotations;  ///< `sandboxConfig`
};

/// The template of a claim that each pod has for itself.
struct ClaimTemplate {
  Name name;
  Value spec;
  Value labels;
};

/// The revision of a SidecarSet for new pods, by its name or by the version in its set's label.
struct InjectedRevision {
  Name revision, version;
  bool is_partial = false;  ///< pods that the update selects get the newest
  bool is_named() const { return !revision.empty() || !version.empty(); }
  const Name& text() const { return revision.empty() ? version : revision; }
};

struct Workload {
  WorkloadSort sort = WorkloadSort::clone_set;
  Name space, name;
  int64_t generation = 1;
  Value labels, annotations;

  int64_t replicas = 1;
  Selector selector;
  Value pod_template;
  std::vector<ClaimTemplate> claims;
  Value claims_document;  ///< the claim templates as they were written
  int64_t min_ready_seconds = 0;
  int64_t history_limit = 10;
  Hooks hooks;

  UpdateType type = UpdateType::rolling;
  PodPolicy policy = PodPolicy::recreate;
  std::optional<Amount> partition;
  std::optional<Amount> max_surge;
  Amount max_unavailable{1};
  bool paused = false;
  UpdateOrder order;
  int64_t grace_seconds = 0;
  PullAhead pull;

  // CloneSet
  std::vector<Name> pods_to_delete;
  std::optional<Amount> scale_max_unavailable;
  bool reuses_claims = false;
  bool exclude_preparing_delete = false;
  std::optional<int64_t> progress_deadline_seconds;

  // StatefulSet
  Name service_name;
  bool parallel = false;
  bool unordered = false;
  std::vector<std::pair<int64_t, int64_t>> reserved_ordinals;  ///< first and last of each range
  int64_t first_ordinal = 0;
  std::vector<Name> first_containers;  ///< of a SidecarSet: they stand before those of the pod
  bool deletes_claims_when_scaled = false;
  bool deletes_claims_when_deleted = false;

  // DaemonSet
  std::optional<Selector> node_selector;  ///< of the update
  int64_t burst = 250;
  bool partitions_scaling = false;  ///< the partition also holds back new pods

  PullSpec pulls;                 ///< ImagePullJob, and what all jobs of a list have in common
  std::vector<Name> pull_images;  ///< ImageListPullJob

  // SidecarSet: its containers and volumes stand in `pod_template`, its selector is that of pods.
  Name pods_space;                 ///< of pods that get it; empty: all that `spaces` selects
  std::optional<Selector> spaces;  ///< of namespaces, by their labels
  std::optional<Selector> update_selector;  ///< of pods that are updated
  bool injection_paused = false;
  InjectedRevision injected;
  Name custom_version;  ///< of its newest revision

  Name owner() const;  ///< `CloneSet/NAMESPACE/NAME`
  /// The images that a job pulls.
  std::vector<Name> job_images() const {
    return sort == WorkloadSort::image_pull_job ? std::vector<Name>{pulls.image} : pull_images;
  }
  /// How many of all pods, or nodes, keep an older revision. For a share, a CloneSet and a
  /// SidecarSet keep pods as `partition_of` says, a DaemonSet only whole ones.
  int64_t kept(int64_t all) const;
};

/// {"spec": what a SidecarSet with this spec puts into pods, without defaults}. Each of its
/// containers is a dict.
Value sidecar_set_template(const Value& spec);

/// For an object whose kind is a workload.
Workload workload_of(const Object& object);

/// How images are pulled ahead, by annotations. Numbers may be texts or numbers.
void read_pull_annotations(const Value& annotations, PullAhead& pull);

}  // namespace fettle::workloads
