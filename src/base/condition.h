#pragma once
/// A condition variable whose waits can be played (`base/play.h`).

#include <condition_variable>
#include <mutex>
#include <stop_token>

#include "base/play.h"

namespace fettle {

class Condition {
 public:
  using Lock = std::unique_lock<std::mutex>;

  void notify_one() { notify(false); }
  void notify_all() { notify(true); }

  template <typename Holds>
  void wait(Lock& lock, Holds holds) {
    if (Play* const play = Play::current())
      played(*play, lock, {}, {}, holds);
    else
      condition_.wait(lock, holds);
  }
  /// False: a stop was asked for.
  template <typename Holds>
  bool wait(Lock& lock, const std::stop_token& stop, Holds holds) {
    if (Play* const play = Play::current())
      return played(*play, lock, stop, {}, holds);
    return condition_.wait(lock, stop, holds);
  }
  /// False: the time is over.
  template <typename Holds>
  bool wait_until(Lock& lock, Instant until, Holds holds) {
    if (Play* const play = Play::current())
      return played(*play, lock, {}, until, holds);
    return condition_.wait_until(lock, until, holds);
  }
  /// False: a stop was asked for, or the time is over.
  template <typename Holds>
  bool wait_until(Lock& lock, const std::stop_token& stop, Instant until, Holds holds) {
    if (Play* const play = Play::current())
      return played(*play, lock, stop, until, holds);
    return condition_.wait_until(lock, stop, until, holds);
  }
  template <typename Holds>
  bool wait_for(Lock& lock, Duration limit, Holds holds) {
    return wait_until(lock, instant_from_clock() + limit, holds);
  }

 private:
  void notify(bool all) {
    if (Play* const play = Play::current())
      play->wake(this);
    else if (all)
      condition_.notify_all();
    else
      condition_.notify_one();
  }

  template <typename Holds>
  bool played(Play& play, Lock& lock, const std::stop_token& stop, std::optional<Instant> until,
              Holds& holds) {
    const std::stop_callback woken(stop, [&] { play.wake(this); });
    for (bool has_waited = false; !holds(); has_waited = true) {
      // Whoever looks again and again gives others their turn, and time goes on.
      const bool is_over = stop.stop_requested() || (until && play.now().instant >= *until);
      if (is_over && has_waited)
        return false;
      lock.unlock();
      play.wait(this, is_over ? play.now().instant : until);
      lock.lock();
    }
    return true;
  }

  std::condition_variable_any condition_;
};

}  // namespace fettle
