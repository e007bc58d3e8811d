#pragma once
/// Writes the status of workloads of a cluster. A rollout changes it with each pod, and nobody
/// needs every step; so it is computed a few times a second at most, and while it is being written,
/// only the last one waits. What a schema or a policy refuses waits longer each time.

#include <functional>
#include <map>
#include <mutex>

#include "base/condition.h"
#include "base/thread.h"
#include "cluster/secret_copies.h"
#include "controller/backoff.h"
#include "kubernetes/object_cache.h"
#include "workloads/fleet.h"

namespace fettle {

class ClusterStatuses {
 public:
  /// `refused` is called from another thread when one has to be written again. All must outlive it.
  /// `copies`: of which a job says why there is none; null: no Secrets are copied.
  ClusterStatuses(kubernetes::Client& client, kubernetes::ObjectCache& objects,
                  std::function<void()> refused, const cluster::SecretCopies* copies = nullptr);

  /// Something may have changed about it. A job of a rollout is called as one of a user:
  /// `ImagePullJob/NAMESPACE/NAME`.
  void note(const Name& owner);
  /// What statuses say beside what the fleet knows, by owner.
  struct Words {
    const std::map<Name, Value>& conditions;      ///< one more
    const std::map<Name, std::string>& not_read;  ///< why the manifest was not read as it stands
  };
  /// Computes the statuses of owners that were noted, if it is time.
  void refresh(const workloads::Fleet& fleet, Time now, const Words& words);
  /// When it is time again. None: nobody was noted.
  std::optional<Instant> due() const;
  /// The workload has changed, so a status that was refused may be written now; or it is gone.
  void forget_refusal(const Name& owner);
  /// Takes out what a server said about each status that it refused for the first time.
  std::vector<std::string> take_refusals();

 private:
  /// A status that was refused for another reason than that its object had changed.
  struct Refusal {
    Backoff backoff;
    bool is_open = false;  ///< it was not computed again since
  };
  void write(const std::stop_token& stop);
  void note_refusal(const kubernetes::ObjectKey& key, const kubernetes::ApiError& error);
  std::set<kubernetes::ObjectKey> note_what_is_open(Instant now);

  kubernetes::Client& client_;
  kubernetes::ObjectCache& objects_;
  const std::function<void()> on_refusal_;
  const cluster::SecretCopies* const copies_;
  std::set<Name> noted_;
  std::set<Name> waiting_for_time_;  ///< their statuses change without an event
  Instant refreshed_{};
  mutable std::mutex mutex_;
  Condition come_;
  std::map<kubernetes::ObjectKey, Value> waiting_;  ///< changes, by workload
  std::set<kubernetes::ObjectKey> outdated_;        ///< refused, because the object had changed
  std::map<kubernetes::ObjectKey, Refusal> refused_;
  std::vector<std::string> told_;
  std::map<std::string, std::set<Name>> dropped_;  ///< by kind: fields that its schema lacks
  Thread thread_;                                  ///< ends before the other members go
};

}  // namespace fettle
