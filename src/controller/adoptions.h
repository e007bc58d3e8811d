#pragma once
/// Lets workloads of a cluster take over orphans (`cluster/orphans.h`).
///
/// It is one write for each of them, and a DaemonSet may have thousands, so they are made on a
/// thread of their own. Before the first one the workload is read from the server, since the
/// cache may show one that is already being deleted; then nothing is taken over. Revisions come
/// first: a pod is read with the one that it names. What somebody manages, as far as the cache
/// knows, is read as well, and taken over if nobody does.

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>

#include "base/condition.h"
#include "base/thread.h"
#include "cluster/orphans.h"
#include "controller/backoff.h"
#include "kubernetes/object_cache.h"

namespace fettle {

class Adoptions {
 public:
  /// `ended` is called from another thread. All must outlive it.
  Adoptions(kubernetes::Client& client, kubernetes::ObjectCache& objects,
            std::function<void()> ended);

  /// Begins, unless it is under way for this owner or has ended a moment ago: a webhook may undo
  /// it. `take_ended` says when it is to be tried again if there are still some.
  void begin(const workloads::Object& owner, cluster::Orphans orphans);
  /// Takes out the owners of what has ended, and of what is to be tried again by now.
  std::set<Name> take_ended(Instant now);
  /// When there is something to be taken out without a call of `ended`.
  std::optional<Instant> due() const;
  /// Takes out what servers said about refusals.
  std::vector<std::string> take_refusals();
  /// There is nothing to be taken over.
  void forget(const Name& owner);

 private:
  struct Adoption {
    workloads::Object owner;
    cluster::Orphans orphans;
  };
  struct State {
    Backoff backoff;
    bool is_under_way = false;
    bool waits = false;  ///< for its next try
  };
  void work(const std::stop_token& stop);
  kubernetes::ApiResult<void> carry_out(const Adoption& adoption, const std::stop_token& stop);
  /// An object as the server has it now. Null: there is none.
  kubernetes::ApiResult<Value> present(const kubernetes::ResourceType& type, const Name& space,
                                       const Name& name, const std::stop_token& stop);
  kubernetes::ApiResult<void> take_over(const kubernetes::ResourceType& type, const Value& object,
                                        const workloads::Object& owner,
                                        const std::stop_token& stop);

  kubernetes::Client& client_;
  kubernetes::ObjectCache& objects_;
  const std::function<void()> told_;
  mutable std::mutex mutex_;
  Condition come_;
  std::deque<Adoption> waiting_;
  std::map<Name, State> states_;
  std::set<Name> ended_;
  std::vector<std::string> refusals_;
  Thread thread_;  ///< ends before the other members go
};

}  // namespace fettle
