#include "base/rfc3339.h"

#include <charconv>
#include <cstdio>

#include "base/text.h"

namespace fettle {
namespace {

/// Takes digits and the separator after them off the front of a text.
class Digits {
 public:
  explicit Digits(std::string_view text) : rest_(text) {}
  int take(size_t count, std::string_view separators = {}) {
    int number = -1;
    if (rest_.size() >= count) {
      const auto read = std::from_chars(rest_.data(), rest_.data() + count, number);
      is_good_ = is_good_ && read.ec == std::errc() && read.ptr == rest_.data() + count;
    }
    is_good_ = is_good_ && number >= 0;
    rest_.remove_prefix(std::min(count, rest_.size()));
    if (separators.empty())
      return number;
    is_good_ = is_good_ && !rest_.empty() && separators.find(rest_[0]) != separators.npos;
    rest_.remove_prefix(rest_.empty() ? 0 : 1);
    return number;
  }
  /// Of `.123`, nothing else.
  Duration take_fraction() {
    Duration sum{0}, unit = 100ms;
    if (!rest_.starts_with('.'))
      return sum;
    rest_.remove_prefix(1);
    is_good_ = is_good_ && !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9';
    for (; !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9'; rest_.remove_prefix(1)) {
      sum += unit * (rest_[0] - '0');
      unit /= 10;
    }
    return sum;
  }
  std::string_view rest() const { return rest_; }
  bool is_good() const { return is_good_; }

 private:
  std::string_view rest_;
  bool is_good_ = true;
};

std::string written(Time time, bool is_precise) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const auto inside = std::chrono::duration_cast<std::chrono::microseconds>(time - day).count();
  std::array<char, 64> text{};
  const int length = std::snprintf(
      text.data(), text.size(),
      is_precise ? "%04d-%02u-%02uT%02d:%02d:%02d.%06d" : "%04d-%02u-%02uT%02d:%02d:%02d",
      static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
      static_cast<unsigned>(date.day()), static_cast<int>(inside / 3'600'000'000),
      static_cast<int>(inside / 60'000'000 % 60), static_cast<int>(inside / 1'000'000 % 60),
      static_cast<int>(inside % 1'000'000));
  return std::string(text.data(), static_cast<size_t>(length)) + "Z";
}

}  // namespace

Result<Time> read_moment(std::string_view text) {
  const auto wrong = [&] {
    return world_error(
        cat("`", printable(clipped(text, 60)), "` is no time such as `2026-11-21T07:30:42Z`"));
  };
  Digits digits(text);
  const int year = digits.take(4, "-"), month = digits.take(2, "-"), day = digits.take(2, "Tt ");
  const int hour = digits.take(2, ":"), minute = digits.take(2, ":"), second = digits.take(2);
  const Duration fraction = digits.take_fraction();
  const std::string_view zone = digits.rest();
  Duration offset{0};
  if (zone != "Z" && zone != "z") {
    if (zone.size() != 6 || (zone[0] != '+' && zone[0] != '-'))
      return wrong();
    Digits rest(zone.substr(1));
    const int hours = rest.take(2, ":"), minutes = rest.take(2);
    if (!rest.is_good() || hours > 23 || minutes > 59)
      return wrong();
    offset = (hours * 1h + minutes * 1min) * (zone[0] == '-' ? -1 : 1);
  }
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  // Years beyond these have no place in nanoseconds.
  if (!digits.is_good() || !date.ok() || hour > 23 || minute > 59 || second > 60 || year < 1678 ||
      year > 2261)
    return wrong();
  return Time(std::chrono::sys_days(date)) + hour * 1h + minute * 1min + second * 1s + fraction -
         offset;
}

std::string write_moment(Time time) { return written(time, false); }
std::string write_precise_moment(Time time) { return written(time, true); }

}  // namespace fettle
