#pragma once
/// When an act is called again, and when it is given up.
///
/// The world is slow and fails for a while: a cluster is still being created, a port does not
/// answer yet, a registry refuses and accepts a minute later. A driver is called, looks, acts, and
/// returns; it never sleeps. So somebody has to decide after each call whether there is another
/// one, when, and when the last one was.
///
/// The obvious way, a loop of "try, sleep, try at most n times", is wrong four times over:
/// * Attempts are the wrong measure. Something that moves (3 of 9 nodes, 4 of 9 nodes) deserves to
///   be called for hours, something that comes to the same answer every time does not. A call
///   therefore says what it came to (`Again::progress`), and patience wears out by *calls alike*:
///   whatever moves begins to count anew, and begins its pauses anew.
/// * Calls alone are no measure of time, nor time of calls. A call that takes an hour would wear
///   out a limit of time at once, a pause of a millisecond a limit of calls. Patience ends when
///   both are reached.
/// * "Not ready" is no answer. `Pending` neither wears out patience nor gives any back: only a
///   deadline ends it.
/// * The process may be killed between two calls. What has been spent has to outlive it, as time
///   that somebody ran and not as moments of a clock that is gone (`Course`).
///
/// A `Retries` belongs to one act and is told of every call. It decides alone: it knows no graph,
/// no other act and no clock, so each of its answers is a row of a table test.
///
/// Invariants:
/// * The deadline comes before patience: what is out of time is never called again.
/// * No call is due later than the deadline, so that the end is told when it comes.
/// * An error whose outcome is unknown is never called again here: the next run looks first.
/// * The same calls at the same times give the same answers; `prng` is drawn from once for each
///   call that follows and whose pause nobody has named.

#include <optional>

#include "base/boxed.h"
#include "base/prng.h"
#include "core/driver.h"

namespace fettle {

/// Why nothing is waited for once the run has come to its own deadline.
inline constexpr std::string_view run_is_late = "gave up at the deadline of the run";

/// A call has ended.
struct CallEnd {
  Instant now{};
  bool is_look = false;      ///< it only compared
  bool is_stale = false;     ///< another one is wanted by now
  bool is_run_late = false;  ///< the run has come to its deadline
  bool was_stopped = false;  ///< the call took too long and was told to stop
};

/// What becomes of the act.
struct Verdict {
  enum class Next { settle, call_again, give_up };
  Next next = Next::settle;
  std::string over{};            ///< which limit has ended it, if one has
  bool is_over_time = false;     ///< that limit is a deadline, not patience
  std::optional<Again> again{};  ///< what it said of the next call, whether there is one or not
  bool is_news = false;          ///< it waits for something else than after the call before
  /// What it came to, and why nobody waits for more; there is an `again`.
  std::string text() const { return (next == Next::give_up ? over + ": " : "") + again->what; }
};

class Retries {
 public:
  /// Of an act that has not begun.
  Retries() = default;
  /// Of one that begins, for a resource as it is wanted now. What is removed has no deadline, and
  /// is removed as soon as a call succeeds.
  Retries(Boxed<Resource> resource, bool is_removal, Instant now)
      : resource_(std::move(resource)), is_removal_(is_removal), began_(now) {}
  /// Goes on where a former process was; `what`: it waited for. Whether it waits still.
  bool resume(const Course& course, std::string what, Instant now);

  void call(Instant now) { called_ = now; }
  /// When the call under way has to be told to stop.
  std::optional<Instant> limit() const;
  /// An error as the outcome that it is: one to be called again after, if the resource says so.
  Outcome outcome_of(Error error, const CallEnd& end) const;
  Verdict judge(const Outcome& outcome, const CallEnd& end, Prng& prng);

  /// What has to outlive the process, between two calls.
  Course course(Instant now) const;
  int calls() const { return course_.calls; }  ///< that have ended
  /// Calls that came to an answer, after the first of these.
  int answers_again() const { return std::max(0, course_.calls - waits_ - 1); }
  Instant due() const { return due_; }                    ///< the next call
  const std::string& what() const { return what_; }       ///< it waits for
  const Value& so_far() const { return course_.so_far; }  ///< to be given back with the next call

 private:
  std::string reason_of_time(const CallEnd& end) const;
  std::string reason_of_patience(const Digest& progress, Instant now);
  void schedule(const Again& again, Instant now, Prng& prng);
  std::optional<Duration> time_left(Instant now) const;

  Boxed<Resource> resource_;
  bool is_removal_ = false;
  Instant began_{};  ///< moved back by what former processes spent on it
  Instant called_{};
  Instant due_{};
  Instant alike_since_{};
  Course course_{};  ///< but for its times; `pause` is the whole last one
  int waits_ = 0;    ///< calls without an answer yet
  std::string what_;
};

}  // namespace fettle
