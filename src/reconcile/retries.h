#pragma once
/// When an act is called again, and when it is given up.
///
/// The world is slow and fails for a while: a cluster is still being created, a port does not
/// answer yet, a registry refuses and accepts a minute later. A driver is called, looks, acts, and
/// returns; it never sleeps. So after each call, something has to decide whether there is another
/// one, and when, or whether that was the last one.
///
/// The obvious way, a loop of "try, sleep, try at most n times", is wrong four times over:
/// * Attempts are the wrong measure. Something that moves (3 of 9 nodes, 4 of 9 nodes) deserves to
///   be called for hours. Something that gives the same answer every time does not. A call
///   therefore reports its result (`Again::progress`), and *calls alike* use up patience: progress
///   restarts the count and the pauses.
/// * Neither calls nor time alone is enough. One call of an hour would use up a limit of time at
///   once, and pauses of a millisecond would soon use up a limit of calls. Patience ends when both
///   are reached.
/// * "Not ready" is not an answer. `Pending` neither uses up patience nor restores any: only a
///   deadline ends it.
/// * The process may be killed between two calls. The spent time has to outlive it, as time of
///   active runs and not as moments of a clock that is gone (`Course`).
///
/// A `Retries` belongs to one act and is told of every call. It decides alone: it knows no graph,
/// no other act and no clock, so each of its answers is a row of a table test.
///
/// Invariants:
/// * The deadline comes before patience: an act that is out of time is never called again.
/// * No call is due later than the deadline, so that the end is reported on time.
/// * An error whose outcome is unknown is never called again here: the next run looks first.
/// * The same calls at the same times give the same answers; each following call without a given
///   pause draws once from `prng`.

#include <optional>

#include "base/box.h"
#include "base/prng.h"
#include "core/driver.h"

namespace fettle {

/// The reason why a run waits for nothing once it has reached its own deadline.
inline constexpr std::string_view run_is_late = "gave up at the deadline of the run";

/// How a call has ended.
struct CallEnd {
  Instant now{};
  bool is_look = false;      ///< it only compared
  bool is_stale = false;     ///< the wish has changed since
  bool is_run_late = false;  ///< the run has reached its deadline
  bool was_stopped = false;  ///< the call took too long and was told to stop
};

/// The fate of the act.
struct Verdict {
  enum class Next { settle, call_again, give_up };
  Next next = Next::settle;
  std::string over{};            ///< the limit that has ended it, if one has
  bool is_over_time = false;     ///< that limit is a deadline, not patience
  std::optional<Again> again{};  ///< its wish for the next call, whether there is one or not
  bool is_news = false;          ///< it waits for something else than after the previous call
  /// The last result, and why the run waits for no more. Only if there is an `again`.
  std::string text() const { return (next == Next::give_up ? over + ": " : "") + again->what; }
};

class Retries {
 public:
  /// For an act that has not started.
  Retries() = default;
  /// For an act that starts, of a resource as it is wanted now. A removal has no deadline, and ends
  /// with the first successful call.
  Retries(Box<Resource> resource, bool is_removal, Instant now)
      : resource_(std::move(resource)), is_removal_(is_removal), began_(now) {}
  /// Continues where a former process stopped; it waited for `what`. Returns whether it still
  /// waits.
  bool resume(const Course& course, std::string what, Instant now);

  void call(Instant now) { called_ = now; }
  /// The time at which the call under way must be told to stop.
  std::optional<Instant> limit() const;
  /// Turns an error into an outcome, followed by another call if the resource says so.
  Outcome outcome_of(Error error, const CallEnd& end) const;
  Verdict judge(const Outcome& outcome, const CallEnd& end, Prng& prng);

  /// The state that has to outlive the process between two calls.
  Course course(Instant now) const;
  int calls() const { return course_.calls; }  ///< number of finished calls
  /// The number of calls with an answer after the first one with an answer.
  int answers_again() const { return std::max(0, course_.calls - waits_ - 1); }
  Instant due() const { return due_; }                    ///< when the next call is due
  const std::string& what() const { return what_; }       ///< what it waits for
  const Value& so_far() const { return course_.so_far; }  ///< passed to the next call

 private:
  std::string reason_of_time(const CallEnd& end) const;
  std::string reason_of_patience(const Digest& progress, Instant now);
  void schedule(const Again& again, Instant now, Prng& prng);
  std::optional<Duration> time_left(Instant now) const;

  Box<Resource> resource_;
  bool is_removal_ = false;
  Instant began_{};  ///< moved back by the time that former processes spent
  Instant called_{};
  Instant due_{};
  Instant alike_since_{};
  Course course_{};  ///< except its times; `pause` is the whole last pause
  int waits_ = 0;    ///< calls without an answer so far
  std::string what_;
};

}  // namespace fettle
