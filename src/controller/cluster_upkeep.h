#pragma once
/// Keeps the NodeImages of a cluster as they should be beside what is ordered in them, and ends jobs
/// whose time is over.
///
/// A NodeImage is a mailbox, and no decision is about it: it comes and goes with its node, and old
/// orders are cleared (`cluster/node_images.h`). What is due is found on the thread that keeps the
/// fleet, from what is there, so that nothing has to be remembered; another thread writes it, when
/// nothing more urgent is to be written. Copies of Secrets that no job names go as well
/// (`cluster/secret_copies.h`); those of before this process are known by the NodeImages that name
/// them. Where NodeImages are not followed, nothing is ever due.

#include <map>
#include <mutex>

#include "base/condition.h"
#include "base/thread.h"
#include "cluster/node_images.h"
#include "cluster/secret_copies.h"
#include "kubernetes/object_cache.h"

namespace fettle {

class ClusterUpkeep {
 public:
  /// `copies`: null: no Secrets are copied. All outlive it.
  ClusterUpkeep(kubernetes::Client& client, kubernetes::ObjectCache& objects,
                cluster::SecretCopies* copies = nullptr);

  /// Something may have changed about a node or its NodeImage.
  void note(const std::string& node);
  /// Its time to live is over. Another one of its name has nothing to do with it.
  void remove_job(const kubernetes::ObjectKey& job, const Name& uid);
  /// It is being deleted, and waits for OpenKruise's manager.
  void release_job(const kubernetes::ObjectName& job);

  /// Finds out what is due, if it is time.
  void refresh(const cluster::FindJob& find, Time now);
  /// When it is time again. None: nothing was noted.
  std::optional<Instant> due() const;

 private:
  /// Something to be written about an object.
  struct Task {
    cluster::Upkeep::Write write = cluster::Upkeep::Write::none;
    Value body{};
    Name uid{};
  };
  /// A job whose time is over.
  struct ExpiredJob {
    Name uid;
    Instant next{};  ///< when to try again
  };

  void look_at(const std::string& node, const cluster::FindJob& find, Time now, Instant moment);
  void look_at_expired(Instant moment);
  void look_at_copies(Instant moment);
  void remove_copy(const kubernetes::ObjectName& copy, const std::stop_token& stop);
  bool is_needed(const std::string& copy) const;
  void give(const kubernetes::ObjectKey& key, Task task);
  void write(const std::stop_token& stop);
  kubernetes::ApiResult<Value> carry_out(const kubernetes::ObjectKey& key, const Task& task,
                                         const std::stop_token& stop);

  kubernetes::Client& client_;
  kubernetes::ObjectCache& objects_;
  cluster::SecretCopies* const copies_;
  std::map<std::string, Instant> copies_left_;  ///< when to try next to remove one, by name
  std::set<std::string> copies_seen_;           ///< in NodeImages, since the last look
  std::set<std::string> noted_;
  std::map<std::string, Instant> waits_;  ///< nodes about which something is due by time alone
  std::map<kubernetes::ObjectKey, ExpiredJob> expired_;
  Instant refreshed_{};
  std::mutex mutex_;
  Condition come_;
  std::map<kubernetes::ObjectKey, Task> tasks_;
  std::set<std::string> copies_gone_;  ///< removed, and named by no job since
  Thread thread_;                      ///< ends before the other members go
};

}  // namespace fettle
