#pragma once
/// Drivers that ship know nothing of waits of users. Around them, this says when a call comes again
/// that failed or is not ready: as the wait of its state says.

#include <map>
#include <memory>
#include <mutex>

#include "core/driver.h"
#include "states/compiled.h"

namespace fettle {

/// The pause before another call, by a wait of users; `calls`: 0 before the second one.
using OwnWait = std::function<Result<Duration>(const Value& wait, int calls, std::stop_token stop)>;

class PacedDrivers {
 public:
  explicit PacedDrivers(OwnWait own_wait) : own_wait_(std::move(own_wait)) {}

  /// Says that a resource has a wait of its own: one of users, or null when its pace is the wait.
  /// From any thread.
  void put(const Key& key, Value own_wait);
  /// The driver, or one around it where some resource has a wait of its own. Lives as long as this.
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
