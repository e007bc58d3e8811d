#pragma once
/// Writes what is told about workloads as Events, where `kubectl describe` shows it.
///
/// Nothing waits for an Event: a thread of its own writes them, after everything else that is to be
/// written. What could drown the others is left out: an object has 25 Events at once and one more
/// every five minutes, as in client-go, and no more than 1,000 wait, of which the oldest go.

#include <deque>
#include <map>
#include <mutex>

#include "base/condition.h"
#include "base/thread.h"
#include "kinds/notice.h"
#include "kubernetes/client.h"
#include "workloads/workload.h"

namespace fettle {

/// The Event object about a workload that is stored in a cluster. `number` makes its name unlike
/// those of others at the same time.
Value event_object(const ObjectNotice& notice, const workloads::Object& about, Time now,
                   uint64_t number);

/// Which objects may be told of again.
class EventLimit {
 public:
  bool take(const Name& uid, Time now);

 private:
  struct Allowance {
    double left;
    Time at;
  };
  std::map<Name, Allowance> by_object_;
};

class EventWriter {
 public:
  /// `client` outlives it.
  explicit EventWriter(kubernetes::Client& client);

  void tell(const ObjectNotice& notice, const workloads::Object& about, Time now);

 private:
  void write(const std::stop_token& stop);

  kubernetes::Client& client_;
  std::mutex mutex_;
  Condition come_;
  std::deque<Value> waiting_;
  EventLimit limit_;
  uint64_t number_ = 0;
  Thread thread_;  ///< ends before the other members go
};

}  // namespace fettle
