#pragma once
/// Decides when to look at pods. Engines report containers that start and end, but nobody reports
/// when a pod becomes ready. So that is asked, on a thread of its own, one question at a time.

#include "controller/async_question.h"
#include "controller/fleet_cache.h"
#include "controller/notifier.h"

namespace fettle {

class PodLooks {
 public:
  PodLooks(const Workplace& place, FleetSource& source, FleetCache& cache, Notifier& notifier);

  /// Asks and waits for the answer.
  Status look_now();
  /// Asks for a look as soon as none is under way.
  void want() { is_wanted_ = true; }
  /// Takes the answer of the last look. Begins another one if it is wanted, if an engine reported a
  /// pod, or if `is_time`, which is asked once the answer is known. Returns whether there was an
  /// answer, or nobody had to be asked.
  Result<bool> proceed(const std::function<bool()>& is_time);

  bool is_wanted() const { return is_wanted_; }
  bool is_under_way() const { return looks_.began().has_value(); }
  /// When the last answered question was put, on both clocks.
  Instant looked() const { return looked_; }
  Time looked_time() const { return looked_time_; }

 private:
  void listen();

  const Workplace& place_;
  FleetSource& source_;
  FleetCache& cache_;
  Notifier& notifier_;
  bool is_wanted_ = false;
  Instant looked_;
  Time looked_time_, asked_time_;
  AsyncQuestion<PodsSeen> looks_;
};

}  // namespace fettle
