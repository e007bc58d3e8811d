#pragma once
/// When something that failed is tried again.
///
/// A fleet may never come to rest: an image cannot be pulled, or no node has room. To try again at
/// once, over and over, keeps engines busy in vain. To wait as long as the last failure lasted
/// leaves a fault unnoticed for minutes after it was repaired. So the pause doubles with each try
/// up to a limit, and it starts again with the shortest one when the caller learns of a change (a
/// node is back, users want something else). It knows no clock.

#include <algorithm>

#include "base/time.h"

namespace fettle {

class Backoff {
 public:
  static constexpr Duration shortest = 1s, longest = 5min;

  bool is_over(Instant now) const { return now >= until_; }
  Instant until() const { return until_; }
  /// Something is tried now. The pause before the next try is twice as long as the last one.
  void begin(Instant now) {
    pause_ = std::clamp<Duration>(2 * pause_, shortest, longest);
    until_ = now + pause_;
  }
  /// Makes the pause after the next try the shortest one.
  void reset() { pause_ = Duration(0); }
  /// Ends the pause now.
  void end(Instant now) { until_ = now; }

 private:
  Duration pause_{0};
  Instant until_;
};

}  // namespace fettle
