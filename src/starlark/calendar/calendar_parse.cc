/// Reads times by a layout. It accepts what Go accepts, and uses Go's words for errors.

#include <algorithm>

#include "base/text.h"
#include "starlark/calendar/calendar.h"
#include "starlark/calendar/layout.h"

namespace fettle::starlark {
namespace {

bool is_digit(std::string_view text, size_t at) {
  return at < text.size() && text[at] >= '0' && text[at] <= '9';
}

bool begins_fraction(std::string_view text) {
  return (text.starts_with('.') || text.starts_with(',')) && is_digit(text, 1);
}

/// Quotes as Go's package of times does: bytes beyond ASCII by their numbers.
std::string quoted(std::string_view text) {
  constexpr char hex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte >= 0x80 || byte < 0x20)
      out += {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
    else if (c == '"' || c == '\\')
      out += {'\\', c};
    else
      out += c;
  }
  return out + "\"";
}

int days_in(int month, int64_t year) {
  const auto first_of = [&](int64_t m) { return days_of(year, m, 1); };
  return int(first_of(month + 1) - first_of(month));
}

class Reader {
 public:
  explicit Reader(std::string_view text) : rest(text) {}

  std::string_view rest;
  std::string out_of_range;  ///< what was read but is too large or too small

  /// Text of a layout: a run of spaces stands for any number of them.
  bool skip(std::string_view wanted) {
    while (!wanted.empty()) {
      if (wanted[0] == ' ') {
        if (!rest.empty() && rest[0] != ' ')
          return false;
        wanted.remove_prefix(std::min(wanted.find_first_not_of(' '), wanted.size()));
        rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
        continue;
      }
      if (rest.empty() || rest[0] != wanted[0])
        return false;
      wanted.remove_prefix(1);
      rest.remove_prefix(1);
    }
    return true;
  }

  bool number(size_t least, size_t most, int& n) {
    size_t length = 0;
    int read = 0;
    for (; length < most && is_digit(rest, length); ++length)
      read = read * 10 + (rest[length] - '0');
    if (length < least)
      return false;
    n = read;
    rest.remove_prefix(length);
    return true;
  }
  bool number(size_t least, int& n, int from, int to, std::string_view what) {
    if (!number(least, 2, n))
      return false;
    if (n < from || n > to)
      out_of_range = what;
    return true;
  }

  template <typename Names>
  bool name(const Names& names, size_t letters, int& n) {
    for (size_t i = 0; i < names.size(); ++i) {
      const std::string_view wanted = names[i].substr(0, letters);
      if (lower_case(rest.substr(0, wanted.size())) != lower_case(wanted))
        continue;
      rest.remove_prefix(wanted.size());
      n = int(i) + 1;
      return true;
    }
    return false;
  }

  bool word(std::string_view wanted) {
    if (!rest.starts_with(wanted))
      return false;
    rest.remove_prefix(wanted.size());
    return true;
  }

  /// Reads `size` bytes: a point and digits.
  bool fraction(size_t size, int& nanosecond) {
    if (rest.size() < size || (rest[0] != '.' && rest[0] != ','))
      return false;
    int64_t n = 0;
    for (size_t i = 1; i < 10; ++i) {
      if (i < size && !is_digit(rest, i))
        return false;
      n = n * 10 + (i < size ? rest[i] - '0' : 0);
    }
    nanosecond = int(n);
    rest.remove_prefix(size);
    return true;
  }
  size_t fraction_size() const {
    size_t size = 2;
    while (is_digit(rest, size))
      ++size;
    return size;
  }
};

/// Reads `+3`, `-09`: a sign and hours below 24. Returns the length; 0: there are none.
size_t length_of_signed(std::string_view text) {
  if (!text.starts_with('+') && !text.starts_with('-'))
    return 0;
  size_t length = 1;
  int hours = 0;
  for (; is_digit(text, length); ++length)
    hours = std::min(hours * 10 + (text[length] - '0'), 1000);
  return length == 1 || hours > 23 ? 0 : length;
}

/// The length of an abbreviation of a zone. 0: there is none.
size_t length_of_zone(std::string_view text) {
  if (text.starts_with("ChST") || text.starts_with("MeST"))
    return 4;
  if (text.starts_with("GMT"))
    return 3 + length_of_signed(text.substr(3));
  if (text.size() >= 3 && length_of_signed(text) > 0)
    return length_of_signed(text);
  size_t upper = 0;
  while (upper < 6 && upper < text.size() && text[upper] >= 'A' && text[upper] <= 'Z')
    ++upper;
  if (upper == 3)
    return 3;
  const bool ends_as_zone = (upper == 4 || upper == 5) && text[upper - 1] == 'T';
  return ends_as_zone || (upper == 4 && text.starts_with("WITA")) ? upper : 0;
}

class LayoutParser {
 public:
  LayoutParser(std::string_view layout, std::string_view text)
      : layout_(layout), text_(text), in_(text) {
    time_.fields.month = time_.fields.day = -1;
    time_.fields.year = 0;
  }

  bool run(ParsedTime& parsed, std::string& problem) {
    std::string_view layout = layout_;
    for (;;) {
      const Piece piece = next_piece(layout);
      if (!in_.skip(piece.before))
        return fail(problem, piece.before, in_.rest);
      if (piece.element == Element::none)
        break;
      const std::string_view here = in_.rest;
      layout = piece.behind;
      const bool ok = read(piece.element, piece.spelled, layout);
      if (!in_.out_of_range.empty())
        return fail(problem, cat(": ", in_.out_of_range, " out of range"));
      if (!ok)
        return fail(problem, piece.spelled, here);
    }
    if (!in_.rest.empty())
      return fail(problem, cat(": extra text: ", quoted(in_.rest)));
    if (const std::string_view wrong = settle(); !wrong.empty())
      return fail(problem, wrong);
    parsed = std::move(time_);
    return true;
  }

 private:
  bool fail(std::string& problem, std::string_view element, std::string_view rest) const {
    problem = cat("parsing time ", quoted(text_), " as ", quoted(layout_), ": cannot parse ",
                  quoted(rest), " as ", quoted(element));
    return false;
  }
  bool fail(std::string& problem, std::string_view message) const {
    problem = cat("parsing time ", quoted(text_), message);
    return false;
  }

  bool read(Element element, std::string_view spelled, std::string_view behind) {
    Fields& f = time_.fields;
    int ignored = 0;
    switch (element) {
      case Element::none:
        return true;
      case Element::long_year:
        return year(4);
      case Element::short_year:
        return year(2);
      case Element::zero_month:
        return in_.number(2, f.month, 1, 12, "month");
      case Element::month:
        return in_.number(1, f.month, 1, 12, "month");
      case Element::month_name:
        return in_.name(month_names, 9, f.month);
      case Element::short_month_name:
        return in_.name(month_names, 3, f.month);
      case Element::day_name:
        return in_.name(day_names, 9, ignored);
      case Element::short_day_name:
        return in_.name(day_names, 3, ignored);
      case Element::blank_day:
        in_.word(" ");
        [[fallthrough]];
      case Element::day:
        return in_.number(1, 2, f.day);
      case Element::zero_day:
        return in_.number(2, 2, f.day);
      case Element::blank_day_of_year:
        if (in_.word(" "))
          in_.word(" ");
        return in_.number(1, 3, day_of_year_);
      case Element::zero_day_of_year:
        return in_.number(3, 3, day_of_year_);
      case Element::hour:
        return in_.number(1, f.hour, 0, 23, "hour");
      case Element::zero_hour12:
        return in_.number(2, f.hour, 0, 12, "hour");
      case Element::hour12:
        return in_.number(1, f.hour, 0, 12, "hour");
      case Element::zero_minute:
        return in_.number(2, f.minute, 0, 59, "minute");
      case Element::minute:
        return in_.number(1, f.minute, 0, 59, "minute");
      case Element::zero_second:
        return in_.number(2, f.second, 0, 59, "second") && fraction_unasked(behind);
      case Element::second:
        return in_.number(1, f.second, 0, 59, "second") && fraction_unasked(behind);
      case Element::upper_noon:
        return noon("AM", "PM");
      case Element::lower_noon:
        return noon("am", "pm");
      case Element::zone_name:
        return zone_name();
      case Element::offset:
        return offset(spelled);
      case Element::fraction:
        if (spelled[1] == '0')
          return in_.fraction(spelled.size(), f.nanosecond);
        return !begins_fraction(in_.rest) || in_.fraction(in_.fraction_size(), f.nanosecond);
    }
    return false;
  }

  bool year(size_t digits) {
    int n = 0;
    // Go reads a sign where two digits are wanted.
    const bool has_sign = digits == 2 && in_.rest.size() >= 2 && is_digit(in_.rest, 1) &&
                          (in_.rest[0] == '-' || in_.rest[0] == '+');
    const bool negative = has_sign && in_.rest[0] == '-';
    if (has_sign)
      in_.rest.remove_prefix(1);
    if (!in_.number(has_sign ? 1 : digits, has_sign ? 1 : digits, n))
      return false;
    n = negative ? -n : n;
    time_.fields.year = digits == 4 ? n : n + (n >= 69 ? 1900 : 2000);
    return true;
  }

  /// Reads a fraction of seconds that the layout does not have.
  bool fraction_unasked(std::string_view behind) {
    if (!in_.out_of_range.empty() || !begins_fraction(in_.rest) ||
        next_piece(behind).element == Element::fraction)
      return true;
    return in_.fraction(in_.fraction_size(), time_.fields.nanosecond);
  }

  bool noon(std::string_view before, std::string_view after) {
    if (in_.word(before)) {
      is_am_ = true;
      return true;
    }
    const bool is_pm = in_.word(after);
    is_pm_ |= is_pm;
    return is_pm;
  }

  bool zone_name() {
    if (in_.word("UTC")) {
      time_.is_utc = true;
      return true;
    }
    const size_t length = length_of_zone(in_.rest);
    time_.fields.zone = in_.rest.substr(0, length);
    in_.rest.remove_prefix(length);
    return length > 0;
  }

  bool offset(std::string_view spelled) {
    const bool colon = spelled.find(':') != std::string_view::npos;
    const size_t digits = spelled.size() - 1 - size_t(std::ranges::count(spelled, ':'));
    if (spelled[0] == 'Z' && digits < 6 && in_.word("Z")) {
      time_.is_utc = true;
      return true;
    }
    if (in_.rest.size() < spelled.size())
      return false;
    const char sign = in_.rest[0];
    in_.rest.remove_prefix(1);
    int parts[3] = {};
    constexpr std::string_view names[] = {"hour", "minute", "second"};
    constexpr int most[] = {24, 60, 60};
    for (size_t i = 0; i < digits / 2; ++i) {
      if ((i > 0 && colon && !in_.word(":")) || !in_.number(2, 2, parts[i]))
        return false;
    }
    for (size_t i = 0; i < 3; ++i) {
      if (parts[i] > most[i])
        in_.out_of_range = cat("time zone offset ", names[i]);
    }
    const int seconds = parts[0] * 3600 + parts[1] * 60 + parts[2];
    time_.fields.offset = sign == '-' ? -seconds : seconds;
    time_.has_offset = true;
    return sign == '+' || sign == '-';
  }

  /// Completes what was read, and returns what is wrong with it.
  std::string_view settle() {
    Fields& f = time_.fields;
    if (is_pm_ && f.hour < 12)
      f.hour += 12;
    else if (is_am_ && f.hour == 12)
      f.hour = 0;
    if (day_of_year_ >= 0) {
      if (day_of_year_ < 1 || day_of_year_ > days_of(f.year + 1, 1, 1) - days_of(f.year, 1, 1))
        return ": day-of-year out of range";
      Fields date;
      set_date(date, days_of(f.year, 1, day_of_year_));
      if (f.month >= 0 && f.month != date.month)
        return ": day-of-year does not match month";
      if (f.day >= 0 && f.day != date.day)
        return ": day-of-year does not match day";
      f.month = date.month;
      f.day = date.day;
    }
    f.month = f.month < 0 ? 1 : f.month;
    f.day = f.day < 0 ? 1 : f.day;
    return f.day < 1 || f.day > days_in(f.month, f.year) ? ": day out of range" : "";
  }

  std::string_view layout_;
  std::string_view text_;
  Reader in_;
  ParsedTime time_;
  int day_of_year_ = -1;
  bool is_pm_ = false, is_am_ = false;
};

}  // namespace

bool parse_layout(std::string_view layout, std::string_view text, ParsedTime& parsed,
                  std::string& problem) {
  return LayoutParser(layout, text).run(parsed, problem);
}

}  // namespace fettle::starlark
