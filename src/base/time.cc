#include "base/time.h"

#include <array>
#include <cstdio>
#include <ctime>
#include <limits>

#include "base/play.h"
#include "base/text.h"

namespace fettle {
namespace {

struct Unit {
  std::string_view name;
  int64_t nanoseconds;
};
constexpr std::array units{
    Unit{"ns", 1},
    Unit{"us", 1'000},
    Unit{"\xC2\xB5s", 1'000},
    Unit{"\xCE\xBCs", 1'000},
    Unit{"ms", 1'000'000},
    Unit{"s", 1'000'000'000},
    Unit{"m", 60'000'000'000},
    Unit{"h", 3'600'000'000'000},
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// `1500` and 1000 give `1.5`: trailing zeros and a bare point are left out.
std::string decimal(int64_t count, int64_t one) {
  std::string text = std::to_string(count / one);
  std::string fraction = std::to_string(one + count % one).substr(1);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return fraction.empty() ? text : text + "." + fraction;
}

Error bad_duration(std::string_view text) {
  return user_error(
      cat("invalid duration `", text, "`, expected something like `300ms`, `1.5s` or `2m30s`"));
}

}  // namespace

Time now_from_clock() {
  if (Play* const play = Play::current())
    return play->now().wall;
  return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

Instant instant_from_clock() {
  if (Play* const play = Play::current())
    return play->now().instant;
  return std::chrono::steady_clock::now();
}

Duration sleep_from_clocks() {
  if (Play::current() != nullptr)
    return Duration(0);
  const auto read = [](clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return Duration(std::chrono::seconds(time.tv_sec)) + Duration(time.tv_nsec);
  };
  const Duration awake = read(CLOCK_MONOTONIC);
  return read(CLOCK_BOOTTIME) - awake;
}

Moment moment_from_clocks() { return {instant_from_clock(), now_from_clock()}; }

std::string to_string(Time time) {
  const auto since = std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
  const std::time_t whole = seconds.count();
  std::tm parts{};
  gmtime_r(&whole, &parts);
  std::array<char, 64> text{};
  const size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  const std::string fraction = std::to_string(1000 + (since - seconds).count()).substr(1);
  return std::string(text.data(), length) + "." + fraction + "Z";
}

std::string to_string(Duration duration) {
  const int64_t count = duration.count();
  if (count == 0)
    return "0s";
  if (count < 0)
    return count == std::numeric_limits<int64_t>::min() ? "-2562047h47m16.854775808s"
                                                        : "-" + to_string(-duration);
  if (count < 1'000)
    return std::to_string(count) + "ns";
  if (count < 1'000'000)
    return decimal(count, 1'000) + "\xC2\xB5s";
  if (count < 1'000'000'000)
    return decimal(count, 1'000'000) + "ms";
  const int64_t minutes = count / 60'000'000'000;
  std::string text;
  if (minutes >= 60)
    text += std::to_string(minutes / 60) + "h";
  if (minutes > 0)
    text += std::to_string(minutes % 60) + "m";
  return text + decimal(count % 60'000'000'000, 1'000'000'000) + "s";
}

Result<Duration> parse_duration(std::string_view text) {
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (rest.starts_with('-') || rest.starts_with('+'))
    rest.remove_prefix(1);
  if (rest == "0")
    return Duration(0);
  if (rest.empty())
    return bad_duration(text);
  // As in Go, whole numbers are exact, and digits of a fraction beyond the unit are cut off.
  constexpr uint64_t most = uint64_t{1} << 63;
  uint64_t total = 0;
  while (!rest.empty()) {
    size_t digits = 0, end = 0;
    uint64_t whole = 0, fraction = 0;
    double scale = 1;
    bool is_full = false;
    for (; end < rest.size() && is_digit(rest[end]); ++end, ++digits) {
      if (whole > most / 10)
        return bad_duration(text);
      whole = whole * 10 + static_cast<uint64_t>(rest[end] - '0');
      if (whole > most)
        return bad_duration(text);
    }
    if (end < rest.size() && rest[end] == '.')
      for (++end; end < rest.size() && is_digit(rest[end]); ++end, ++digits) {
        is_full |= fraction > (most - 1) / 10;
        const uint64_t more = is_full ? 0 : fraction * 10 + static_cast<uint64_t>(rest[end] - '0');
        is_full |= more > most;
        if (is_full)
          continue;
        fraction = more;
        scale *= 10;
      }
    if (digits == 0)
      return bad_duration(text);
    rest.remove_prefix(end);
    const size_t name = std::min(rest.find_first_of("0123456789."), rest.size());
    const Unit* unit = nullptr;
    for (const Unit& candidate : units)
      if (candidate.name == rest.substr(0, name))
        unit = &candidate;
    if (unit == nullptr)
      return bad_duration(text);
    const auto nanoseconds = static_cast<uint64_t>(unit->nanoseconds);
    if (whole > most / nanoseconds)
      return bad_duration(text);
    whole *= nanoseconds;
    if (fraction > 0)
      whole += static_cast<uint64_t>(static_cast<double>(fraction) *
                                     (static_cast<double>(nanoseconds) / scale));
    if (whole > most || total > most - whole)
      return bad_duration(text);
    total += whole;
    rest.remove_prefix(name);
  }
  if (total == most && !negative)
    return bad_duration(text);
  return Duration(static_cast<int64_t>(negative ? 0 - total : total));
}

}  // namespace fettle
