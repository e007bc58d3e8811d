#include "jq/civil.h"

#include <algorithm>
#include <limits>

namespace fettle::jq {
namespace {

constexpr int64_t seconds_of_day = 86'400;

/// Holds results of fields of 64 bits, however large they are.
__extension__ using Wide = __int128;

template <typename Number>
Number floor_divided(Number a, Number b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

/// Days from 1970 to the first of March of a year. With years that begin in March, leap days are at
/// the end.
Wide days_before_march(Wide year) {
  return 365 * year + floor_divided<Wide>(year, 4) - floor_divided<Wide>(year, 100) +
         floor_divided<Wide>(year, 400) - 719'468;
}

/// Days from the first of March to the first of a month that counts from March.
int64_t days_from_march(int64_t month) { return (153 * month + 2) / 5; }

Wide days_of(Wide year, int64_t month) {
  year += floor_divided<int64_t>(month, 12);
  month -= 12 * floor_divided<int64_t>(month, 12);
  const int64_t from_march = (month + 10) % 12;
  return days_before_march(from_march >= 10 ? year - 1 : year) + days_from_march(from_march);
}

}  // namespace

Moment moment_of(const Civil& civil, int64_t offset) {
  constexpr int64_t billion = 1'000'000'000;
  const int64_t carried = floor_divided<int64_t>(civil.nanosecond, billion);
  const Wide days = days_of(civil.year, civil.month) + civil.day - 1;
  const Wide seconds = days * seconds_of_day + Wide(civil.hour) * 3'600 + Wide(civil.minute) * 60 +
                       civil.second + carried - offset;
  return {static_cast<int64_t>(std::clamp<Wide>(seconds, std::numeric_limits<int64_t>::min(),
                                                std::numeric_limits<int64_t>::max())),
          civil.nanosecond - carried * billion};
}

Civil civil_of(const Moment& moment) {
  const int64_t days = floor_divided<int64_t>(moment.second, seconds_of_day);
  const int64_t rest = moment.second - days * seconds_of_day;
  // The year by its first of March, from a guess that is at most one too large.
  auto year = static_cast<int64_t>(floor_divided<Wide>((days + Wide(719'468)) * 400, 146'097)) + 1;
  while (days_before_march(year) > days)
    --year;
  const auto from_march = static_cast<int64_t>(days - days_before_march(year));
  const int64_t month = (5 * from_march + 2) / 153;
  Civil civil;
  civil.month = (month + 2) % 12;
  civil.year = month >= 10 ? year + 1 : year;
  civil.day = from_march - days_from_march(month) + 1;
  civil.hour = rest / 3'600;
  civil.minute = rest / 60 % 60;
  civil.second = rest % 60;
  civil.nanosecond = moment.nanosecond;
  civil.weekday = static_cast<int>(((days + 4) % 7 + 7) % 7);
  civil.day_of_year = static_cast<int>(days - days_of(civil.year, 0)) + 1;
  return civil;
}

std::pair<int64_t, int> week_of(const Civil& civil) {
  // A week belongs to the year of its Thursday.
  const Moment moment = moment_of(civil);
  const int64_t from_monday = (civil.weekday + 6) % 7;
  const Civil thursday = civil_of({moment.second + (3 - from_monday) * seconds_of_day, 0});
  return {thursday.year, (thursday.day_of_year - 1) / 7 + 1};
}

}  // namespace fettle::jq
