#pragma once
/// The part of a fleet in a cluster that is about pulling ahead: jobs, and orders in NodeImages.
///
/// * A job that belongs to a workload is remembered by it; any other one is a workload of its user,
///   and remembers itself.
/// * An order is known for as long as its job goes on. What its node tells of it is observed.
/// * What others have removed is due again, as with pods. An order that nobody asks for any more is
///   forgotten, and stays where it is for now.
/// * Nobody reads a thing while somebody acts on it; it is read when the act has ended.

#include "cluster/node_images.h"
#include "cluster/pull_jobs.h"
#include "controller/cluster_access.h"
#include "controller/cluster_edit.h"
#include "controller/cluster_statuses.h"
#include "controller/cluster_upkeep.h"
#include "controller/fleet_cache.h"

namespace fettle {

/// Whether a job belongs to a workload of the fleet, as that is stored now.
bool is_of_rollout(const workloads::Fleet& fleet, const cluster::ObjectMeta& meta);
Key key_of_job(const Name& environment, const kubernetes::ObjectName& name);
/// A job as the workload of its user: `ImagePullJob/NAMESPACE/NAME`.
Name user_of_job(const kubernetes::ObjectName& name);
/// The records of all jobs whose workloads the fleet has.
std::vector<RecordPointer> records_of_jobs(const kubernetes::ObjectCache& objects,
                                           const workloads::Fleet& fleet);

/// Passes to a fleet that knows its jobs what stands in NodeImages: what was ordered, what has come
/// of it, and which images are there.
void tell_node_images(const kubernetes::ObjectCache& objects, FleetView& view);

class ClusterPulls {
 public:
  /// All outlive it.
  ClusterPulls(const ClusterAccess& access, ClusterEdit& edit, FleetCache& cache,
               ClusterStatuses& statuses);

  /// After the cache has learned everything.
  void learn();
  /// Something about a node has changed. What a kubelet tells all the time concerns no NodeImage.
  void note_node(const std::string& name);
  /// An act on an image has ended. Returns the NodeImage that has to be read.
  kubernetes::ObjectName note_end(const Key& image);
  /// A job has changed. If its user's workload has, the fleet knows it.
  void take_job(const kubernetes::ObjectName& name);
  void take_node_image(const kubernetes::ObjectName& name);
  /// Writes what is due, if it is time.
  void refresh(Time now);
  std::optional<Instant> due() const { return upkeep_.due(); }

 private:
  /// What was read of a NodeImage.
  struct NodeOrders {
    std::set<Key> keys;
    std::set<Name> present;  ///< references
    std::set<kubernetes::ObjectName> jobs;
  };

  void take_order(const Key& key, const cluster::KnownOrder& order);
  void take_present(const Name& node, const std::set<Name>& before, const std::set<Name>& present);
  bool is_acted_on(const Key& key) const;
  void note_jobs(const Name& node, const std::set<kubernetes::ObjectName>& before,
                 const std::set<kubernetes::ObjectName>& now);
  void forget_order(const Key& key, const Value& node_image);

  const ClusterAccess access_;
  ClusterEdit& edit_;
  FleetCache& cache_;
  ClusterStatuses& statuses_;
  std::map<Name, NodeOrders> orders_;                               ///< by node
  std::map<kubernetes::ObjectName, std::set<Name>> nodes_of_jobs_;  ///< that have orders of them
  std::map<std::string, Digest> nodes_;          ///< what a NodeImage follows of each node
  std::map<kubernetes::ObjectName, Name> jobs_;  ///< the UIDs of those of the fleet
  ClusterUpkeep upkeep_;
};

}  // namespace fettle
