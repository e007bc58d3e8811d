#pragma once
/// Writes the status of workloads of a cluster. A rollout changes it with each pod, and nobody
/// needs every step; so it is computed a few times a second at most, and while it is being written,
/// only the last one waits.

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "kubernetes/object_cache.h"
#include "workloads/fleet.h"

namespace fettle {

class ClusterStatuses {
 public:
  ClusterStatuses(kubernetes::Client& client, kubernetes::ObjectCache& objects);

  /// Something may have changed about it. A job of a rollout is called as one of a user:
  /// `ImagePullJob/NAMESPACE/NAME`.
  void note(const Name& owner);
  /// Computes the statuses of owners that were noted, if it is time.
  void refresh(const workloads::Fleet& fleet, Time now);
  /// When it is time again. None: nobody was noted.
  std::optional<Instant> due() const;

 private:
  void write(const std::stop_token& stop);

  kubernetes::Client& client_;
  kubernetes::ObjectCache& objects_;
  std::set<Name> noted_;
  std::set<Name> waiting_for_time_;  ///< their statuses change without an event
  Instant refreshed_{};
  mutable std::mutex mutex_;
  std::condition_variable_any come_;
  std::map<kubernetes::ObjectKey, Value> waiting_;  ///< changes, by workload
  std::set<kubernetes::ObjectKey> refused_;
  std::map<std::string, std::set<Name>> dropped_;  ///< by kind: fields that its schema lacks
  std::jthread thread_;                            ///< ends before the other members go
};

}  // namespace fettle
