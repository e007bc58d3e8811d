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
///   be called for hours. Something that gives the same answer every time does not. A call
///   therefore says what it came to (`Again::progress`), and patience is used up by *calls alike*:
///   whatever moves on starts its count and its pauses again.
/// * Neither calls nor time is enough alone. One call of an hour would use up a limit of time at
///   once, and pauses of a millisecond would soon use up a limit of calls. Patience ends when both
///   are reached.
/// * "Not ready" is no answer. `Pending` neither uses up patience nor restores any: only a deadline
///   ends it.
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

/// The reason why nothing is waited for once the run has reached its own deadline.
inline constexpr std::string_view run_is_late = "gave up at the deadline of the run";

/// How a call has ended.
struct CallEnd {
  Instant now{};
  bool is_look = false;      ///< it only compared
  bool is_stale = false;     ///< something else is wanted by now
  bool is_run_late = false;  ///< the run has reached its deadline
  bool was_stopped = false;  ///< the call took too long and was told to stop
};

/// What becomes of the act.
struct Verdict {
  enum class Next { settle, call_again, give_up };
  Next next = Next::settle;
  std::string over{};            ///< the limit that has ended it, if one has
  bool is_over_time = false;     ///< that limit is a deadline, not patience
  std::optional<Again> again{};  ///< what it said about the next call, whether there is one or not
  bool is_news = false;          ///< it waits for something else than after the call before
  /// The last result, and why nobody waits for more. Only if there is an `again`.
  std::string text() const { return (next == Next::give_up ? over + ": " : "") + again->what; }
};

class Retries {
 public:
  /// For an act that has not begun.
  Retries() = default;
  /// For an act that begins, of a resource as it is wanted now. A removal has no deadline, and ends
  /// with the first call that succeeds.
  Retries(Boxed<Resource> resource, bool is_removal, Instant now)
      : resource_(std::move(resource)), is_removal_(is_removal), began_(now) {}
  /// Goes on where a former process was; `what` it waited for. Returns whether it still waits.
  bool resume(const Course& course, std::string what, Instant now);

  void call(Instant now) { called_ = now; }
  /// When the call under way has to be told to stop.
  std::optional<Instant> limit() const;
  /// Turns an error into an outcome: one to be called again after, if the resource says so.
  Outcome outcome_of(Error error, const CallEnd& end) const;
  Verdict judge(const Outcome& outcome, const CallEnd& end, Prng& prng);

  /// What has to outlive the process between two calls.
  Course course(Instant now) const;
  int calls() const { return course_.calls; }  ///< those that have ended
  /// The number of calls that came to an answer after the first that did.
  int answers_again() const { return std::max(0, course_.calls - waits_ - 1); }
  Instant due() const { return due_; }                    ///< when the next call is due
  const std::string& what() const { return what_; }       ///< what it waits for
  const Value& so_far() const { return course_.so_far; }  ///< passed to the next call

 private:
  std::string reason_of_time(const CallEnd& end) const;
  std::string reason_of_patience(const Digest& progress, Instant now);
  void schedule(const Again& again, Instant now, Prng& prng);
  std::optional<Duration> time_left(Instant now) const;

  Boxed<Resource> resource_;
  bool is_removal_ = false;
  Instant began_{};  ///< moved back by the time that former processes spent on it
  Instant called_{};
  Instant due_{};
  Instant alike_since_{};
  Course course_{};  ///< except its times; `pause` is the whole last pause
  int waits_ = 0;    ///< calls without an answer so far
  std::string what_;
};

}  // namespace fettle
