#pragma once
/// Keeps the policies by which a server puts sidecars into pods of others, one for each SidecarSet
/// (`cluster/admission_policy.h`).
///
/// No decision is about them: they follow from the set and its revisions. What is due is found on
/// the thread that keeps the fleet; another thread writes it, when nothing more urgent is to be
/// written. What a server refuses waits longer each time, and is said in the status of the set.
///
/// * What a server stores otherwise than it was written counts as kept, until somebody changes it.
/// * An object of this name that others have made is left alone.

#include <functional>
#include <map>
#include <mutex>

#include "base/condition.h"
#include "base/thread.h"
#include "cluster/admission_policy.h"
#include "controller/backoff.h"
#include "controller/cluster_access.h"

namespace fettle {

class ClusterInjection {
 public:
  /// `ended` is called from another thread when something can be found out. All must outlive it.
  ClusterInjection(const ClusterAccess& access, std::function<void()> ended);

  /// A set, or its revisions, may have changed. What was refused is tried again.
  void note(const Name& set);
  /// A policy or a binding has changed.
  void note_policy(std::string_view name);
  /// After a fleet was learned.
  void note_all(const workloads::Fleet& fleet);

  /// Finds out what is due, if it is time. Returns the owners whose conditions are others now.
  std::set<Name> refresh(const workloads::Fleet& fleet, Time now);
  /// When it is time again. None: nothing was noted.
  std::optional<Instant> due() const;
  /// Of statuses, by owner: whether pods of others get the sidecars, and why not.
  const std::map<Name, Value>& conditions() const { return conditions_; }

 private:
  using ObjectKey = kubernetes::ObjectKey;
  enum class Write { none, create, replace, remove };
  struct Task {
    Write write = Write::none;
    Value object{};
    Name uid{};
  };
  /// What a server has made of what was written.
  struct KeptObject {
    Digest wanted;
    Name uid;
    int64_t generation = 0;
    bool operator==(const KeptObject&) const = default;
  };
  struct Refusal {
    Backoff backoff;
    std::string message;  ///< empty: only the moment was bad
  };
  struct Finding;

  Finding find(const workloads::Fleet& fleet, const Name& owner, Time now) const;
  void look_at(const workloads::Fleet& fleet, const Name& set, Time now, Instant moment);
  /// What is to be done about one of the two objects of a set.
  Task task_for(const ObjectKey& key, const Value& stored, const Value& wanted, const Name& set_uid,
                Finding& finding);
  bool is_kept(const ObjectKey& key, const Value& stored, const Value& wanted);
  void put_condition(const Name& owner, const Finding& finding);
  const kubernetes::ResourceType& type_of(const ObjectKey& key) const;
  void write(const std::stop_token& stop);
  kubernetes::ApiResult<Value> carry_out(const ObjectKey& key, const Task& task,
                                         const std::stop_token& stop);
  void note_end(const ObjectKey& key, const Task& task, const kubernetes::ApiResult<Value>& answer);

  const ClusterAccess access_;
  const kubernetes::ResourceType policies_, bindings_;
  const std::function<void()> told_;
  std::set<Name> noted_;  ///< names of sets
  std::map<Name, Value> conditions_;
  std::set<Name> changed_;  ///< owners
  Instant refreshed_{};
  mutable std::mutex mutex_;
  Condition come_;
  std::map<ObjectKey, Task> tasks_;
  std::set<ObjectKey> under_way_;
  std::set<Name> ended_;  ///< names of sets about which something was written, or refused
  std::map<ObjectKey, KeptObject> kept_;
  std::map<ObjectKey, Refusal> refused_;
  Thread thread_;  ///< ends before the other members go
};

}  // namespace fettle
