#pragma once
/// Time as a parameter: whatever decides is given `Time now` and never asks a clock. The clock is
/// read in `src/app` and in the loop only.

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fettle {

using Duration = std::chrono::nanoseconds;
/// Nanoseconds since 1970 in UTC.
using Time = std::chrono::time_point<std::chrono::system_clock, Duration>;

using namespace std::chrono_literals;

/// The clock. Only what acts may call this.
Time now_from_clock();

/// `2026-11-21T07:30:42.123Z`
std::string to_string(Time time);
/// As Go prints a duration: `1m30s`, `1.5s`, `250ms`, `0s`.
std::string to_string(Duration duration);
/// Go's syntax: `300ms`, `1.5h`, `2h45m`; units ns us µs ms s m h; a sign is accepted.
Result<Duration> parse_duration(std::string_view text);

}  // namespace fettle
