#pragma once
/// A moment in the calendar, in UTC or at an offset from it, computed as in Go: values beyond their
/// range are carried over.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace fettle::jq {

struct Moment {
  int64_t second = 0;  ///< since 1970
  int64_t nanosecond = 0;
};

/// The fields of a moment. Months and weekdays count from 0, Sunday is 0; days of the year from 1.
struct Civil {
  int64_t year = 1970, month = 0, day = 1, hour = 0, minute = 0, second = 0, nanosecond = 0;
  int weekday = 4, day_of_year = 1;
};

Moment moment_of(const Civil& civil, int64_t offset = 0);
Civil civil_of(const Moment& moment);
/// The year and the week of ISO 8601.
std::pair<int64_t, int> week_of(const Civil& civil);

/// Formats by the directives of `strftime`, with the widths and paddings of timefmt-go.
std::string format_time(const Civil& civil, std::string_view format);
/// Parses by the directives of `strptime`. An error says what was expected.
tl::expected<Moment, std::string> parse_time(std::string_view text, std::string_view format);

}  // namespace fettle::jq
