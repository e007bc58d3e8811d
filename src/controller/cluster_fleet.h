#pragma once
/// A fleet that stands in a cluster, as commands ask about it (`fleet_access.h`). Everything is read
/// when it is asked for, and with rights to read alone; only to try out manifests, it must be
/// allowed to write them, or else the server's defaults are not known.
///
/// Objects are as they stand there, with the status that their controller has written. A workload
/// that has no controller of ours, or whose controller has not seen its newest spec yet, has the
/// status that our controller would give it: it is decided by the same code.

#include "controller/cluster_history.h"
#include "controller/cluster_look.h"
#include "controller/fleet_access.h"

namespace fettle {

class ClusterFleet : public FleetAccess {
 public:
  /// `place` outlives it. `space`: the namespace that is meant; empty: all.
  ClusterFleet(const Workplace& place, const ClusterReach& reach, std::string space)
      : place_(place), look_(place, reach.client), space_(std::move(space)) {}

  const Workplace& place() const override { return place_; }
  const Name& environment() const override { return environment_; }
  /// Errors (`Blame::user`) beside those of lists: Secrets are not read.
  Result<std::vector<Value>> documents(const std::string& kind, const std::string& space) override;
  Result<Value> rollout_status(const Name& owner) override;
  Result<std::vector<workloads::Object>> with_status(const IsMeant& is_meant) override;
  Result<std::vector<std::string>> history(const Name& owner) override;
  /// Those that nodes were asked for. Error (`Blame::user`): all are asked for.
  Result<std::vector<ImageView>> images(bool all) override;
  Result<std::unique_ptr<FleetView>> view_of(const Name& owner) override;
  Result<Trial> try_out(std::vector<workloads::Object> objects) override;
  Result<std::vector<StoredObject>> change(const Name& owner, const ObjectChange& change) override;
  Result<std::vector<StoredObject>> return_to(const Name& owner, const Name& revision,
                                              const Value& pod_template) override;

  /// What was reported in the namespace, the oldest first.
  Result<std::vector<ClusterEvent>> events() const;

 private:
  std::set<std::string> spaces() const { return {space_}; }
  /// Whether all is read that its status says something about.
  bool is_known(const workloads::Object& object) const;
  /// Tells what is not known.
  void tell(const ClusterReading& reading) const;
  /// Those that it manages, as they were read.
  std::vector<Value> pods_of(const Name& owner) const;

  const Workplace& place_;
  const ClusterLook look_;
  const Name environment_ = "cluster";
  const std::string space_;
  std::unique_ptr<ClusterReading> reading_;  ///< of the last `with_status`
  std::map<Name, Value> statuses_;           ///< in it
};

}  // namespace fettle
