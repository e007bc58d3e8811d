#include "base/text.h"
#include "jq/civil.h"
#include "jq/text_form.h"
#include "jq/time_names.h"

namespace fettle::jq {
namespace {

std::string quoted(std::string_view text) {
  std::string made;
  append_quoted(made, text);
  return made;
}

class TimeParser {
 public:
  TimeParser(std::string_view text, std::string_view format) : text_(text), format_(format) {}

  tl::expected<Moment, std::string> parse() {
    for (size_t i = 0; i < format_.size() && why_.empty(); ++i) {
      if (format_[i] != '%')
        literal(format_[i]);
      else if (++i == format_.size())
        fail("stray \"%\"");
      else if (format_[i] == ':')
        i = zone_with_colons(i);
      else
        directive(format_[i]);
    }
    if (why_.empty() && at_ < text_.size())
      fail(cat("unparsed string ", quoted(text_.substr(at_))));
    const Moment moment = why_.empty() ? made() : Moment();
    if (!why_.empty())
      return tl::unexpected(
          cat("failed to parse ", quoted(text_), " with ", quoted(format_), ": ", why_));
    return moment;
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool is_end() const { return at_ >= text_.size(); }
  void fail(std::string why) {
    if (why_.empty())
      why_ = std::move(why);
  }
  void cannot(char directive) { fail(cat("cannot parse \"%", directive, "\"")); }
  void literal(char c) {
    if (is_end() || peek() != c)
      fail(cat("expected '", c, "'"));
    else
      ++at_;
  }

  /// Reads at most this many digits. None: there are none, or the number is out of its range.
  std::optional<int64_t> digits(size_t most, int64_t smallest, int64_t largest) {
    int64_t value = 0;
    const size_t begin = at_;
    for (; at_ < begin + most && peek() >= '0' && peek() <= '9'; ++at_)
      value = value * 10 + (peek() - '0');
    return at_ == begin || value < smallest || value > largest ? std::nullopt
                                                               : std::optional(value);
  }
  void number(int64_t& into, size_t most, int64_t smallest, int64_t largest, char directive) {
    if (const auto value = digits(most, smallest, largest))
      into = *value;
    else
      cannot(directive);
  }
  template <size_t count>
  std::optional<int64_t> name(const std::array<std::string_view, count>& names) {
    for (size_t i = 0; i < count; ++i)
      if (lower_case(text_.substr(at_, names[i].size())) == lower_case(names[i])) {
        at_ += names[i].size();
        return static_cast<int64_t>(i);
      }
    return std::nullopt;
  }
  template <size_t count>
  void named(int64_t& into, const std::array<std::string_view, count>& names, char directive) {
    if (const auto place = name(names))
      into = *place;
    else
      cannot(directive);
  }
  int64_t sign() {
    if (peek() != '-')
      return 1;
    ++at_;
    return -1;
  }

  void directive(char c) {
    static constexpr std::pair<char, std::string_view> composites[] = {
        {'c', "a b e H:M:S Y"}, {'+', "a b e H:M:S Z Y"},
        {'v', "e-b-Y"},         {'r', "I:M:S p"},
        {'F', "Y-m-d"},         {'D', "m/d/y"},
        {'x', "m/d/y"},         {'T', "H:M:S"},
        {'X', "H:M:S"},         {'R', "H:M"}};
    for (const auto& [name, parts] : composites)
      if (name == c) {
        for (size_t i = 0; i < parts.size() && why_.empty(); ++i)
          if (!field(parts[i]))
            literal(parts[i]);
        return;
      }
    if (!field(c))
      fail(cat("unexpected format \"%", c, "\""));
  }

  bool field(char c) {
    switch (c) {
      case 'G':
      case 'Y': {
        has_iso_year_ |= c == 'G';
        const int64_t factor = sign();
        number(civil_.year, 4, 0, 9'999, c);
        civil_.year *= factor;
        return true;
      }
      case 'g':
      case 'y':
        has_iso_year_ |= c == 'g';
        number(civil_.year, 2, 0, 99, c);
        civil_.year += civil_.year < 69 ? 2'000 : 1'900;
        return true;
      case 'C':
        if (sign() < 0)
          fail("negative century is not supported for \"%C\"");
        return number(century_, 2, 0, 99, c), true;
      case 'm':
        number(civil_.month, 2, 1, 12, c);
        return --civil_.month, true;
      case 'B':
        return named(civil_.month, long_months, c), true;
      case 'b':
      case 'h':
        return named(civil_.month, short_months, c), true;
      case 'A':
        return named(weekday_, long_weekdays, c), true;
      case 'a':
        return named(weekday_, short_weekdays, c), true;
      case 'w':
        return number(weekday_, 1, 0, 6, c), true;
      case 'u':
        number(weekday_, 1, 1, 7, c);
        return weekday_ %= 7, true;
      case 'V':
        return week_from(4, 1, c), true;
      case 'U':
        return week_from(0, 0, c), true;
      case 'W':
        return week_from(1, 0, c), true;
      case 'e':
      case 'd':
        skip_space(c == 'e');
        return number(civil_.day, 2, 1, 31, c), true;
      case 'j':
        return number(day_of_year_, 3, 1, 366, c), true;
      case 'k':
      case 'H':
        skip_space(c == 'k');
        return number(civil_.hour, 2, 0, 23, c), true;
      case 'l':
      case 'I':
        skip_space(c == 'l');
        number(civil_.hour, 2, 1, 12, c);
        return civil_.hour %= 12, true;
      case 'P':
      case 'p': {
        int64_t half = 0;
        named(half, std::array<std::string_view, 2>{"AM", "PM"}, c);
        return is_afternoon_ = half == 1, true;
      }
      case 'M':
        return number(civil_.minute, 2, 0, 59, c), true;
      case 'S':
        return number(civil_.second, 2, 0, 60, c), true;
      case 's':
        return seconds(), true;
      case 'f':
        return fraction(), true;
      case 'Z':
        return zone_name(), true;
      case 'z':
        return zone(0), true;
      case 't':
      case 'n':
        return spaces(c), true;
      case '%':
        return literal(c), true;
      default:
        return false;
    }
  }

  void skip_space(bool may) {
    if (may && peek() == ' ')
      ++at_;
  }

  /// `first`: the day from which weeks are counted. Without a day of the week, the day is a Monday,
  /// or the Sunday with which the week begins.
  void week_from(int first, int64_t smallest, char directive) {
    number(week_, 2, smallest, 53, directive);
    first_ = first;
    if (weekday_ < 0)
      weekday_ = first == 0 ? 0 : 1;
  }

  void seconds() {
    const int64_t factor = sign();
    if (const auto value = digits(19, 0, std::numeric_limits<int64_t>::max())) {
      const int64_t nanosecond = civil_.nanosecond;
      civil_ = civil_of({factor * *value, 0});
      civil_.nanosecond = nanosecond;
    } else {
      cannot('s');
    }
  }

  void fraction() {
    const size_t begin = at_;
    int64_t value = 0;
    number(value, 6, 0, 999'999, 'f');
    for (size_t i = at_ - begin; i < 6; ++i)
      value *= 10;
    civil_.nanosecond = value * 1'000;
  }

  void spaces(char directive) {
    const size_t begin = at_;
    at_ = std::min(text_.find_first_not_of(" \t\n\v\f\r", at_), text_.size());
    if (at_ == begin)
      fail(cat("expected a space for \"%", directive, "\""));
  }

  /// Any abbreviation that Go takes for a zone means UTC.
  void zone_name() {
    const size_t begin = at_;
    at_ = std::min(text_.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ", at_), text_.size());
    const std::string_view name = text_.substr(begin, at_ - begin);
    const bool is_known = name.size() == 3 ||
                          (name.size() == 4 && (name[3] == 'T' || name == "WITA")) ||
                          (name.size() == 5 && name[4] == 'T');
    if (!is_known)
      fail(cat("cannot parse ", quoted(name), " with \"%Z\""));
  }

  /// Reads what stands behind `%:`. Returns where it ends in the format.
  size_t zone_with_colons(size_t at) {
    int colons = 0;
    for (; at < format_.size() && format_[at] == ':' && colons < 3; ++at)
      ++colons;
    if (at < format_.size() && format_[at] == 'z')
      zone(colons);
    else
      fail(cat("expected 'z' after \"%", std::string(static_cast<size_t>(colons), ':'), "\""));
    return at;
  }

  std::string zone_text(int colons) const {
    return cat("\"%", std::string(static_cast<size_t>(colons), ':'), "z\"");
  }

  std::optional<int64_t> two_digits(int64_t largest) {
    const size_t begin = at_;
    const auto value = digits(2, 0, largest);
    if (value && at_ == begin + 2)
      return value;
    at_ = begin;
    return std::nullopt;
  }

  /// Reads `Z`, or an offset of hours, perhaps with minutes and seconds. Without colons in the
  /// format, the text may have them, or minutes may follow at once; three colons mean that zero
  /// parts are left out.
  void zone(int colons) {
    if (peek() == 'Z') {
      ++at_;
      offset_ = 0;
      return;
    }
    if (peek() != '+' && peek() != '-')
      return fail(cat("cannot parse ", zone_text(colons)));
    const int64_t factor = text_[at_++] == '-' ? -1 : 1;
    const std::optional<int64_t> hours = two_digits(23);
    if (!hours)
      return fail(cat("cannot parse ", zone_text(colons)));
    const bool has_colon = peek() == ':';
    if (!has_colon && (colons == 1 || colons == 2))
      return fail(cat("expected ':' for ", zone_text(colons)));
    at_ += has_colon ? 1 : 0;
    const std::optional<int64_t> minutes = two_digits(59);
    if (!minutes && (colons == 1 || colons == 2))
      return fail(cat("cannot parse ", zone_text(colons)));
    const bool may_have_seconds = colons > 1 || (colons == 0 && has_colon);
    std::optional<int64_t> seconds;
    if (minutes && may_have_seconds) {
      if (peek() == ':') {
        ++at_;
        seconds = two_digits(59);
        if (!seconds && colons == 2)
          return fail(cat("cannot parse ", zone_text(colons)));
        at_ -= seconds ? 0 : 1;
      } else if (colons == 2) {
        return fail(cat("expected ':' for ", zone_text(colons)));
      }
    }
    offset_ = factor * ((*hours * 60 + minutes.value_or(0)) * 60 + seconds.value_or(0));
  }

  Moment made() {
    if (is_afternoon_)
      civil_.hour += 12;
    if (century_ >= 0)
      civil_.year = century_ * 100 + civil_.year % 100;
    if (civil_.day == 0 && day_of_year_ > 0) {
      if (has_iso_year_)
        fail("use \"%Y\" to parse non-ISO year for \"%j\"");
      civil_.month = 0;
      civil_.day = day_of_year_;
    } else if (civil_.day == 0 && first_ >= 0) {
      return by_week();
    }
    civil_.day = std::max<int64_t>(civil_.day, 1);
    return moment_of(civil_, offset_);
  }

  Moment by_week() {
    constexpr int thursday = 4;
    if (first_ == thursday && !has_iso_year_)
      fail("use \"%G\" to parse ISO year for \"%V\"");
    if (first_ != thursday && has_iso_year_)
      fail("use \"%Y\" to parse non-ISO year for \"%U\" or \"%W\"");
    // The Sunday that begins the week of the day from which weeks are counted.
    if (first_ > 0 && weekday_ == 0)
      ++week_;
    civil_.month = 0;
    civil_.day = -first_;
    const Civil before = civil_of(moment_of(civil_));
    civil_.day += week_ * 7 - before.weekday + weekday_;
    return moment_of(civil_, offset_);
  }

  std::string_view text_, format_;
  size_t at_ = 0;
  std::string why_;
  Civil civil_{.year = 1900, .month = 0, .day = 0};
  int64_t century_ = -1, week_ = 0, weekday_ = -1, day_of_year_ = 0, offset_ = 0;
  int first_ = -1;
  bool has_iso_year_ = false, is_afternoon_ = false;
};

}  // namespace

tl::expected<Moment, std::string> parse_time(std::string_view text, std::string_view format) {
  return TimeParser(text, format).parse();
}

}  // namespace fettle::jq
