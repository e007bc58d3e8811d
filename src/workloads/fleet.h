#pragma once
/// All that decisions about rollouts are based on: what users stored, what is remembered of pods,
/// revisions, jobs and pulls, and what was seen of them. It is kept up to date change by change,
/// compact, and indexed by owner, so that the cost of a change does not grow with the fleet.
///
/// Its user reports every change: `put` and `drop` are about objects, `know` about records, `see`
/// about what drivers observed, and `accept` about what `want` answered. `take_changed` says who
/// has to be asked again.
///
/// An owner is called `CloneSet/NAMESPACE/NAME`, like its set in the intent. Pods of a cluster that
/// no workload here makes (those of Deployments, of Jobs, single pods) are in the fleet if a
/// SidecarSet has put something into them. All that are in one namespace have one owner
/// (`decide/others.h`).

#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "core/record.h"
#include "workloads/host_ports.h"
#include "workloads/pod_row.h"
#include "workloads/sidecar_index.h"
#include "workloads/workload.h"

namespace fettle::workloads {

/// The last look at one container.
struct ContainerSeen {
  Name name, image, image_id, container_id;
  int restarts = 0;
  bool is_ready = false;
  bool is_running = false;
  Value resources{};  ///< that it has been given; null: nobody said
};

struct FleetPod : PodTag {
  bool is_ready() const { return readiness == Readiness::ready; }

  // The fields that every decision looks at, side by side.
  Box<Resource> resource;  ///< as it was wanted last
  Name space, owner, revision;
  Time ready_since, created;
  Digest template_digest, configs_digest;
  int64_t deletion_cost = 0;
  uint32_t node_number = 0;
  int restarts = 0;
  Phase phase = Phase::pending;
  Lifecycle lifecycle = Lifecycle::none;
  bool exists = false;                      ///< an act has made it
  bool is_done = false;                     ///< the last act made it as it is wanted
  bool is_leaving = false;                  ///< it is not wanted any more, and may still be there
  Readiness readiness = Readiness::unseen;  ///< by the last look
  bool is_busy = false;                     ///< an act goes on, which may repair it
  bool is_acting = false;                   ///< an act goes on that may make it ready or not ready
  bool is_due = false;                      ///< such an act is wanted and has not begun
  bool is_specified = false;
  bool is_deleted = false;         ///< users deleted it
  bool is_updating = false;        ///< an update in place is not complete
  bool is_marked = false;          ///< users changed something about it, now or before
  bool is_held = false;            ///< one of its conditions is to be False
  std::vector<Name> sidecar_sets;  ///< names of those that have put something into it
  bool has_sidecars() const { return !sidecar_sets.empty(); }
  /// Of attributes, marks and configs that were found to agree: of thousands of marked pods, few
  /// change between two decisions. Only decisions write it.
  mutable Digest settled;
  /// When another one comes in place of one that has ended by itself, in a cluster; 0: it has not,
  /// or no decision has met it. Only decisions write it.
  mutable Time anew_at;

  Digest applied;       ///< those with which the last act ended well; zero: none
  Box<Resource> acted;  ///< what the last act that began was to make of it; none: none has begun
  std::vector<ContainerSeen> containers;
  std::vector<Entry> made;      ///< container: its id, as the last act reported it
  Name error;                   ///< why the last act failed
  Name complaint;               ///< why it was not ready at the last look
  int64_t cpu = 0, memory = 0;  ///< requested by its containers, in thousandths
  std::vector<HostPort> ports;  ///< those of its node's machine
};

/// A revision, a job, a claim or a notice. It is known by its attributes alone.
struct Memory {
  Box<Resource> resource;
  Name owner;
  Digest applied;  ///< as for a pod
  bool is_done = false;
};

/// What a node of a cluster has told of a pull.
struct PullSeen {
  enum class Phase { pulling, succeeded, failed };
  Phase phase = Phase::pulling;
  Name error{};  ///< why it has failed
  Time finished{};
  bool operator==(const PullSeen&) const = default;
};

/// A pull on one node. In a cluster its record only says that the node was told to pull; what has
/// come of it is seen.
struct Pull {
  Box<Resource> resource;
  Name owner;
  Name error;      ///< why it failed
  Name digest;     ///< what the reference means
  Digest applied;  ///< as for a pod
  Time finished;
  bool is_done = false;
  bool has_failed = false;  ///< all attempts have failed
  bool is_order = false;    ///< somebody else pulls, for exactly the job that has ordered it
  PullSeen seen;            ///< of an order
};

struct Node {
  Name name;
  Value labels;
  int64_t cpu = -1;     ///< thousandths; below zero: as much as is wanted
  int64_t memory = -1;  ///< thousandths of bytes
  int pulls = 2;        ///< at once
  bool is_ready = true;
  bool is_cordoned = false;
  bool is_draining = false;     ///< no pod shall be on it, not even of a DaemonSet
  Value taints{};               ///< of a node of a cluster, as its spec has them
  bool pulls_ahead = true;      ///< if not, nobody pulls there before a pod needs an image
  std::map<Name, Name> images;  ///< reference: digest, or empty
  uint32_t number = 0;
};

/// Pods that ended by themselves soon after one another: of a CloneSet, or on one node, or with one
/// number.
struct Endings {
  struct Row {
    Time until;  ///< what ends before that waits until then as well
    Duration pause{};
  };
  int64_t generation = -1;  ///< of the workload; with another one they begin anew
  std::map<Name, Row> rows;

  /// One has ended now. Returns when another one may come: the first time at once, then after 1 s
  /// … 15 min, twice as long each time, until none has ended for ten minutes.
  Time end_one(const Name& which, Time now);
};

/// All that one owner has.
struct OwnerHoldings {
  std::vector<FleetPod*> pods;  ///< by key
  std::map<Name, Memory> revisions, jobs, claims, notices;
  std::set<Name> pulls;
  mutable Endings endings;  ///< only decisions write it
};

/// Whether a fleet's gates are on or off. The defaults are ours (`gates.h` reads them).
struct Gates {
  bool pre_download = true;             ///< `PreDownloadImageForInPlaceUpdate`
  bool pre_download_daemon_set = true;  ///< `PreDownloadImageForDaemonSetUpdate`
  bool daemon = true;               ///< `KruiseDaemon`: somebody pulls on the nodes of a cluster
  bool partition_rollback = false;  ///< `CloneSetPartitionRollback`
  bool preparing_update_as_update = false;
  bool resize = false;      ///< `InPlaceWorkloadVerticalScaling`
  bool environment = true;  ///< `InPlaceUpdateEnvFromMetadata`
  bool claim_hash = false;  ///< `RecreatePodWhenChangeVCTInCloneSetGate`
  bool short_hash = false;  ///< `CloneSetShortHash`
};

struct Wanted;

class Fleet {
 public:
  explicit Fleet(Name environment) : environment_(std::move(environment)) {}
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  Gates gates;
  Name driver = "engine";  ///< a pod's driver is `engine@NODE`, or `engine` without a node
  /// A cluster runs the pods. It chooses their nodes, which are observed and stand in no key, and
  /// whether a node is away is its matter as well. A pod keeps the readiness gates with which it was
  /// made.
  bool is_cluster = false;
  /// Else only pods of some namespaces are in it. SidecarSets have pods in all, so nobody knows whose
  /// turn comes next.
  bool has_all_spaces = true;
  /// In a cluster, how many acts its server can take at once, beside orders to nodes.
  int acts_at_once = 16;

  /// Takes a manifest that was stored or changed, a ConfigMap or a Secret. A `Pod` says what users
  /// changed about a pod: labels, annotations and finalizers in its `metadata`, where null removes
  /// one. `since` says when, in nanoseconds: the marks do not count for a pod that is made later
  /// under the same name. `deleted` removes the pod at once.
  void put(Object object);
  void drop(const Name& owner);
  void put_node(Node node);
  void drop_node(const Name& name);
  /// Takes the record of a resource. Null: it is gone.
  void know(const Key& key, const RecordPointer& record);
  /// Somebody else has changed a pod, as its record says: the next decision begins from there, as
  /// one of another controller would, and does not insist on what was wanted before.
  void let_be(const Key& key);
  /// Takes a look at a pod. None: it is not there. Returns whether it differs from the last one in
  /// more than the number of restarts; then its owner is to be asked again.
  bool see(const Key& key, const std::optional<State>& state);
  /// A pod whose key names no node was seen on this one; empty: on none yet. Returns whether that is
  /// another one.
  bool see_node(const Key& key, const Name& node);
  /// An image came to a node, or left it.
  void see_image(const Name& node, const Name& reference, const Name& digest, bool is_there);
  /// A node of a cluster has told what has come of a pull.
  void see_pull(const Key& key, const PullSeen& seen);
  /// From now on, the answer of `want` is what is wanted. The fleet must not have changed in
  /// between.
  void accept(const Wanted& wanted);
  /// The owners that may want something new, in the order of their names.
  std::vector<Name> take_changed();

  const Name& environment() const { return environment_; }
  const Workload* workload(const Name& owner) const;
  const Object* object(const Name& owner) const;
  const std::map<Name, std::shared_ptr<const Workload>>& workloads() const { return workloads_; }
  /// Owners that put containers into others' pods.
  const std::set<Name>& sidecar_sets() const { return sidecars_.owners(); }
  const OwnerHoldings& owned(const Name& owner) const;
  const std::map<Name, Node>& nodes() const { return nodes_; }
  const Node* node(const Name& name) const;
  const Node* node_at(uint32_t number) const {
    return number < by_number_.size() ? by_number_[number].node : nullptr;
  }
  /// Whether images can be pulled on a node before pods need them. In a cluster, a pod may be on no
  /// node yet, or on one where nobody pulls.
  bool can_pull_ahead(const Name& name) const {
    const Node* const found = is_cluster ? node(name) : nullptr;
    return !is_cluster || (found != nullptr && found->pulls_ahead);
  }
  /// All numbers of nodes are below. Who keeps one longer than a decision may find another node
  /// under it.
  size_t node_numbers() const { return by_number_.size(); }
  /// How many owners something is kept of.
  size_t owners_kept() const { return owned_.size(); }
  const FleetPod* pod(const Name& key_name) const;
  const Pull* pull(const Name& key_name) const;
  /// What users changed about a pod since it was made; none: nothing.
  const Object* marks(const FleetPod& pod) const;
  /// Whether a reference is on a node, by what was seen and what was pulled.
  static bool has_image(const Node& node, const Name& reference);
  /// The requests of the pods on a node.
  struct NodeUse {
    int64_t cpu = 0;
    int64_t memory = 0;
  };
  NodeUse used(uint32_t node_number) const;
  /// A pod on a node that has one of these ports, or is to have it; null: there is none.
  const FleetPod* port_holder(uint32_t node_number, const std::vector<HostPort>& ports) const;
  template <typename Function>
  void for_each_pull(Function function) const {
    for (const auto& [key, pull] : pulls_)
      function(pull);
  }
  /// The pods that have something of a SidecarSet, in the order of all pods.
  template <typename Function>
  void for_each_pod_with(const Name& sidecar_set, Function function) const {
    sidecars_.for_each_pod(sidecar_set, function);
  }
  template <typename Function>
  void for_each_pod(Function function) const {
    for (const auto& [owner, owned] : owned_)
      for (const FleetPod* pod : owned.pods)
        function(*pod);
  }

 private:
  struct NumberedNode {
    const Node* node = nullptr;  ///< null: not there any more
    Name name;
    size_t pods = 0;  ///< that stand on it
    NodeUse used;
    std::vector<const FleetPod*> with_ports;
  };

  FleetPod& pod_for(const Key& key);
  void forget_pod(const Name& key_name);
  void wish(FleetPod& pod, const Box<Resource>& resource);
  void wish_for_pull(const Box<Resource>& resource, const Name& owner);
  void wish_for_memory(const Box<Resource>& resource, const Name& owner);
  void accept_pods(const Wanted& wanted);
  void leave(FleetPod& pod);
  void measure(FleetPod& pod);
  void stand_on(FleetPod& pod, const Name& node);
  void make_room(FleetPod& pod);
  void derive(FleetPod& pod);
  void touch(const Name& owner);
  void touch_jobs(const Name& image);
  void forget_images(const Name& owner);
  void touch_pod(const FleetPod& pod);
  void touch_turns(const Value& turns);
  void wish_as_acted(FleetPod& pod);
  void begin_anew(FleetPod& pod);
  void touch_sets_of(const FleetPod& pod);
  void take_sidecar_sets(FleetPod& pod, std::vector<Name> names);
  void know_pod(const Key& key, const RecordPointer& record);
  static void follow_act(FleetPod& pod, const Record& record);
  void judge(Pull& pull) const;
  void know_pull(const Key& key, const RecordPointer& record);
  void know_memory(const Key& key, const RecordPointer& record);
  std::map<Name, Memory>* memories(const Name& owner, const Name& kind);
  void index(FleetPod& pod);
  void unindex(FleetPod& pod);
  void forget_owner(const Name& owner);
  uint32_t number_of(const Name& node);
  void release_number(uint32_t number);
  void step_on(FleetPod& pod, const Name& node);
  void step_off(const FleetPod& pod);

  Name environment_;
  std::map<Name, Object> objects_;
  std::map<Name, std::shared_ptr<const Workload>> workloads_;
  std::map<Name, Node> nodes_;
  std::vector<NumberedNode> by_number_;
  std::set<Name> waiting_;                      ///< owners that found no node for a pod
  std::unordered_map<Name, uint32_t> numbers_;  ///< of nodes that are there or have pods
  std::vector<uint32_t> free_numbers_;
  std::unordered_map<Name, std::unique_ptr<FleetPod>> pods_;
  std::map<Name, Pull> pulls_;
  std::unordered_map<Key, Name, KeyHash> memory_owners_;
  std::map<Name, OwnerHoldings> owned_;
  std::set<Name> changed_;
  SidecarIndex sidecars_;
  std::map<Name, std::set<Name>> jobs_by_image_;  ///< owners of users' jobs
};

/// Whether a pod is ready, as far as anybody can know: an act that goes on or is wanted leaves it
/// open, and one that is not made, is held by a gate or whose node is away is not.
Readiness readiness_of(const Fleet& fleet, const FleetPod& pod);

/// The owner of pods of others in a namespace: `Others/NAMESPACE/pods`.
Name owner_of_others(std::string_view space);
bool is_of_others(const Name& owner);
/// The name in the key of such a pod: `others|NAMESPACE/NAME`. A workload that wants a pod of this
/// name wants another one.
Name key_name_of_others(std::string_view space, std::string_view pod);

/// The name of the object that says what users did to a claim: `deleted` removes its data once
/// nobody wants it any more.
Name claim_mark(std::string_view space, std::string_view claim);
/// Whether an object is no manifest but says something about a pod or a claim that others made.
bool is_mark(const Name& owner);

}  // namespace fettle::workloads
