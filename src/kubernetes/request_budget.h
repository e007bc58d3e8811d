#pragma once
/// Who may send a request next, and when: so many a second, with a burst, the most urgent first.
///
/// A bucket of tokens alone serves whoever comes first. When a rollout of ten thousand pods has
/// filled the queue with status updates and events, the write that takes a pod out of service, or
/// back into it, waits behind them for minutes. So those who wait stand in classes, and a token goes
/// to the most urgent class; within one, to the oldest.
///
/// Pure: it knows no clock and no thread.
///
/// Invariants: in any span of t seconds at most `burst + qps * t` are admitted; nobody is admitted
/// before the end of a pause that the server asked for; a ticket is admitted once.

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

#include "base/time.h"

namespace fettle::kubernetes {

/// How urgent a request is, most urgent first. `free` never waits: watches and the lease.
enum class Urgency { availability, progress, status, events, free };
std::string_view to_string(Urgency urgency);

class RequestBudget {
 public:
  /// `qps`: 0 is without a limit.
  RequestBudget(double qps, int burst);

  using Ticket = uint64_t;
  Ticket join(Urgency urgency);
  /// Whoever does not want to wait any more.
  void leave(Ticket ticket);
  /// Admits one of those who wait, if there is a token.
  std::optional<Ticket> admit(Instant now);
  /// When there is a token for the next one. None: nobody waits.
  std::optional<Instant> due(Instant now) const;
  /// The server wants to be left alone until then.
  void pause_until(Instant then) { paused_until_ = std::max(paused_until_, then); }

 private:
  double tokens_at(Instant now) const;

  double qps_;
  double burst_;
  double tokens_;
  Instant counted_{};  ///< when `tokens_` was right
  bool has_begun_ = false;
  Instant paused_until_{};
  Ticket last_ = 0;
  std::array<std::deque<Ticket>, 4> waiting_;
};

}  // namespace fettle::kubernetes
