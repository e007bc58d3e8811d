#include <array>

#include "base/text.h"
#include "jq/civil.h"
#include "jq/time_names.h"

namespace fettle::jq {
namespace {

/// How a field is padded: with which character, and whether somebody asked for it.
struct Fill {
  char with = '0';
  bool is_said = false;
  bool is_off = false;
};

int64_t size_of(int64_t number) { return number < 0 ? -number : number; }

class Formatter {
 public:
  Formatter(const Civil& civil, std::string_view format) : civil_(civil), format_(format) {}

  std::string format() {
    while (at_ < format_.size()) {
      if (format_[at_] != '%') {
        made_ += format_[at_++];
        continue;
      }
      begin_ = at_++;
      fill_ = {};
      width_ = 0;
      upper_ = swap_ = false;
      directive();
    }
    return std::move(made_);
  }

 private:
  char peek() const { return at_ < format_.size() ? format_[at_] : '\0'; }
  size_t width_or(size_t least) const { return width_ == 0 ? least : width_; }
  size_t at_least(size_t least) const { return std::max(width_, least); }

  /// Reads flags and width. False: the format has ended.
  bool flags() {
    for (; at_ < format_.size(); ++at_) {
      const char c = format_[at_];
      if (c == '-')
        fill_ = {.with = '0', .is_said = true, .is_off = true};
      else if (c == '_' || c == '0')
        fill_ = {.with = c == '_' ? ' ' : '0', .is_said = true};
      else if (c == '^')
        upper_ = true;
      else if (c == '#')
        swap_ = true;
      else if (c >= '1' && c <= '9')
        read_width();
      else
        return true;
    }
    return false;
  }

  void read_width() {
    constexpr size_t most = 1'024;
    width_ = 0;
    for (; peek() >= '0' && peek() <= '9'; ++at_)
      width_ = std::min(width_ * 10 + static_cast<size_t>(peek() - '0'), most);
    if (fill_.is_off)
      fill_ = {.with = ' ', .is_said = true};
    --at_;
  }

  void directive() {
    if (!flags())
      return as_written(format_.size(), width_);
    const char c = format_[at_++];
    if (c == ':')
      return zone_with_colons();
    if (const std::string_view parts = composite(c); !parts.empty()) {
      swap_ = swap_ && std::string_view("c+vr").find(c) == std::string_view::npos;
      for (const char part : parts) {
        width_ = 0;
        fill_ = {};
        if (!field(part))
          made_ += part;
      }
      return;
    }
    if (!field(c)) {
      as_written(at_ - 1, width_ == 0 ? 0 : width_ - 1);
      made_ += c;
    }
  }

  static std::string_view composite(char c) {
    switch (c) {
      case 'c':
        return "a b e H:M:S Y";
      case '+':
        return "a b e H:M:S Z Y";
      case 'v':
        return "e-b-Y";
      case 'r':
        return "I:M:S p";
      case 'F':
        return "Y-m-d";
      case 'D':
      case 'x':
        return "m/d/y";
      case 'T':
      case 'X':
        return "H:M:S";
      case 'R':
        return "H:M";
      default:
        return {};
    }
  }

  /// Text that is no directive is not changed, from its `%` on.
  void as_written(size_t end, size_t width) {
    width_ = width;
    upper_ = swap_ = false;
    text(format_.substr(begin_, end - begin_));
  }

  void text(std::string_view given) {
    if (!fill_.is_off && width_ > given.size())
      made_.append(width_ - given.size(), fill_.is_said ? fill_.with : ' ');
    const bool is_capital = given.size() > 1 && given[1] < 'a';
    if (swap_ && is_capital)
      made_ += lower_case(given);
    else
      made_ += swap_ || upper_ ? upper_case(given) : std::string(given);
  }

  void number(int64_t given, size_t width) {
    std::string digits = std::to_string(size_of(given));
    const std::string_view sign = given < 0 ? "-" : "";
    const size_t size = digits.size() + sign.size();
    const size_t missing = fill_.is_off || size >= width ? 0 : width - size;
    if (fill_.with == '0')
      made_.append(sign).append(missing, '0').append(digits);
    else
      made_.append(missing, fill_.with).append(sign).append(digits);
  }

  void number_with_spaces(int64_t given, size_t width) {
    if (!fill_.is_said)
      fill_.with = ' ';
    number(given, width);
  }

  /// The offset of UTC.
  void zone(size_t colons) {
    std::string made = fill_.is_off ? "+0" : fill_.with == ' ' ? " +0" : "+00";
    if (colons <= 2)
      made += colons == 0 ? "00" : colons == 1 ? ":00" : ":00:00";
    const size_t missing = !fill_.is_off && width_ > made.size() ? width_ - made.size() : 0;
    made.insert(fill_.with == '0' ? 1 : 0, missing, fill_.with);
    made_ += made;
  }

  void zone_with_colons() {
    size_t colons = 1;
    for (; peek() == ':'; ++at_)
      ++colons;
    if (peek() != 'z')
      return as_written(at_, width_);
    ++at_;
    if (colons > 3)
      as_written(at_, width_);
    else
      zone(colons);
  }

  void century() {
    const int64_t century = civil_.year / 100;
    const bool is_less = civil_.year < 0 && century == 0;
    number(is_less ? -1 : century, at_least(2));
    if (is_less)
      made_.back() = '0';
  }

  bool field(char c) {
    const int64_t hour = civil_.hour % 12 == 0 ? 12 : civil_.hour % 12;
    const auto month = static_cast<size_t>(civil_.month);
    const auto weekday = static_cast<size_t>(civil_.weekday);
    switch (c) {
      case 'Y':
        return number(civil_.year, width_or(4)), true;
      case 'y':
        return number(size_of(civil_.year % 100), at_least(2)), true;
      case 'C':
        return century(), true;
      case 'G':
        return number(week_of(civil_).first, width_or(4)), true;
      case 'g':
        return number(size_of(week_of(civil_).first % 100), at_least(2)), true;
      case 'm':
        return number(civil_.month + 1, at_least(2)), true;
      case 'B':
        return text(long_months[month]), true;
      case 'b':
      case 'h':
        return text(short_months[month]), true;
      case 'A':
        return text(long_weekdays[weekday]), true;
      case 'a':
        return text(short_weekdays[weekday]), true;
      case 'w':
        return number(civil_.weekday, width_), true;
      case 'u':
        return number(civil_.weekday == 0 ? 7 : civil_.weekday, width_), true;
      case 'V':
        return number(week_of(civil_).second, at_least(2)), true;
      case 'U':
        return number((civil_.day_of_year + 6 - civil_.weekday) / 7, at_least(2)), true;
      case 'W':
        return number((civil_.day_of_year + 6 - (civil_.weekday + 6) % 7) / 7, at_least(2)), true;
      case 'd':
        return number(civil_.day, at_least(2)), true;
      case 'e':
        return number_with_spaces(civil_.day, at_least(2)), true;
      case 'j':
        return number(civil_.day_of_year, at_least(3)), true;
      case 'H':
        return number(civil_.hour, at_least(2)), true;
      case 'k':
        return number_with_spaces(civil_.hour, at_least(2)), true;
      case 'I':
        return number(hour, at_least(2)), true;
      case 'l':
        return number_with_spaces(hour, at_least(2)), true;
      case 'P':
        swap_ = !upper_ && !swap_;
        return text(civil_.hour < 12 ? "AM" : "PM"), true;
      case 'p':
        return text(civil_.hour < 12 ? "AM" : "PM"), true;
      case 'M':
        return number(civil_.minute, at_least(2)), true;
      case 'S':
        return number(civil_.second, at_least(2)), true;
      case 's':
        return number_with_spaces(moment_of(civil_).second, width_), true;
      case 'f':
        return number(civil_.nanosecond / 1'000, width_or(6)), true;
      case 'Z':
        return text("UTC"), true;
      case 'z':
        return zone(0), true;
      case 't':
        return plain("\t"), true;
      case 'n':
        return plain("\n"), true;
      case '%':
        return plain("%"), true;
      default:
        return false;
    }
  }

  void plain(std::string_view given) {
    upper_ = swap_ = false;
    text(given);
  }

  const Civil& civil_;
  std::string_view format_;
  size_t at_ = 0, begin_ = 0, width_ = 0;
  Fill fill_;
  bool upper_ = false, swap_ = false;
  std::string made_;
};

}  // namespace

std::string format_time(const Civil& civil, std::string_view format) {
  return Formatter(civil, format).format();
}

}  // namespace fettle::jq
