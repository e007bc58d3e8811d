#pragma once
/// A fleet that stands in a Kubernetes cluster: reflectors tell of workloads, revisions and pods,
/// and the records of these are rebuilt from their objects (`cluster/pods.h`).
///
/// * An object is read as soon as something of it has changed, unless somebody acts on it: then
///   what was written of it so far is no whole wish, and it is read when the act has ended.
/// * A record that says the same as its object stays. It may be the one of a run, which says as
///   what the thing was wanted.
/// * What others have changed or removed is due again, also where nobody wants anything new, and a
///   run that goes on is told (`Run::want`).
/// * Only what a workload manages that is there, is not being deleted and has the UID of the
///   reference is part of the fleet. Everything else is somebody else's, or the garbage
///   collector's.
/// * Pods of others are part of the fleet if a SidecarSet that is kept has put something into them
///   (`cluster/others.h`). They are looked at again when such a set, or its revisions, change.
/// * A revision that is known is not read again, for nobody else writes one while we have the
///   lease.
/// * SidecarSets belong to no namespace, and their revisions stand in that of OpenKruise's manager.
///   Namespaces are part of the fleet for the selectors of SidecarSets.
/// * A workload that finds orphans which it takes over becomes part of the fleet when it has them:
///   it would make others in their place.
/// * The scheduler chooses the node of a pod, and that is observed. Nodes are part of the fleet for
///   DaemonSets, which have a pod on each, and for jobs, which pull there (`cluster_pulls.h`).

#include "controller/adoptions.h"
#include "controller/cluster_access.h"
#include "controller/cluster_edit.h"
#include "controller/cluster_injection.h"
#include "controller/cluster_pulls.h"
#include "controller/cluster_statuses.h"
#include "controller/fleet_source.h"

namespace fettle {

class ClusterSource : public FleetSource {
 public:
  ClusterSource(const Workplace& place, ClusterAccess access, const Name& environment,
                workloads::Gates gates)
      : place_(place), access_(access), edit_(environment), gates_(gates) {}

  const Name& environment() const override { return edit_.environment(); }
  Result<std::unique_ptr<FleetView>> learn() override;
  /// Nobody is asked: the state of a pod stands in its object.
  PodsQuestion question_about_pods(const FleetView&) override { return {}; }
  bool tells_of_pods() const override { return true; }
  Status tell_seen(FleetView&, PodsSeen) override { return {}; }
  std::unique_ptr<FleetNews> news(FleetCache& cache, Edit& edit, Notifier& notifier) override;

  ClusterEdit& edit() { return edit_; }

 private:
  const Workplace& place_;
  const ClusterAccess access_;
  ClusterEdit edit_;
  const workloads::Gates gates_;
};

class ClusterNews : public FleetNews {
 public:
  ClusterNews(const Workplace& place, ClusterAccess access, ClusterEdit& edit, FleetCache& cache,
              Notifier& notifier);
  ~ClusterNews() override;

  void listen() override;
  Status learn() override;
  Result<News> hear() override;
  Instant due() const override;
  Result<bool> watch_nodes() override { return false; }
  Status forget_lost() override { return {}; }
  FailedActs* failed_acts() override { return &edit_.failed_acts(); }
  /// After a run: removes the revisions and jobs that nobody wants any more.
  Status clear_leftovers() override;
  Status clear_leftovers_again() override;
  Workplace place_of_acts() const override { return place_; }

 private:
  /// Objects that have to be read.
  struct Open {
    std::set<kubernetes::ObjectKey> workloads;
    std::set<kubernetes::ObjectName> spaces, nodes, revisions, claims, jobs, node_images, pods;
    bool is_any() const;
  };

  /// Acts in a row that ended well, after each of which the pod was read as before.
  struct VainActs {
    Attributes read;
    int count = 0;
    Instant last;
  };

  void gather();
  void gather_ended();
  bool take_opened();
  void forgive_if_gone(const kubernetes::ObjectKey& key);
  /// Whether users want something else.
  bool take_workload(const kubernetes::ObjectKey& key);
  void keep_policies(const Name& owner);
  void note_injection(const Name& owner);
  void open_pods_of_others(const Name& owner);
  void take_space(const kubernetes::ObjectName& name);
  void take_node(const kubernetes::ObjectName& name);
  Key revision_key(const kubernetes::ObjectName& name, const cluster::ObjectMeta& meta) const;
  void take_revision(const kubernetes::ObjectName& name);
  void take_claim(const kubernetes::ObjectName& name);
  void take_pod(const kubernetes::ObjectName& name);
  void take_pod_of_others(const kubernetes::ObjectName& name);
  bool put_pod(const cluster::ClusterPod& pod, const RecordPointer& record);
  void note_owners_of(const RecordPointer& pod);
  void note_sets_of(const RecordPointer& pod);
  bool take_job(const kubernetes::ObjectName& name);
  void remove_all_forgotten(Instant now);
  bool remove_forgotten(const Key& key);
  bool was_in_vain(const Key& key, const Record& known, const Record& rebuilt);
  void end_vain_acts(const Key& key, const Record& read);
  void take_marks(const cluster::ClusterPod& pod);
  bool takes_over_orphans(const workloads::Object& set, bool is_new);
  void take_over(const Value& orphan, bool is_pod);
  void leave(const Name& owner);
  void open_all_of(const Name& owner);
  void complain(const Name& owner, std::string why);
  void forget(const Key& key);

  const Workplace& place_;
  const ClusterAccess access_;
  ClusterEdit& edit_;
  FleetCache& cache_;
  Notifier& notifier_;
  ClusterStatuses statuses_;
  ClusterPulls pulls_;
  ClusterInjection injection_;
  Adoptions adoptions_;
  Open open_;
  std::map<Name, Name> looked_for_left_;  ///< owners with their UIDs, when they were met first
  std::map<Name, Digest> manifests_;      ///< from which each workload was last read
  std::map<Name, std::string> not_read_;  ///< workloads whose manifest is wrong, and why
  std::map<Key, VainActs> vain_acts_;
  std::map<Name, std::string>
      complaints_;  ///< the last one about each workload that cannot be read
};

}  // namespace fettle
