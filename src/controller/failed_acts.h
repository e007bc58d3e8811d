#pragma once
/// When an act that failed, or was left for later, is tried again.
///
/// The obvious way is to try all that has failed together with whatever is due next. In a cluster
/// something is always due, and then a namespace that is over its quota takes as many requests as
/// the rollouts of all others. So each thing has a pause of its own, which doubles with each try.
/// It ends when the thing has changed in the cluster, since that may be what it waited for, and
/// counts for the wish that failed alone. A thing that waits for another one of its name to go
/// counts whatever is wanted of it.
///
/// It knows no clock. Used by one thread.

#include <map>
#include <set>

#include "controller/backoff.h"
#include "core/record.h"

namespace fettle {

class FailedActs {
 public:
  struct Retry {
    Key key;
    std::set<Name> owners;
  };

  /// `record`: as the act has left it. `is_any`: whatever is wanted of it has to wait.
  void fail(const Key& key, const Record& record, bool is_any, Instant now);
  /// It is as it is wanted, or nobody wants it any more.
  void forget(const Key& key) { acts_.erase(key); }
  /// It has changed: it is tried again now, and the pause after that is the shortest.
  void forgive(const Key& key, Instant now);
  void forgive_all_of(const Name& owner, Instant now);

  /// Whether it is not to be tried yet. `wish`: what is wanted of it now (`wish_of`).
  bool is_held(const Key& key, const Digest& wish, Instant now) const;
  /// Whether a thing that is wanted no more is not to be removed yet, which failed before.
  bool is_held(const Key& key, Instant now) const;
  /// Takes out what is to be tried again by now.
  std::vector<Retry> take_due(Instant now);
  /// When there is something to be taken out.
  std::optional<Instant> due() const;
  size_t size() const { return acts_.size(); }

 private:
  struct FailedAct {
    Digest wish;
    std::set<Name> owners;
    Backoff backoff;
    bool is_any = false, is_removal = false;
    bool is_taken = false;
  };
  static void forgive(FailedAct& act, Instant now);

  std::map<Key, FailedAct> acts_;
};

}  // namespace fettle
