#pragma once
/// When something that did not come about is tried again.
///
/// A fleet may never come to rest: an image cannot be pulled, no node has room. To try at once, over
/// and over, keeps engines busy with what cannot be; to wait as long as the last failure lasted
/// leaves what was mended waiting for minutes. So the pause doubles with each try up to a limit, and
/// whoever learns that something is another one now (a node is back, users want something else)
/// begins anew. Knows no clock.

#include <algorithm>

#include "base/time.h"

namespace fettle {

class Backoff {
 public:
  static constexpr Duration shortest = 1s, longest = 5min;

  bool is_over(Instant now) const { return now >= until_; }
  Instant until() const { return until_; }
  /// It is tried now; the next time after a pause that is twice as long as the last one.
  void begin(Instant now) {
    pause_ = std::clamp<Duration>(2 * pause_, shortest, longest);
    until_ = now + pause_;
  }
  /// The pause after the next try is the shortest one.
  void reset() { pause_ = Duration(0); }
  /// The pause is over already.
  void end(Instant now) { until_ = now; }

 private:
  Duration pause_{0};
  Instant until_;
};

}  // namespace fettle
