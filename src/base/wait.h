#pragma once
/// Waiting that ends at once when a stop is asked for: for descriptors, and for time to pass.

#include <span>
#include <stop_token>

#include <poll.h>

#include "base/file.h"
#include "base/result.h"
#include "base/time.h"

namespace fettle {

/// Means without a limit.
constexpr Duration for_ever{-1};

/// Waits for descriptors again and again; one thread uses it at a time.
class Poller {
 public:
  explicit Poller(std::stop_token stop);
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  /// Fills `revents`; how many are ready, 0 when the limit is over before. Errors: a stop was asked
  /// for (`is_cancelled`), the system refuses.
  Result<int> wait(std::span<pollfd> waited, Duration limit);

 private:
  void wake();
  std::stop_token stop_;
  Descriptor bell_;  ///< readable when a stop was asked for
  std::stop_callback<std::function<void()>> on_stop_;
};

/// Waits for one descriptor. False when the limit is over before.
Result<bool> await_descriptor(int descriptor, short events, Duration limit,
                              const std::stop_token& stop);

/// Lets time pass. Error: a stop was asked for (`is_cancelled`).
Status pause_for(Duration duration, const std::stop_token& stop);

/// The time that is left of a limit that began then, at least 0. A limit of 0 gives `for_ever`.
Duration left_of(Duration limit, std::chrono::steady_clock::time_point began);

}  // namespace fettle
