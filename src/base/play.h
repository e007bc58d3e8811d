#pragma once
/// A process that is played: a simulator has its clocks, and says which of its threads runs.
///
/// A simulator that only passes the time to what decides leaves out the code around it: the threads
/// that write, follow and renew, and the order in which they meet. That is where a controller that
/// is stopped, paused or cut off goes wrong, and real threads never go wrong twice in the same way.
/// So whoever waits here asks the play of its thread, if there is one, and else the system: the
/// clocks of `base/time.h`, `pause_for`, `Condition` and `Thread`. Outside of a simulator no thread
/// has a play.
///
/// A play lets one of its threads run at a time and changes over only where one waits, so a seed
/// repeats whatever they do. A thread holds no lock while it waits, but the one that it waits with.

#include <cstdint>
#include <optional>

#include "base/time.h"

namespace fettle {

class Play {
 public:
  virtual ~Play() = default;
  /// That of this thread. Null: it has none.
  static Play* current() { return current_; }

  virtual Moment now() = 0;
  /// Lets others run until somebody wakes those who wait at this place, or until an instant. May
  /// return before.
  virtual void wait(const void* place, std::optional<Instant> until) = 0;
  virtual void wake(const void* place) = 0;

  /// A thread of the play is about to be begun. Returns its number.
  virtual uint64_t add_thread() = 0;
  /// What that thread does first, and last.
  virtual void begin_thread(uint64_t number) = 0;
  virtual void end_thread(uint64_t number) = 0;
  virtual void await_end(uint64_t number) = 0;

 protected:
  /// Null: this thread leaves its play.
  static void enter(Play* play) { current_ = play; }

 private:
  static inline constinit thread_local Play* current_ = nullptr;
};

}  // namespace fettle
