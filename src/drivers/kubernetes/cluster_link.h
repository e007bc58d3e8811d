#pragma once
/// A cluster as a controller holds it: a client, what reflectors tell of the types that are kept,
/// the driver, and the lease that says whether anything may be written.
///
/// Who asks for no lease may always write. Who asks for one may only write while it is held for the
/// first time: an act that was decided in one term and waits for its turn must not be sent in the
/// next one, when another controller has acted in between. What is to be told of the end is told
/// once. Objects are followed from the beginning, so that a new leader knows them when it becomes
/// one.

#include <atomic>
#include <list>
#include <optional>

#include "base/condition.h"
#include "base/thread.h"
#include "cluster/kept_parts.h"
#include "drivers/kubernetes/kubernetes_driver.h"
#include "kubernetes/lease.h"

namespace fettle {

namespace kubernetes {
class Discovery;
}

struct ClusterSettings {
  kubernetes::ClientSettings client{};
  std::string space{};  ///< whose objects are kept; empty: all
  workloads::Gates gates{};
  bool copies_secrets = false;  ///< OpenKruise's daemon pulls, which reads copies alone
  std::optional<kubernetes::LeaseSettings> lease{};
  std::function<void()> lease_lost{};  ///< called from a thread of its own; may be empty
};

class ClusterLink {
 public:
  ClusterLink(std::unique_ptr<kubernetes::Transport> transport, ClusterSettings settings,
              std::function<Time()> clock, uint64_t seed);
  ~ClusterLink();
  ClusterLink(const ClusterLink&) = delete;
  ClusterLink& operator=(const ClusterLink&) = delete;

  /// Whether the cluster answers and has our types. Where those for pulling ahead are missing, or
  /// policies for pods of others, it does without. Errors (`Blame::user`): definitions of others are missing.
  Status check(const std::stop_token& stop);
  /// Which of OpenKruise's other types have objects here, which nobody keeps while this one does.
  Result<std::vector<std::string>> unkept(const std::stop_token& stop);
  /// Follows the objects, and stands for election if there is a lease.
  void begin();
  /// Waits until the lease is ours. Error: a stop was asked for.
  Status await_lease(const std::stop_token& stop);

  /// Whether this one may write; without a lease, from the beginning on. From any thread.
  bool is_leader() const;
  /// Why this one does not do its work, which is to act or to be ready to take over; empty: it does.
  /// From any thread.
  std::string unready_reason() const;

  kubernetes::Client& client() { return client_; }
  kubernetes::ObjectCache& objects() { return objects_; }
  cluster::Owners& owners() { return owners_; }
  cluster::SecretCopies& copies() { return copies_; }
  KubernetesDriver& driver() { return driver_; }
  /// Of policies for pods of others, once it was checked; empty: there are none.
  const std::string& policy_version() const { return policy_version_; }

 private:
  kubernetes::ClientSettings with_permit(kubernetes::ClientSettings settings);
  void lead(bool is_leader);
  Status find_policies(const kubernetes::Discovery& found, const std::stop_token& stop);

  const ClusterSettings settings_;
  std::atomic<bool> has_begun_ = false;
  uint64_t seed_;
  std::unique_ptr<kubernetes::Candidate> candidate_;  ///< null: no lease is asked for
  kubernetes::Client client_;
  std::vector<kubernetes::ResourceType> types_;  ///< that are followed
  std::string policy_version_;
  cluster::KeptParts kept_;  ///< used while the cache is locked
  kubernetes::ObjectCache objects_;
  cluster::Owners owners_;
  cluster::SecretCopies copies_;
  KubernetesDriver driver_;
  std::list<kubernetes::Reflector> reflectors_;
  mutable std::mutex mutex_;
  Condition elected_;
  bool is_leader_ = false;
  std::atomic<bool> has_led_ = false;  ///< and does no more
  std::vector<Thread> threads_;
};

}  // namespace fettle
