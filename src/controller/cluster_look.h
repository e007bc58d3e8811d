#pragma once
/// Reads of a cluster, for whoever asks about it once: lists and single objects, with the rights to
/// read alone. Nothing is followed, nothing is written, and no lease is asked for.
///
/// The fleet that is read is the one on which a controller would decide, since the same source
/// makes it of the same objects (`cluster_source.h`). Only who fills the cache differs: here it is
/// lists, there reflectors. Orphans that a workload takes over are its own here already.
///
/// Lists are made one after another, and the cluster goes on between them. Pods are listed first,
/// and then what they stand on: a pod without its revision would look as if it had to be recreated,
/// while a revision without its pods only has none.
///
/// *Rights.* What a workload stands on may be of no namespace, or stand in another one, and who may
/// read a namespace need not be able to read that. Then the fleet is one without it, as it is for a
/// controller that keeps this namespace alone: without SidecarSets pods keep what they have of them,
/// and without NodeImages nothing is pulled ahead. That is said, and nobody is refused for it, but
/// who asks about a SidecarSet or a job.

#include <set>

#include "cluster/owners.h"
#include "controller/fleet_view.h"
#include "kubernetes/object_cache.h"

namespace fettle {

/// A cluster that a command reaches.
struct ClusterReach {
  kubernetes::Client& client;  ///< outlives the command
  std::string space{};         ///< the namespace that the context of a kubeconfig names
};

/// The fleet of some namespaces, and the objects of which it was made.
struct ClusterReading {
  ClusterReading();
  kubernetes::ObjectCache objects;
  cluster::Owners owners;
  std::unique_ptr<FleetView> view;
  std::vector<std::string> warnings;  ///< what is not known of the fleet, and why

  /// The object of a workload such as `CloneSet/NAMESPACE/NAME`, as it stands in the cluster. Null:
  /// there is none.
  Value workload(const Name& owner) const;
};

/// What is to be read.
struct ReadingScope {
  std::set<std::string> spaces{};  ///< with an empty one: all
  /// The kinds of workloads that are asked about: what they stand on has to be known.
  std::set<std::string> kinds{};
};

class ClusterLook {
 public:
  /// Both outlive it.
  ClusterLook(const Workplace& place, kubernetes::Client& client)
      : place_(place), client_(client) {}

  /// `space`: empty: of all namespaces. Errors: we may not (and who may change that), or the
  /// cluster does not serve the type.
  Result<std::vector<Value>> list(const kubernetes::ResourceType& type, const std::string& space,
                                  const std::string& fields = {}) const;
  /// The same, with the server's own error.
  kubernetes::ApiResult<std::vector<Value>> ask(const kubernetes::ResourceType& type,
                                                const std::string& space,
                                                const std::string& fields = {}) const;
  /// Error (`Blame::user`): there is none.
  Result<Value> get(const kubernetes::ResourceType& type, const kubernetes::ObjectName& name) const;
  /// A SidecarSet is asked about in all namespaces.
  Result<std::unique_ptr<ClusterReading>> read(ReadingScope scope) const;

  kubernetes::Client& client() const { return client_; }
  std::stop_token stop() const { return place_.interrupt->acts_token(); }

 private:
  const Workplace& place_;
  kubernetes::Client& client_;
};

/// The type of a workload that is kept in a cluster. Error (`Blame::user`): it is none.
Result<kubernetes::ResourceType> kept_type(std::string_view kind);
/// Whether the rights to write are missing. Admission refuses with the same reason, and that is an
/// answer.
bool is_right_missing(const kubernetes::ApiError& error);
/// The error of a write that was not taken. What the server would refuse again is wrong input.
Error refused_write(const kubernetes::ApiError& error, std::string doing);

}  // namespace fettle
