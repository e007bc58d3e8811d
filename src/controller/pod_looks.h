#pragma once
/// When pods are looked at. Engines tell of containers that start and end, but nobody tells when a
/// pod becomes ready: that is asked for, on a thread of its own, one question at a time.

#include "controller/async_question.h"
#include "controller/fleet_cache.h"
#include "controller/notifier.h"

namespace fettle {

class PodLooks {
 public:
  PodLooks(const Workplace& place, FleetCache& cache, Notifier& notifier);

  /// Asks and waits for the answer.
  Status look_now();
  /// They are looked at as soon as no look is under way.
  void want() { is_wanted_ = true; }
  /// Takes the answer of the last look, and begins another one if it is wanted, an engine told of a
  /// pod, or `is_time`, which is asked once the answer is known. Whether there was an answer.
  Result<bool> proceed(const std::function<bool()>& is_time);

  bool is_wanted() const { return is_wanted_; }
  bool is_under_way() const { return looks_.began().has_value(); }
  /// When the question was put that was answered last, on both clocks.
  Instant looked() const { return looked_; }
  Time looked_time() const { return looked_time_; }

 private:
  void listen();

  const Workplace& place_;
  FleetCache& cache_;
  Notifier& notifier_;
  bool is_wanted_ = false;
  Instant looked_;
  Time looked_time_, asked_time_;
  AsyncQuestion<PodsSeen> looks_;
};

}  // namespace fettle
