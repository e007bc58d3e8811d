#pragma once
/// The drivers that ship with fettle know nothing of users' waits. This class wraps them, and
/// decides by the wait of a state when a call that failed or is not ready comes again.

#include <map>
#include <memory>
#include <mutex>

#include "core/driver.h"
#include "states/compiled_states.h"

namespace fettle {

/// The pause before another call, by a user's wait; `calls`: 0 before the second call.
using OwnWait = std::function<Result<Duration>(const Value& wait, int calls, std::stop_token stop)>;

class PacedDrivers {
 public:
  explicit PacedDrivers(OwnWait own_wait) : own_wait_(std::move(own_wait)) {}

  /// Notes that a resource has a wait of its own: a user's, or null if its pace is the wait. From
  /// any thread.
  void put(const Key& key, Value own_wait);
  /// The driver, or a wrapper around it if some resource has a wait of its own. It lives as long as
  /// this object.
  Driver* around(const Name& name, Driver* driver);

 private:
  class Paced;
  std::optional<Value> wait_of(const Key& key) const;

  OwnWait own_wait_;
  mutable std::mutex mutex_;
  std::map<Key, Value> waits_;
  std::map<Name, std::shared_ptr<Driver>> drivers_;
};

}  // namespace fettle
