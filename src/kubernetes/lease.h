#pragma once
/// Who of several controllers may write: the one that holds a `Lease` object, as client-go does it,
/// so that it also works beside other people's controllers.
///
/// The obvious way compares `renewTime` with the own clock, and two clocks that differ by a minute
/// make two leaders. So nobody trusts another one's time: a holder is given up when *we* have seen
/// its record unchanged for as long as it says itself. And a process that was paused in a write goes
/// on with it when it wakes, long after another one was elected. So the holder has a time until
/// which it may write (`may_write_until`), by its own monotonic clock, counted from when the last
/// renewal was *sent*; nothing is sent after it, and a write that was sent before ends before the
/// others' time is over (`ClientSettings::permit`). That clock stands still while the machine sleeps,
/// so after a sleep nothing is sent before the next renewal.
///
/// `Election` is a pure state machine: answers and the time go in, steps come out; `Candidate` is
/// the loop around it.
///
/// Invariants: while one may write, nobody else may, if clocks run equally fast and a write takes
/// no longer than `duration - renew_deadline`; whoever sees somebody else's name in the record does
/// not write any more, whatever time is left.

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "base/prng.h"
#include "kubernetes/client.h"

namespace fettle::kubernetes {

struct LeaseSettings {
  ObjectName lease{};
  std::string identity{};         ///< unlike all others'
  Duration duration = 15s;        ///< after which others may take it
  Duration renew_deadline = 10s;  ///< after which we write no more
  Duration retry = 2s;
};

/// What to do next.
struct LeaseStep {
  enum class Kind { get, create, replace, wait, lost };
  Kind kind = Kind::get;
  Value lease{};     ///< to create, or in place of the one that is there
  Instant until{};   ///< for `wait`
  Duration limit{};  ///< of the request
};

class Election {
 public:
  Election(LeaseSettings settings, uint64_t seed) : settings_(std::move(settings)), prng_(seed) {}

  const LeaseSettings& settings() const { return settings_; }
  /// For the first time, or again after `lost`.
  LeaseStep begin(Moment now);
  /// The request of the last step was answered.
  LeaseStep take(const ApiResult<Value>& answer, Moment now);
  LeaseStep wake(Moment now);
  /// Gives it back. None: it is not ours. What comes of it does not matter.
  std::optional<LeaseStep> release(Moment now);

  /// None: somebody else may write.
  std::optional<Instant> may_write_until() const;
  bool is_leader(Instant now) const { return now < may_write_until().value_or(Instant::min()); }
  const std::string& holder() const { return holder_; }  ///< as it was last seen; empty: nobody

 private:
  LeaseStep ask(LeaseStep::Kind kind, Moment now, Value lease = {});
  LeaseStep claim(Moment now);
  LeaseStep retry(Moment now);
  void observe(const Value& lease, Instant now);
  Value written(Moment now) const;

  const LeaseSettings settings_;
  Prng prng_;
  LeaseStep::Kind asked_ = LeaseStep::Kind::get;
  Instant sent_{};
  Value lease_{};       ///< as it was last seen
  Instant observed_{};  ///< when its record was first seen as it is
  std::string holder_;
  std::optional<Instant> renewed_{};  ///< when the last renewal that succeeded was sent
  bool is_doubtful_ = true;           ///< it has to be read before it is written
};

/// Stands for election, and holds the lease while it can.
class Candidate {
 public:
  /// `slept`: how long the machine has slept in all (`sleep_from_clocks`). While it slept, our time
  /// stood still and that of the others did not.
  Candidate(Client& client, LeaseSettings settings, uint64_t seed,
            std::function<Duration()> slept = sleep_from_clocks)
      : client_(client), election_(std::move(settings), seed), slept_(std::move(slept)) {}

  /// Until a stop is asked for; gives the lease back then, once the writes of the client that are
  /// under way have ended. `changed` is called when this one became leader or is it no more.
  void run(const std::function<void(bool is_leader)>& changed, std::stop_token stop);
  /// From any thread. None: not now.
  std::optional<Instant> may_write_until() const;

 private:
  ApiResult<Value> send(const LeaseStep& step, std::stop_token stop);
  void publish();
  void give_back(LeaseStep release);

  Client& client_;
  Election election_;
  const std::function<Duration()> slept_;
  Duration slept_when_sent_{};  ///< the last request
  std::atomic<Instant> until_{Instant::min()};
  std::atomic<Duration> slept_until_{};  ///< when the renewal was sent by which `until_` is right
};

}  // namespace fettle::kubernetes
