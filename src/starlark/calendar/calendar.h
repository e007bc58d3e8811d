#pragma once
/// Dates of the Gregorian calendar, without end in both directions, and Go's layouts of them.

#include <cstdint>
#include <string>
#include <string_view>

namespace fettle::starlark {

/// An instant as a clock on a wall shows it.
struct Fields {
  int64_t year = 1970;
  int month = 1, day = 1, hour = 0, minute = 0, second = 0, nanosecond = 0;
  int weekday = 0, offset = 0;  ///< Sunday is 0; seconds east of UTC
  std::string zone;             ///< an abbreviation; empty when only the offset is known
};

/// The number of days since 1970. Months and days outside their range carry.
int64_t days_of(int64_t year, int64_t month, int64_t day);
/// Sets the date that is this number of days after 1970.
void set_date(Fields& fields, int64_t day);

/// At each byte of a layout, every element is looked for.
constexpr uint64_t steps_per_layout_byte = 4;

std::string format_layout(const Fields& fields, std::string_view layout);

/// What a text said, and what tells its zone: an offset, a name, or neither.
struct ParsedTime {
  Fields fields;
  bool is_utc = false;
  bool has_offset = false;
};

/// False if the text does not have the form of the layout; then there is a problem in Go's words.
bool parse_layout(std::string_view layout, std::string_view text, ParsedTime& parsed,
                  std::string& problem);

}  // namespace fettle::starlark
