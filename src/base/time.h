#pragma once
/// Time as a parameter: whatever decides is given the moment and never asks a clock. The clocks are
/// read in `src/app` and in the loop only.
///
/// There are two. `Time` is that of the calendar: it is told to people and stands in records, and
/// it may jump. `Instant` only goes forward: every wait and every limit is measured with it. What
/// has to outlive the process is stored as the time that is left.

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fettle {

using Duration = std::chrono::nanoseconds;
/// Nanoseconds since 1970 in UTC.
using Time = std::chrono::time_point<std::chrono::system_clock, Duration>;

/// Nanoseconds since some moment before the process began; stands still while the machine sleeps.
using Instant = std::chrono::time_point<std::chrono::steady_clock, Duration>;

struct Moment {
  Instant instant;
  Time wall;
};

using namespace std::chrono_literals;

/// How long to wait for a network or somebody else's program. 0: without a limit.
struct WaitLimits {
  Duration connect = 10s;   ///< until a connection is there
  Duration silence = 2min;  ///< without a byte in either direction while an answer is expected
  Duration whole =
      1h;  ///< of one transfer: a download, an archive, a pull, a build, a fetch by git
  Duration command{0};  ///< of one command in a service
};

/// The clocks. Only what acts may call these.
Time now_from_clock();
Instant instant_from_clock();
Moment moment_from_clocks();
/// How long the machine has slept since it was started, during which an `Instant` stood still.
Duration sleep_from_clocks();

/// `2026-11-21T07:30:42.123Z`
std::string to_string(Time time);
/// The duration as Go prints it: `1m30s`, `1.5s`, `250ms`, `0s`.
std::string to_string(Duration duration);
/// Go's syntax: `300ms`, `1.5h`, `2h45m`; units ns us µs ms s m h; a sign is accepted.
Result<Duration> parse_duration(std::string_view text);

}  // namespace fettle
