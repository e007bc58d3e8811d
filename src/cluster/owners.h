#pragma once
/// The workloads of a cluster with their revisions, for those who need them to read or write a pod:
/// whoever rebuilds records, and the threads that act. A pod can only be read with the revision
/// that its label names, and must not be written before that is known.
///
/// Safe from many threads at once.

#include <map>
#include <memory>
#include <mutex>

#include "base/result.h"
#include "cluster/names.h"
#include "cluster/pods.h"
#include "cluster/sidecars.h"
#include "kubernetes/object_cache.h"

namespace fettle::cluster {

/// A workload as it was last read.
struct Owner {
  workloads::Object object;
  bool marks_not_ready = false;  ///< a hook of its may close `KruisePodReady`
  std::vector<ControllerRevision> revisions;
};

/// The version, such as `apps.kruise.io/v1alpha1`, in which the spec of a workload was written last:
/// a server that converts nothing shows an object under every version as it was written, and the
/// versions differ in names and defaults.
std::string version_of_spec(const Value& object, const kubernetes::ResourceType& type);

/// The manifest of a workload that is stored in the cluster, in whichever version it was written.
/// Errors (`Blame::user`): those of manifests, of which there are some if no webhook has checked it.
Result<workloads::Object> read_workload(const Value& object, const kubernetes::ResourceType& type);

/// Of all that `read_workload` takes from an object: as long as it stays, the manifest is the same.
/// Each pod of a rollout changes a status, and a manifest is long.
Digest digest_of_manifest(const Value& object, const kubernetes::ResourceType& type);

/// OpenKruise's webhook writes an `imagePullPolicy` into each container of a template or of a
/// SidecarSet, and a manifest that is applied without that webhook has none. To leave it out is no
/// wish for other pods: what is not said is as in the newest revision, unless the template is a
/// former one as it is.
workloads::Object with_known_policies(workloads::Object object,
                                      const std::vector<ControllerRevision>& revisions);

/// Of the object of a workload: `CloneSet/NAMESPACE/NAME`, `SidecarSet//NAME`.
Name owner_called(const kubernetes::ObjectKey& key);
/// The way back. Empty: it is no such name.
kubernetes::ObjectKey object_of_owner(const Name& owner);

class Owners {
 public:
  /// Null: there is no such workload.
  std::shared_ptr<const Owner> find(const Name& owner) const;
  /// OpenKruise's hashes for sidecars of a pod that are as their SidecarSets have them now.
  /// `objects`: has revisions that were written a moment ago as well. Null: they do not count.
  HashesBySidecarSet hashes_for(const Value& sidecars,
                                const kubernetes::ObjectCache* objects = nullptr) const;
  /// Whether that can be said: not before the revision of such a SidecarSet is written.
  bool may_have_hashes(const Value& sidecars, const kubernetes::ObjectCache& objects) const;
  /// Keeps the revisions that are known of it.
  void put(workloads::Object object);
  void drop(const Name& owner);
  void clear();
  /// Of an owner that is known.
  void put(ControllerRevision revision);
  void drop_revision(const Name& owner, const Name& name);

 private:
  mutable std::mutex mutex_;
  std::map<Name, std::shared_ptr<const Owner>> owners_;
};

}  // namespace fettle::cluster
