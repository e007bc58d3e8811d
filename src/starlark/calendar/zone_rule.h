#pragma once
/// The rule of a time zone for all years to come: the last line of its file, in the form of POSIX.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fettle::starlark {

struct ZoneChange {
  long long from;  ///< seconds since 1970
  int offset;      ///< seconds east of UTC
  std::string abbreviation;
};

/// Two changes a year for 400 years from `year` on, if the rule has summer time; otherwise none.
std::vector<ZoneChange> changes_of_rule(std::string_view rule, int64_t year);

}  // namespace fettle::starlark
